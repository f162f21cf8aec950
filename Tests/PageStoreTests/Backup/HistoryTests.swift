import Foundation
import TestSupport
import Testing

@testable import PageStore

/// A copy and a store must share the commits up to the copy's: files restored from earlier ones
/// give the same numbers to other commits.
@Suite struct HistoryTests {
    private func open(_ files: any FileSystem, _ path: String = "store") throws -> Engine {
        try Engine.open(path: path, options: .small, files: files)
    }

    /// Sets the value of a random key, so that two commits of the same number differ.
    private func change(
        _ engine: Engine, _ random: inout SeededRandom, _ durability: Durability = .durable
    ) throws {
        let transaction = try engine.beginWrite()
        let tree: TreeID
        if let root = transaction.catalogRoot {
            tree = TreeID(root: root)
        } else {
            tree = try transaction.createTree()
            transaction.catalogRoot = tree.root
        }
        try transaction.insert(
            [UInt8(random.below(100))].span, random.bytes(100).span, into: tree)
        _ = try transaction.commit(durability)
    }

    private func content(_ files: any FileSystem, _ path: String) throws -> [[UInt8]: [UInt8]] {
        var options = Engine.Options.small
        options.mode = .reading
        let reader = try Engine.open(path: path, options: options, files: files)
        defer { try? reader.close() }
        return try reader.catalogEntries()
    }

    @Test func `a power cut loses no commit that a backup contains`() throws {
        var random = SeededRandom(for: "HistoryTests power cut")
        let files = FaultyFileSystem()
        let copies = MemoryFileSystem()
        let engine = try open(files)
        try change(engine, &random)
        for _ in 0..<4 { try change(engine, &random, .relaxed) }
        try engine.copy(to: "copy", files: copies)
        let copied = try content(copies, "copy")
        let survivor = try open(files.powerCut())
        #expect(try survivor.catalogEntries() == copied)
        for _ in 0..<4 { try change(survivor, &random, .relaxed) }
        try survivor.updateCopy(at: "copy", files: copies)
        #expect(try content(copies, "copy") == survivor.catalogEntries())
        // The second time with a backup that has been updated.
        try change(survivor, &random, .relaxed)
        try survivor.updateCopy(at: "copy", files: copies)
        #expect(try content(copies, "copy") == survivor.catalogEntries())
    }

