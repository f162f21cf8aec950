import ObjectGraph
import PageStore
import TestSupport
import Testing

/// A file that cannot be opened gives a typed error with reason and path.
@Suite struct BadInputTests {
    private func store(_ url: URL) throws {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { transaction in
            for number in 0..<500 {
                let person = transaction.create(Into<Person>())
                person.email = "\(number)@example.org"
                person.name = "Person \(number)"
            }
        })
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    private func openingError(_ url: URL) -> StoreError? {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
        do throws(CoreStoreError) {
            try stack.addStorageAndWait(LocalStore(fileURL: url))
            stack.unsafeRemoveAllPersistentStoresAndWait()
            return nil
        } catch {
            return error.storeError
        }
    }

    @Test func `a file of another format is reported as notAStore and left unchanged`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        for text in ["x", String(repeating: "no store ", count: 5000)] {
            try Data(text.utf8).write(to: url)
            let error = openingError(url)
            #expect(error?.code == .notAStore)
            #expect(error?.path == url.path)
            #expect(try Data(contentsOf: url) == Data(text.utf8))
        }
    }

    /// Opening it for reading would wait for a process that writes to it.
    @Test(.timeLimit(.minutes(hangMinutes)), arguments: [true, false])
    func `a pipe is reported as notAStore`(isReadOnly: Bool) throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try #require(mkfifo(url.path, 0o600) == 0)
        let stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
        var options = EngineOptions()
        options.isReadOnly = isReadOnly
        let error = #expect(throws: CoreStoreError.self) {
            try stack.addStorageAndWait(LocalStore(fileURL: url, engineOptions: options))
        }
        #expect(error?.storeError?.code == .notAStore)
    }

    @Test func `a configuration that no entity belongs to is refused`() throws {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
        let error = #expect(throws: CoreStoreError.self) {
            try stack.addStorageAndWait(InMemoryStore(configuration: "Nowhere"))
        }
        #expect(error?.description.contains("“Nowhere”") == true)
    }

    @Test func `a truncated file is reported as truncated`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try store(url)
        let whole = try Data(contentsOf: url)
        for count in [4096, 8192, 20_000, whole.count / 2] {
            try whole.prefix(count).write(to: url)
            let error = openingError(url)
            // The older superblock may fit the rest of the file; then its log leads outside the
            // file.
            let codes: [StoreError.Code?] = [.truncated, .corrupt]
            #expect(codes.contains(error?.code), "\(count) of \(whole.count)")
            #expect(error?.byteOffset != nil)
        }
    }

    @Test func `a store opens with one damaged superblock and reports two`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try store(url)
        let whole = try Data(contentsOf: url)
        var one = whole
        one[100] ^= 1
        try one.write(to: url)
        #expect(openingError(url) == nil)
        try store(url)
        var both = whole
        both[100] ^= 1
        both[4196] ^= 1
        try both.write(to: url)
        let error = openingError(url)
        #expect(error?.code == .corrupt)
        #expect(error?.byteOffset != nil)
    }

    @Test func `a newer format and an unknown feature are refused`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try store(url)
        let whole = try Data(contentsOf: url)
        for byteOffset in [SuperblockLayout.formatVersion, SuperblockLayout.featuresIncompatible] {
            var newer = [UInt8](whole)
            for root in [0, SuperblockLayout.size] {
                newer[root + byteOffset] = 0x40
                let covered = Array(newer[root..<(root + SuperblockLayout.hash)])
                let hash = covered.withView { Checksum.hash($0, seed: 0) }
                for index in 0..<8 {
                    newer[root + SuperblockLayout.hash + index] =
                        UInt8(truncatingIfNeeded: hash >> UInt64(8 * index))
                }
            }
            try Data(newer).write(to: url)
            let error = openingError(url)
            #expect(error?.code == .newerFormat)
            #expect(error?.path == url.path)
            #expect(try Data(contentsOf: url) == Data(newer))
        }
    }

    @Test func `damage in a page makes a fetch throw an error with the offset`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try store(url)
        let whole = try Data(contentsOf: url)
        let queue = DispatchQueue(label: "view")
        var failures = 0
        let isLong = ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil
        for start in stride(from: 8192, to: whole.count, by: isLong ? 1024 : 7 * 1024) {
            var damaged = whole
            for index in start..<min(start + 64, whole.count) { damaged[index] ^= 0x55 }
            try damaged.write(to: url)
            let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
            do throws(CoreStoreError) {
                try stack.addStorageAndWait(LocalStore(fileURL: url))
                let result = queue.sync { () -> CoreStoreError? in
                    do throws(CoreStoreError) {
                        let people = try stack.fetchAll(From<Person>())
                        #expect(people.count == 500)
                        return nil
                    } catch {
                        return error
                    }
                }
                if let result {
                    failures += 1
                    #expect(result.storeError?.code == .corrupt)
                    #expect(result.storeError?.byteOffset != nil)
                }
            } catch {
                failures += 1
                #expect(error.storeError?.code == .corrupt, "byte \(start)")
            }
            stack.unsafeRemoveAllPersistentStoresAndWait()
        }
        #expect(failures > 0)
    }

    @Test func `a second opening with another model names the holder of the store`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Toy2>("Plaything")]),
            viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        let error = openingError(url)
        #expect(error?.code == .alreadyOpen)
        #expect(error?.message.contains(url.path) == true)
        stack.unsafeRemoveAllPersistentStoresAndWait()
        #expect(openingError(url) == nil)
    }

    @Test func `a file of another model is refused, and recreated on request`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try store(url)
        let other = CoreStoreSchema(modelVersion: "V2", entities: [Entity<Toy2>("Toy")])
        let queue = DispatchQueue(label: "view")
        let refused = #expect(throws: CoreStoreError.self) {
            try DataStack(other, viewContext: .queue(queue))
                .addStorageAndWait(LocalStore(fileURL: url))
        }
        #expect(refused?.storeError?.code == .schemaMismatch)
        let stack = DataStack(other, viewContext: .queue(queue))
        try stack.addStorageAndWait(
            LocalStore(fileURL: url, localStorageOptions: .recreateStoreOnModelMismatch))
        let count = try queue.sync { try stack.fetchCount(From<Toy2>()) }
        #expect(count == 0)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    final class Toy2: CoreStoreObject {
        @Field.Stored("weight") var weight: Double = 0
    }

    @Test func `a folder is not taken for a store`() throws {
        let error = openingError(FileManager.default.temporaryDirectory)
        #expect(error != nil)
        #expect(error?.message.isEmpty == false)
    }
}
