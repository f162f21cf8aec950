import ObjectGraph
import PageStore
import Proof
import TestSupport
import Testing

/// Durability, checkpoints, backups, vacuum, and read-only files as a program uses them.
@Suite struct CareTests {
    private let queue = DispatchQueue(label: "view")

    private func stack(_ store: LocalStore) throws -> DataStack {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(store)
        return stack
    }

    private func add(
        _ stack: DataStack, _ names: [String], _ durability: Durability? = nil
    ) throws {
        try stack.perform(
            synchronous: { transaction in
                for name in names { transaction.create(Into<Dog>()).nickname = name }
            }, durability: durability)
    }

    private func names(_ stack: DataStack) throws -> [String] {
        try queue.sync {
            try stack.fetchAll(From<Dog>()).compactMap(\.nickname).sorted()
        }
    }

    @Test func `commits of every durability are there after closing`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        var options = EngineOptions()
        options.durability = .relaxed
        let stack = try stack(LocalStore(fileURL: url, engineOptions: options))
        try add(stack, ["a"])
        try add(stack, ["b"], .durable)
        try add(stack, ["c"], .grouped(maxDelay: .milliseconds(1)))
        try add(stack, ["d"], .bulk)
        try add(stack, ["e"], .relaxed)
        #expect(try names(stack) == ["a", "b", "c", "d", "e"])
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let again = try self.stack(LocalStore(fileURL: url))
        #expect(try names(again) == ["a", "b", "c", "d", "e"])
    }

    /// The IDs of both would be equal, and changes of one would go to the other.
    @Test func `one stack does not open a store and its copy`() throws {
        let (url, copyURL) = (Zoo.temporaryURL(), Zoo.temporaryURL())
        defer { for url in [url, copyURL] { try? FileManager.default.removeItem(at: url) } }
        let stack = try stack(LocalStore(fileURL: url))
        try add(stack, ["a"])
        try stack.backup(to: copyURL)
        let bytes = try Data(contentsOf: copyURL)
        for isReadOnly in [true, false] {
            var options = EngineOptions()
            options.isReadOnly = isReadOnly
            let error = #expect(throws: CoreStoreError.self) {
                try stack.addStorageAndWait(LocalStore(fileURL: copyURL, engineOptions: options))
            }
            #expect(error?.storeError?.code == .alreadyOpen)
        }
        #expect(try Data(contentsOf: copyURL) == bytes)
        #expect(try names(stack) == ["a"])
        let other = try self.stack(LocalStore(fileURL: copyURL))
        #expect(try names(other) == ["a"])
    }

    @Test func `each thread's commits appear in the view in order`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try stack(LocalStore(fileURL: url))
        _ = try names(stack)
        let group = DispatchGroup()
        let failures = Failures()
        for thread in 0..<8 {
            group.enter()
            let work = Thread { [queue] in
                defer { group.leave() }
                for round in 0..<20 {
                    let name = "\(thread) \(round)"
                    do {
                        try stack.perform(synchronous: { transaction in
                            transaction.create(Into<Dog>()).nickname = name
                        })
                        let count = try queue.sync {
                            try stack.fetchCount(From<Dog>().where(\.$nickname == name))
                        }
                        if count != 1 { failures.add("\(name): \(count)") }
                    } catch {
                        failures.add("\(error)")
                    }
                }
            }
            work.start()
        }
        group.wait()
        #expect(failures.texts == [])
        #expect(try names(stack).count == 160)
    }

    @Test func `a checkpoint empties the log`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try stack(LocalStore(fileURL: url))
        try add(stack, ["a", "b"])
        #expect(stack.statistics.logBytes > 0)
        try stack.checkpoint()
        #expect(stack.statistics.logBytes == 0)
        #expect(try names(stack) == ["a", "b"])
    }

    @Test func `a backup is a store with the same objects and their IDs`() throws {
        let url = Zoo.temporaryURL()
        let copy = Zoo.temporaryURL()
        defer { for place in [url, copy] { try? FileManager.default.removeItem(at: place) } }
        let stack = try stack(LocalStore(fileURL: url))
        try add(stack, ["a", "b"])
        try stack.backup(to: copy)
        try add(stack, ["c"])
        let uri = try queue.sync {
            try stack.fetchOne(From<Dog>().where(\.$nickname == "a"))?.objectID()
                .uriRepresentation()
        }
        let error = #expect(throws: CoreStoreError.self) { try stack.backup(to: copy) }
        #expect(error?.storeError?.code == .invalidArgument)
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let restored = try self.stack(LocalStore(fileURL: copy))
        #expect(try names(restored) == ["a", "b"])
        let name: String? = try queue.sync {
            let id = try #require(uri.flatMap { restored.objectID(forURIRepresentation: $0) })
            let found: Dog? = restored.fetchExisting(id)
            return found?.nickname
        }
        #expect(name == "a")
        try add(restored, ["d"])
        #expect(try names(restored) == ["a", "b", "d"])
    }

    @Test func `an incremental backup makes the file, and then brings it up to date`() throws {
        let url = Zoo.temporaryURL()
        let copy = Zoo.temporaryURL()
        defer { for place in [url, copy] { try? FileManager.default.removeItem(at: place) } }
        let stack = try stack(LocalStore(fileURL: url))
        var options = EngineOptions()
        options.isReadOnly = true
        for (count, name) in ["a", "b", "c"].enumerated() {
            try add(stack, [name])
            try stack.backup(to: copy, isIncremental: true)
            let reader = try self.stack(LocalStore(fileURL: copy, engineOptions: options))
            #expect(try names(reader) == Array(["a", "b", "c"].prefix(count + 1)))
            reader.unsafeRemoveAllPersistentStoresAndWait()
        }
        let changed = try self.stack(LocalStore(fileURL: copy))
        try add(changed, ["d"])
        changed.unsafeRemoveAllPersistentStoresAndWait()
        let error = #expect(throws: CoreStoreError.self) {
            try stack.backup(to: copy, isIncremental: true)
        }
        #expect(error?.storeError?.code == .invalidArgument)
    }

    /// A bug: the backup looked for the copy on the machine's disk.
    @Test(arguments: [false, true])
    func `an incremental backup finds its copy through its store's file system`(
        isOnMachine: Bool
    ) throws {
        let url = Zoo.temporaryURL()
        let copy = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: copy) }
        // A file at that path on the machine's disk is not one of the store's.
        if isOnMachine { try Data("other".utf8).write(to: copy) }
        let disk = SimulatedDisk(seed: 1)
        let stack = try stack(LocalStore(fileURL: url, files: disk))
        var copies: [FileIdentity?] = []
        for name in ["a", "b"] {
            try add(stack, [name])
            try stack.backup(to: copy, isIncremental: true)
            copies.append(try disk.identity(copy.path))
        }
        #expect(copies[0] != nil)
        #expect(copies[0] == copies[1], "the backup copied the whole file again")
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let restored = try self.stack(LocalStore(fileURL: copy, files: disk))
        #expect(try names(restored) == ["a", "b"])
        restored.unsafeRemoveAllPersistentStoresAndWait()
        #expect(FileManager.default.fileExists(atPath: copy.path) == isOnMachine)
    }

    @Test func `vacuum shortens the file after a deletion`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try stack(LocalStore(fileURL: url))
        var random = SeededRandom(for: "CareTests vacuum")
        try add(
            stack,
            (0..<20_000).map { number in
                "\(number % 10) " + (0..<200).map { _ in String(random.below(10)) }.joined()
            })
        try stack.perform(synchronous: { transaction in
            _ = try transaction.deleteAll(From<Dog>().where(format: "NOT nickname BEGINSWITH '7'"))
        })
        let kept = try names(stack)
        #expect(kept.count == 2000)
        try stack.checkpoint()
        let before = stack.statistics.fileSizeInBytes
        for _ in 0..<6 {
            // The view keeps the old extents of moved pages until it moves too.
            try stack.vacuum(byteBudget: 1 << 20)
            queue.sync {}
        }
        let after = stack.statistics.fileSizeInBytes
        #expect(after < before / 2, "\(before) bytes before, \(after) after")
        #expect(try names(stack) == kept)
    }

    @Test func `a file that is only read is not written`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try stack(LocalStore(fileURL: url))
        try add(stack, ["a"])
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let content = try Data(contentsOf: url)
        var options = EngineOptions()
        options.isReadOnly = true
        let reading = try self.stack(LocalStore(fileURL: url, engineOptions: options))
        #expect(try names(reading) == ["a"])
        let error = #expect(throws: CoreStoreError.self) { try add(reading, ["b"]) }
        #expect(error?.storeError?.code == .readOnly)
        reading.unsafeRemoveAllPersistentStoresAndWait()
        #expect(try Data(contentsOf: url) == content)
        let missing = LocalStore(
            fileURL: url.appendingPathComponent("no/such/file"), engineOptions: options)
        #expect(throws: CoreStoreError.self) { try self.stack(missing) }
    }

    @Test func `the previous generation opens with the content before the checkpoint`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try stack(LocalStore(fileURL: url))
        try add(stack, ["kept"])
        try stack.checkpoint()
        try add(stack, ["mistake"])
        try stack.checkpoint()
        stack.unsafeRemoveAllPersistentStoresAndWait()
        var options = EngineOptions()
        options.opensPreviousGeneration = true
        let before = try self.stack(LocalStore(fileURL: url, engineOptions: options))
        #expect(try names(before) == ["kept"])
    }
}

private final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private(set) var texts: [String] = []
    func add(_ text: String) { lock.withLock { texts.append(text) } }
}
