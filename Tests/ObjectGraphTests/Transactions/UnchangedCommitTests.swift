import Dispatch
import Foundation
import ObjectGraph
import TestSupport
import Testing

/// Durable transactions that change nothing after commits that nothing has waited for.
@Suite struct UnchangedCommitTests {
    private let queue = DispatchQueue(label: "view")

    private func stack(_ files: FaultyFileSystem) throws -> DataStack {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("same.trellis")
        try stack.addStorageAndWait(LocalStore(fileURL: url, files: files))
        return stack
    }

    private func create(in stack: DataStack, _ durability: Durability) throws {
        try stack.perform(
            synchronous: { transaction in
                transaction.create(Into<Person>()).email = "\(UUID())"
            }, durability: durability)
    }

    private func count(_ files: FaultyFileSystem) throws -> Int {
        let stack = try stack(files)
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        return try queue.sync { try stack.fetchCount(From<Person>()) }
    }

    private static let durabilities: [Durability] = [
        .durable, .grouped(maxDelay: .milliseconds(1)), .bulk,
    ]

    @Test(arguments: durabilities)
    func `a power cut took what a durable transaction had found`(durability: Durability) throws {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        try create(in: stack, .durable)
        try create(in: stack, .relaxed)
        let found = try stack.perform(
            synchronous: { transaction in try transaction.fetchCount(From<Person>()) },
            durability: durability)
        #expect(found == 2)
        #expect(try count(files.powerCut()) == 2)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a power cut took what a transaction had found that undid its change`() throws {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        try create(in: stack, .durable)
        try create(in: stack, .relaxed)
        try stack.perform(synchronous: { transaction in
            transaction.delete(transaction.create(Into<Person>()))
        })
        #expect(try count(files.powerCut()) == 2)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a power cut took what an unsafe transaction without changes had found`() throws {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        try create(in: stack, .durable)
        try create(in: stack, .relaxed)
        let transaction = stack.beginUnsafe()
        transaction.delete(transaction.create(Into<Person>()))
        try transaction.commitAndWait()
        #expect(try count(files.powerCut()) == 2)
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// A bug: it asked the closed storage to make its commits durable.
    @Test func `an unsafe transaction without changes ends after its storage was removed`() throws {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        try create(in: stack, .relaxed)
        let transaction = stack.beginUnsafe()
        transaction.delete(transaction.create(Into<Person>()))
        stack.unsafeRemoveAllPersistentStoresAndWait()
        try transaction.commitAndWait()
        #expect(try count(files.powerCut()) == 1)
    }

    @Test func `a relaxed transaction without changes waits for nothing`() throws {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        try create(in: stack, .durable)
        try create(in: stack, .relaxed)
        files.fault = .init(calls: [.durableWrite, .sync], goesOn: true)
        let found = try stack.perform(
            synchronous: { transaction in try transaction.fetchCount(From<Person>()) },
            durability: .relaxed)
        #expect(found == 2)
        files.fault = nil
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    @Test func `a durable transaction reports commits that it could not make durable`() throws {
        let files = FaultyFileSystem()
        let stack = try stack(files)
        try create(in: stack, .durable)
        try create(in: stack, .relaxed)
        files.fault = .init(calls: [.durableWrite, .sync], goesOn: true)
        let error = #expect(throws: CoreStoreError.self) {
            _ = try stack.perform(synchronous: { transaction in
                try transaction.fetchCount(From<Person>())
            })
        }
        #expect(error?.storeError?.code == .commitUncertain, "\(String(describing: error))")
        files.fault = nil
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// A stack with a storage for each of two configurations of one class.
    private func stack(_ one: FaultyFileSystem, _ two: FaultyFileSystem) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [Entity<Plaque>("Plaque"): ["One", "Two"]]),
            viewContext: .queue(queue))
        for (name, files) in [("One", one), ("Two", two)] {
            let url = FileManager.default.temporaryDirectory
                .appendingPathComponent("\(name).trellis")
            try stack.addStorageAndWait(
                LocalStore(fileURL: url, files: files, configuration: name))
        }
        return stack
    }

    private static func mark(
        _ name: String, in stack: DataStack, _ durability: Durability
    ) throws {
        try stack.perform(
            synchronous: { transaction in
                transaction.create(Into<Plaque>(name)).text = name
            }, durability: durability)
    }

    @Test func `a power cut took what a transaction had found in another storage`() throws {
        let one = FaultyFileSystem()
        let two = FaultyFileSystem()
        let stack = try stack(one, two)
        try Self.mark("One", in: stack, .durable)
        try Self.mark("One", in: stack, .relaxed)
        try stack.perform(synchronous: { transaction in
            let found = try transaction.fetchCount(From<Plaque>("One"))
            transaction.create(Into<Plaque>("Two")).text = "\(found)"
        })
        let later = try self.stack(one.powerCut(), two.powerCut())
        let (found, noted) = try queue.sync {
            (
                try later.fetchCount(From<Plaque>("One")),
                try later.fetchOne(From<Plaque>("Two"))?.text
            )
        }
        #expect(noted == "\(found)")
        #expect(found == 2)
        for stack in [stack, later] { stack.unsafeRemoveAllPersistentStoresAndWait() }
    }

    @Test func `a storage was written although what it goes back to was not secured`() throws {
        let one = FaultyFileSystem()
        let two = FaultyFileSystem()
        let stack = try stack(one, two)
        try Self.mark("One", in: stack, .durable)
        try Self.mark("One", in: stack, .relaxed)
        one.fault = .init(calls: [.durableWrite, .sync], goesOn: true)
        let error = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                let found = try transaction.fetchCount(From<Plaque>("One"))
                transaction.create(Into<Plaque>("Two")).text = "\(found)"
            })
        }
        #expect(error?.storeError?.code == .commitUncertain, "\(String(describing: error))")
        #expect(error?.partialCommit == nil)
        let count = try queue.sync { try stack.fetchCount(From<Plaque>("Two")) }
        #expect(count == 0)
        one.fault = nil
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }
}

private final class Plaque: CoreStoreObject {
    @Field.Stored("text") var text: String = ""
}
