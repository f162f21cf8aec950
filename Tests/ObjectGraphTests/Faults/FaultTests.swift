import Dispatch
import Foundation
import ObjectGraph
import PageStore
import TestSupport
import Testing

/// Faults of the medium as seen by a program.
@Suite struct FaultTests {
    private let queue = DispatchQueue(label: "view")
    /// Bytes that do not compress.
    private static let noise: [UInt8] = {
        var random = SeededRandom(seed: 1)
        return random.bytes(20_000)
    }()

    private func stack(_ files: FaultyFileSystem) throws -> DataStack {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("faulty.trellis")
        try stack.addStorageAndWait(LocalStore(fileURL: url, files: files))
        return stack
    }

    private func create(_ count: Int, in stack: DataStack) throws(CoreStoreError) {
        try stack.perform(synchronous: { transaction in
            for number in 0..<count {
                let person = transaction.create(Into<Person>())
                person.email = "\(UUID())"
                person.photo = Data(Self.noise + [UInt8(truncatingIfNeeded: number)])
            }
        })
    }

    private func count(in stack: DataStack) throws -> Int {
        try queue.sync { try stack.fetchCount(From<Person>()) }
    }

    @Test(arguments: [1, 2])
    func `a full disk fails the transaction and leaves the store usable`(call: Int) throws {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        try create(3, in: stack)
        #expect(try count(in: stack) == 3)
        for _ in 0..<3 {
            files.fault = .init(
                at: call, calls: [.write, .truncate], code: .diskFull, goesOn: true)
            let error = #expect(throws: CoreStoreError.self) { try create(200, in: stack) }
            #expect(error?.storeError?.code == .diskFull, "\(String(describing: error))")
            #expect(error?.storeError?.path?.hasSuffix("faulty.trellis") == true)
            #expect(try count(in: stack) == 3)
            files.fault = nil
        }
        try create(4, in: stack)
        #expect(try count(in: stack) == 7)
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let again = try self.stack(files)
        #expect(try count(in: again) == 7)
        try create(200, in: again)
        #expect(try count(in: again) == 207)
        again.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// A bug: the error said that object 0 is not in the store.
    @Test func `a fetch after an object that could not be created throws the disk's error`() throws
    {
        let files = FaultyFileSystem()
        var stack = try stack(files)
        try create(3, in: stack)
        try stack.close()
        stack = try self.stack(files)
        files.fault = .init(calls: [.write, .truncate, .sync], code: .tooLarge, goesOn: true)
        defer { files.fault = nil }
        let transaction = stack.beginUnsafe()
        let person = transaction.create(Into<Person>())
        person.email = "new"
        let error = #expect(throws: CoreStoreError.self) {
            _ = try transaction.fetchCount(From<Person>())
        }
        #expect(error?.storeError?.code == .tooLarge, "\(String(describing: error))")
    }

    @Test func `an error that a program ignores still fails its transaction`() throws {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        try create(3, in: stack)
        let error = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                let photo = Data((0..<60).flatMap { _ in Self.noise })
                for number in 0..<12 {
                    let person = transaction.create(Into<Person>())
                    person.email = "\(number)"
                    person.photo = photo
                    files.fault = .init(calls: [.write, .truncate], code: .diskFull, goesOn: true)
                    _ = try? transaction.fetchCount(From<Person>())
                    files.fault = nil
                }
            })
        }
        #expect(error?.storeError?.code == .diskFull)
        #expect(try count(in: stack) == 3)
        try create(1, in: stack)
        #expect(try count(in: stack) == 4)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `after a failed write the store is read and must be opened anew`() throws {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        try create(3, in: stack)
        files.fault = .init(calls: [.durableWrite, .sync], code: .io, goesOn: true)
        let error = #expect(throws: CoreStoreError.self) { try create(1, in: stack) }
        #expect(error?.storeError?.code == .commitUncertain)
        files.fault = nil
        let next = #expect(throws: CoreStoreError.self) { try create(1, in: stack) }
        #expect(next?.storeError?.code == .poisoned)
        #expect(try count(in: stack) == 3)
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let again = try self.stack(files.powerCut())
        #expect(try count(in: again) == 3)
        try create(1, in: again)
        #expect(try count(in: again) == 4)
        again.unsafeRemoveAllPersistentStoresAndWait()
    }
}