    @Test func `a copy with commits that the store lost is refused and stays what it is`() throws {
        var random = SeededRandom(for: "HistoryTests lost")
        let files = FaultyFileSystem()
        let copies = MemoryFileSystem()
        let engine = try open(files)
        for _ in 0..<5 { try change(engine, &random) }
        let earlier = files.bytes
        for _ in 0..<2 { try change(engine, &random) }
        try engine.copy(to: "copy", files: copies)
        let before = try copies.bytes(of: "copy")
        let restored = try open(FaultyFileSystem(bytes: earlier))
        for _ in 0..<4 { try change(restored, &random) }
        let error = #expect(throws: StoreError.self) {
            try restored.updateCopy(at: "copy", files: copies)
        }
        #expect(error?.code == .historyDiffers)
        #expect(error?.message.contains("that the store has lost") == true)
        #expect(try copies.bytes(of: "copy") == before)
    }

    /// Nil if the copy can be updated.
    private func refusal(
        of engine: Engine, _ path: String, _ copies: any FileSystem
    ) -> StoreError.Code? {
        do throws(StoreError) {
            try engine.updateCopy(at: path, files: copies)
            return nil
        } catch {
            return error.code
        }
    }

    /// Files are saved and restored at random. A copy may be updated exactly if the store's past
    /// contains the copy's commit.
    @Test(arguments: 0..<6)
    func `a copy is brought up to date where the store holds its commit`(_ part: Int) throws {
        var random = SeededRandom(for: "HistoryTests random \(part)")
        let copies = MemoryFileSystem()
        var files = FaultyFileSystem()
        var engine = try open(files)
        // The identity of each commit of the store.
        var past: [Int] = []
        var nextIdentity = 0
        var saved: [(bytes: [UInt8], past: [Int])] = []
        var pastOfCopy: [String: [Int]] = [:]
        var (updateCount, refusalCount) = (0, 0)
        for round in 0..<150 {
            switch random.below(12) {
            case 0:
                saved.append((files.bytes, past))
            case 1 where !saved.isEmpty:
                let back = saved[random.below(saved.count)]
                files = FaultyFileSystem(bytes: back.bytes)
                engine = try open(files)
                past = back.past
            case 2:
                try engine.close()
                engine = try open(files)
            case 3:
                try engine.checkpointNow()
            case 4 where pastOfCopy.count < 8:
                let name = "copy \(round)"
                try engine.copy(to: name, files: copies)
                pastOfCopy[name] = past
            case 5, 6:
                guard let name = pastOfCopy.keys.sorted().randomElement(using: &random),
                    let known = pastOfCopy[name]
                else { continue }
                let code = refusal(of: engine, name, copies)
                #expect(
                    code == (past.starts(with: known) ? nil : .historyDiffers),
                    "round \(round), seed \(random.seed)")
                if code == nil {
                    #expect(try content(copies, name) == engine.catalogEntries(), "round \(round)")
                    pastOfCopy[name] = past
                    updateCount += 1
                } else {
                    refusalCount += 1
                }
            default:
                try change(engine, &random)
                past.append(nextIdentity)
                nextIdentity += 1
            }
        }
        #expect(updateCount + refusalCount > 0, "seed \(random.seed)")
    }

    @Test func `a copy older than the sessions that a superblock lists is refused`() throws {
        var random = SeededRandom(for: "HistoryTests sessions")
        let files = MemoryFileSystem()
        var engine = try open(files)
        try change(engine, &random)
        try engine.copy(to: "old")
        for session in 0..<Limits.sessionCountMax + 5 {
            try engine.close()
            engine = try open(files)
            try change(engine, &random)
            if session == 10 { try engine.copy(to: "newer") }
        }
        #expect(engine.superblock.history.sessions.count == Limits.sessionCountMax)
        let error = #expect(throws: StoreError.self) { try engine.updateCopy(at: "old") }
        #expect(error?.code == .historyDiffers)
        #expect(error?.message.contains("too often") == true)
        try engine.updateCopy(at: "newer")
        #expect(try content(files, "newer") == engine.catalogEntries())
    }

    @Test func `openings that commit nothing use up no session`() throws {
        var random = SeededRandom(for: "HistoryTests empty sessions")
        let files = MemoryFileSystem()
        var engine = try open(files)
        try change(engine, &random)
        try engine.copy(to: "copy")
        for _ in 0..<Limits.sessionCountMax + 20 {
            try engine.close()
            engine = try open(files)
            try engine.beginWrite().rollback()
        }
        #expect(engine.superblock.history.sessions.count == 2)
        try change(engine, &random)
        try engine.updateCopy(at: "copy")
        #expect(try content(files, "copy") == engine.catalogEntries())
    }

    /// The bytes were only in the system's cache when the process ended.
    @Test func `a backup makes durable what a process that ended had written`() throws {
        var random = SeededRandom(for: "HistoryTests left")
        let files = FaultyFileSystem()
        let copies = MemoryFileSystem()
        let first = try open(files)
        try change(first, &random)
        for _ in 0..<4 { try change(first, &random, .relaxed) }
        files.fault = .init(calls: [.durableWrite, .sync], goesOn: true)
        #expect(throws: StoreError.self) { try first.close() }
        files.fault = nil
        let second = try open(files)
        try second.copy(to: "copy", files: copies)
        let survivor = try open(files.powerCut())
        #expect(try content(copies, "copy") == survivor.catalogEntries())
    }

    @Test func `a reader that cannot make its file durable makes no backup`() throws {
        var random = SeededRandom(for: "HistoryTests reader")
        let files = FaultyFileSystem()
        let copies = MemoryFileSystem()
        let engine = try open(files)
        try change(engine, &random)
        try engine.close()
        var options = Engine.Options.small
        options.mode = .reading
        let reader = try Engine.open(path: "store", options: options, files: files)
        files.fault = .init(calls: [.sync], goesOn: true)
        let error = #expect(throws: StoreError.self) {
            try reader.copy(to: "copy", files: copies)
        }
        #expect(error?.code == .io)
        #expect(try copies.identity("copy") == nil)
        files.fault = nil
        try reader.copy(to: "copy", files: copies)
        #expect(try content(copies, "copy") == reader.catalogEntries())
    }

    @Test func `closing on a full disk makes relaxed commits durable`() throws {
        var random = SeededRandom(for: "HistoryTests full")
        let files = FaultyFileSystem()
        let engine = try open(files)
        try change(engine, &random)
        for _ in 0..<4 { try change(engine, &random, .relaxed) }
        let expected = try engine.catalogEntries()
        files.fault = .init(calls: [.write, .truncate], code: .diskFull, goesOn: true)
        let error = #expect(throws: StoreError.self) { try engine.close() }
        #expect(error?.code == .diskFull)
        #expect(try content(files.powerCut(), "store") == expected)
    }

    @Test func `two backups to one path end as one file or with a reason`() async throws {
        let folder = URL.temporaryDirectory.appending(path: "trellis-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var random = SeededRandom(for: "HistoryTests beside")
        let engine = try open(DiskFileSystem.shared, folder + "/store")
        for _ in 0..<30 { try change(engine, &random) }
        let expected = try engine.catalogEntries()
        for round in 0..<20 {
            let path = folder + "/copy \(round)"
            let outcomes = await withTaskGroup(of: StoreError.Code?.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        do throws(StoreError) {
                            try engine.copy(to: path)
                            return nil
                        } catch {
                            return error.code
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == nil } == 1, "\(outcomes)")
            for code in outcomes.compactMap(\.self) {
                #expect([.alreadyOpen, .lockedByOther, .invalidArgument].contains(code))
            }
            #expect(try content(DiskFileSystem.shared, path) == expected)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!names.contains { $0.hasSuffix(".part") })
        }
    }

    @Test func `a backup replaces the unfinished one of a process that ended`() throws {
        let files = MemoryFileSystem()
        var random = SeededRandom(for: "HistoryTests unfinished")
        let engine = try open(files)
        for _ in 0..<5 { try change(engine, &random) }
        // It has pages, and no commit yet.
        let unfinished = "copy.\(engine.uuid).part"
        let left = try OpenFile(unfinished, .create, in: files)
        _ = try Creation.create(
            path: unfinished, options: engine.options, files: files, left, uuid: engine.uuid)
        let end = try left.file.size()
        try random.bytes(50_000).withView { bytes throws(StoreError) in
            try left.file.write(bytes, at: end)
        }
        left.close()
        try engine.copy(to: "copy")
        #expect(try content(files, "copy") == engine.catalogEntries())
        #expect(try files.identity(unfinished) == nil)
    }

    /// A bug: the name of an unfinished copy was one that an earlier backup can have, and that one
    /// was emptied.
    @Test func `no earlier backup has the name of an unfinished one`() throws {
        let files = MemoryFileSystem()
        var random = SeededRandom(for: "HistoryTests own name")
        let engine = try open(files)
        for _ in 0..<5 { try change(engine, &random) }
        let expected = try engine.catalogEntries()
        for name in ["daily.part", "daily.new"] { try engine.copy(to: name) }
        try engine.copy(to: "daily")
        try engine.close()
        var options = Engine.Options()
        options.mode = .reading
        // What a backup has left may be all that there is: copied to its own name, it would go.
        let unfinished = "weekly.\(engine.uuid).part"
        let left = try OpenFile(unfinished, .create, in: files)
        try files.bytes(of: "daily").withView { bytes throws(StoreError) in
            try left.file.write(bytes, at: 0)
        }
        left.close()
        let source = try Engine.open(path: unfinished, options: options, files: files)
        let error = #expect(throws: StoreError.self) { try source.copy(to: "weekly") }
        #expect(error?.code == .invalidArgument)
        try source.copy(to: "other")
        try source.close()
        for name in ["daily.part", "daily.new", "daily", unfinished, "other"] {
            #expect(try content(files, name) == expected)
        }
    }

    @Test func `generations that are used up refuse writing and leave a file that opens`() throws {
        var random = SeededRandom(for: "HistoryTests numbers")
        let files = FaultyFileSystem()
        let engine = try open(files)
        for _ in 0..<3 { try change(engine, &random) }
        let expected = try engine.catalogEntries()
        try engine.close()
        var bytes = files.bytes
        let size = SuperblockLayout.size
        for slot in 0..<2 {
            let range = slot * size..<(slot + 1) * size
            var superblock = try Array(bytes[range]).withView { view throws(StoreError) in
                try Superblock.decode(view, slot: slot)
            }
            let isNewest = superblock.generation == engine.superblock.generation
            // Generations of the two slots differ in parity: an even number less the slot's parity,
            // and two less in the other slot.
            superblock.generation = Limits.numberMax - (isNewest ? 4 : 6) + UInt64(slot)
            let encoded = superblock.encoded()
            bytes.replaceSubrange(range, with: encoded.view.array())
            withExtendedLifetime(encoded) {}
        }
        files.bytes = bytes
        let reopened = try open(files)
        let error = #expect(throws: StoreError.self) { try change(reopened, &random) }
        #expect(error?.code == .tooLarge)
        #expect(throws: StoreError.self) { try reopened.vacuum(byteBudget: 1 << 20) }
        try? reopened.close()
        #expect(files.bytes == bytes)
        #expect(try content(files, "store") == expected)
    }
}
