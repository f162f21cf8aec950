import Foundation
import TestSupport
import Testing

@testable import PageStore

/// Copies of a store, and vacuum.
@Suite struct CopyTests {
    private func fill(
        _ engine: Engine, _ tree: TreeID, _ random: inout SeededRandom, count: Int
    ) throws -> [[UInt8]: [UInt8]] {
        var model: [[UInt8]: [UInt8]] = [:]
        let transaction = try engine.beginWrite()
        for _ in 0..<count {
            let key = random.bytes(12)
            let value = random.bytes(random.below(300))
            model[key] = value
            try transaction.insert(key.span, value.span, into: tree)
        }
        let large = random.bytes(300_000)
        model[[1]] = large
        try transaction.insert([UInt8]([1]).span, large.span, into: tree)
        _ = try transaction.commit()
        return model
    }

    private func compare(_ engine: Engine, _ tree: TreeID, _ model: [[UInt8]: [UInt8]]) throws {
        let snapshot = try engine.snapshot()
        let cursor = Cursor(snapshot, tree: tree)
        var count = 0
        var isMore = try cursor.seekFirst()
        while isMore {
            #expect(try cursor.value().array() == model[cursor.key.array()])
            count += 1
            isMore = try cursor.next()
        }
        #expect(count == model.count)
        #expect(StoreCheck.run(snapshot, knownTrees: [tree]) == [])
    }

    private func makeTree(_ engine: Engine) throws -> TreeID {
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        transaction.catalogRoot = tree.root
        _ = try transaction.commit()
        return tree
    }

    @Test func `a copy holds one commit and is shorter while transactions go on`() throws {
        let files = MemoryFileSystem()
        var random = SeededRandom(for: "CopyTests")
        let engine = try Engine.open(path: "store", files: files)
        let tree = try makeTree(engine)
        var model = try fill(engine, tree, &random, count: 6000)
        let transaction = try engine.beginWrite()
        for key in model.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }).prefix(4000) {
            try transaction.remove(key.span, from: tree)
            model[key] = nil
        }
        _ = try transaction.commit()
        let done = DispatchSemaphore(value: 0)
        let writing = DispatchSemaphore(value: 0)
        let tail = Array("behind the copy".utf8)
        DispatchQueue.global().async {
            for number in 0..<200 {
                guard let later = try? engine.beginWrite() else { break }
                _ = try? later.insert([255, UInt8(number)].span, tail.span, into: tree)
                _ = try? later.commit()
                if number == 0 { writing.signal() }
            }
            done.signal()
        }
        writing.wait()
        try engine.copy(to: "copy")
        done.wait()
        let copy = try Engine.open(path: "copy", files: files)
        let copied = try copy.snapshot().commitNumber
        #expect(copied >= 4)
        for number in 0..<200 where UInt64(number) + 4 <= copied {
            model[[255, UInt8(number)]] = tail
        }
        try compare(copy, tree, model)
        #expect(copy.uuid == engine.uuid)
        #expect(copy.statistics.fileSizeInBytes < engine.statistics.fileSizeInBytes)
        // The copy is a store like any other.
        let more = try fill(copy, tree, &random, count: 50)
        try compare(copy, tree, model.merging(more) { $1 })
        #expect(try files.identity("copy.\(engine.uuid).part") == nil)
        let error = #expect(throws: StoreError.self) { try engine.copy(to: "copy") }
        #expect(error?.code == .invalidArgument)
    }

    @Test func `vacuum shortens the file and keeps every page`() throws {
        let files = FaultyFileSystem()
        var random = SeededRandom(for: "CopyTests vacuum")
        let engine = try Engine.open(path: "store", files: files)
        let tree = try makeTree(engine)
        var model = try fill(engine, tree, &random, count: 20_000)
        try engine.checkpointNow()
        let transaction = try engine.beginWrite()
        // Random keys: gaps everywhere, full pages at the end.
        for key in model.keys.shuffled(using: &random).prefix(17_000) where key != [1] {
            try transaction.remove(key.span, from: tree)
            model[key] = nil
        }
        _ = try transaction.commit()
        for _ in 0..<3 { try engine.checkpointNow() }
        let before = engine.statistics.fileSizeInBytes
        var rounds = 0
        while try engine.vacuum(byteBudget: 200_000) > 0, rounds < 100 { rounds += 1 }
        let after = engine.statistics.fileSizeInBytes
        #expect(after < before * 2 / 3, "\(before) bytes before, \(after) after")
        try compare(engine, tree, model)
        for survivor in [files.processDeath(), files.powerCut()] {
            let again = try Engine.open(path: "store", files: survivor)
            try compare(again, tree, model)
            let more = try fill(again, tree, &random, count: 100)
            try compare(again, tree, model.merging(more) { $1 })
        }
    }

    /// A bug: the gaps were still pending when pages were to move into them, and the file grew.
    @Test func `vacuum directly after a change leaves few gaps`() throws {
        let files = MemoryFileSystem()
        var random = SeededRandom(for: "CopyTests vacuum behind a change")
        let engine = try Engine.open(path: "store", files: files)
        let tree = try makeTree(engine)
        var model: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<8 {
            model.merge(try fill(engine, tree, &random, count: 3000)) { $1 }
            try engine.checkpointNow()
        }
        let before = engine.statistics.fileSizeInBytes
        var rounds = 0
        while try engine.vacuum(byteBudget: 500_000) > 0, rounds < 40 {
            rounds += 1
            #expect(engine.statistics.fileSizeInBytes <= before)
        }
        try engine.copy(to: "copy")
        let least = try files.open("copy", .readOnly).size()
        let after = engine.statistics.fileSizeInBytes
        #expect(after < least * 5 / 4, "\(before) before, \(after) after, \(least) in a copy")
        try compare(engine, tree, model)
    }

    /// Half a megabyte at least, of a file of a few: less than an eighth of it, which a checkpoint
    /// keeps for commits to come.
    @Test func `a vacuum kept a free end of less than an eighth of the file`() throws {
        let files = MemoryFileSystem()
        // With others the free end may be larger, by a segment of the log.
        var random = SeededRandom(seed: 1)
        let engine = try Engine.open(path: "store", files: files)
        let tree = try makeTree(engine)
        let keys = try fill(engine, tree, &random, count: 20_000).keys.sorted {
            $0.lexicographicallyPrecedes($1)
        }
        for _ in 0..<3 { try engine.checkpointNow() }
        while try engine.vacuum(byteBudget: 1 << 30) > 0 {}
        let full = engine.statistics.fileSizeInBytes
        let transaction = try engine.beginWrite()
        for key in keys[1000..<2600] where key != [1] {
            try transaction.remove(key.span, from: tree)
        }
        _ = try transaction.commit()
        var rounds = 0
        while try engine.vacuum(byteBudget: 1 << 30) > 0, rounds < 40 { rounds += 1 }
        let after = engine.statistics.fileSizeInBytes
        try engine.copy(to: "copy")
        let least = try files.open("copy", .readOnly).size()
        #expect(least + 384 << 10 < full && full - least < full / 8, "\(full) and \(least) bytes")
        // A copy has no room for the log.
        #expect(after < least + 288 << 10, "\(after) bytes after, \(least) in a copy")
    }

    @Test func `a backup on a disk is complete or absent`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("trellis-copy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let engine = try Engine.open(path: folder.appendingPathComponent("a").path)
        let tree = try makeTree(engine)
        var random = SeededRandom(for: "CopyTests disk")
        let model = try fill(engine, tree, &random, count: 500)
        let target = folder.appendingPathComponent("no such folder/b").path
        let error = #expect(throws: StoreError.self) { try engine.copy(to: target) }
        #expect(error?.code == .notFound)
        try engine.copy(to: folder.appendingPathComponent("b").path)
        try engine.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a", "b"])
        try compare(Engine.open(path: folder.appendingPathComponent("b").path), tree, model)
    }
}
