import TestSupport
import Testing

@testable import ObjectGraph

/// Tells how many steps the view has been given when a step comes.
private final class PositionProbe: StepSubscriber {
    let needsChanges = false
    private let viewSteps: ViewSteps
    private let positions: AsyncStream<UInt64>.Continuation

    init(_ viewSteps: ViewSteps, _ positions: AsyncStream<UInt64>.Continuation) {
        (self.viewSteps, self.positions) = (viewSteps, positions)
    }

    func receive(_ step: CommitStep) { positions.yield(viewSteps.position) }
}

/// A stack that reads another stack's commits: to the system they are like two processes.
@Suite(.timeLimit(.minutes(hangMinutes))) struct ExternalCommitTests {
    private let queue = DispatchQueue(label: "view")

    private func stack(_ url: URL, isReadOnly: Bool = false) throws -> DataStack {
        var options = EngineOptions()
        options.isReadOnly = isReadOnly
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url, engineOptions: options))
        return stack
    }

    private func add(_ stack: DataStack, _ names: String...) throws {
        try stack.perform(synchronous: { transaction in
            for name in names { transaction.create(Into<Dog>()).nickname = name }
        })
    }

    private func names(_ stack: DataStack) throws -> [String] {
        try queue.sync { try stack.fetchAll(From<Dog>()).compactMap(\.nickname).sorted() }
    }

    @Test func `a stack for reading opens beside its writer and follows it`() async throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = try stack(url)
        try add(writer, "a")
        let reader = try stack(url, isReadOnly: true)
        var commits = reader.externalCommits.makeAsyncIterator()
        #expect(try names(reader) == ["a"])
        try add(writer, "b")
        let commit = try await commits.next()
        #expect(commit?.storage is LocalStore)
        #expect(commit?.commitNumber == writer.statistics.commitNumber)
        #expect(try names(reader) == ["a", "b"])
        try writer.checkpoint()
        try add(writer, "c")
        // The checkpoint, and the transaction that reserves numbers after it, have commits too.
        let last = writer.statistics.commitNumber
        while let commit = try await commits.next(), commit.commitNumber < last {}
        #expect(try names(reader) == ["a", "b", "c"])
        #expect(throws: CoreStoreError.self) { try add(reader, "d") }
    }

    /// A bug: a sequence that was begun before the view was first used could have a commit before
    /// the view was given it.
    @Test func `the view gets commits before all that subscribed earlier`() async throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = try stack(url)
        let reader = try stack(url, isReadOnly: true)
        let (positions, continuation) = AsyncStream<UInt64>.makeStream()
        let probe = PositionProbe(reader.viewSteps, continuation)
        reader.steps.subscribe(probe)
        #expect(try names(reader) == [])
        try add(writer, "a")
        var next = positions.makeAsyncIterator()
        #expect(await next.next() == 1)
    }

    @Test func `an object of a view for reading gets the values of another process`() async throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = try stack(url)
        try add(writer, "old", "gone")
        let reader = try stack(url, isReadOnly: true)
        let dogs = try queue.sync {
            try reader.fetchAll(From<Dog>().orderBy(.ascending(\.$nickname)))
        }
        var commits = reader.externalCommits.makeAsyncIterator()
        try writer.perform(synchronous: { transaction in
            let old = try transaction.fetchOne(From<Dog>().where(\.$nickname == "old"))
            old?.nickname = "new"
            try transaction.deleteAll(From<Dog>().where(\.$nickname == "gone"))
        })
        _ = try await commits.next()
        let (gone, old) = (dogs[0], dogs[1])
        queue.sync {
            #expect(old.nickname == "new")
            #expect(reader.fetchExisting(gone) == nil)
        }
    }

    /// A bug: the commit could be announced before the lists had it, and a program that waited for
    /// it found the old list.
    @Test func `a list shows a commit that was awaited`() async throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = try stack(url)
        try add(writer, "a")
        let reader = try stack(url, isReadOnly: true)
        let monitor = queue.sync {
            reader.monitorList(From<Dog>().orderBy(.ascending(\.$nickname)))
        }
        var commits = reader.externalCommits.makeAsyncIterator()
        for name in ["b", "c", "d"] {
            // The observing queue is busy for a while.
            reader.viewSteps.compute(later: { usleep(50_000) })
            try add(writer, name)
            let last = writer.statistics.commitNumber
            while let commit = try await commits.next(), commit.commitNumber < last {}
            queue.sync {
                #expect(monitor.objectsInAllSections().last?.nickname == name)
            }
        }
    }

    @Test func `a read-only view releases old space after a checkpoint without commits`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = try stack(url)
        try add(writer, "a")
        let reader = try stack(url, isReadOnly: true)
        #expect(try names(reader) == ["a"])
        let first = reader.statistics.generation
        var oldest: UInt64 = first
        while oldest == first {
            // The checkpoint stores the same state again, and reads which readers hold pages.
            try writer.checkpoint()
            oldest = writer.statistics.oldestReaderGeneration ?? .max
            Thread.sleep(forTimeInterval: 0.02)
        }
        #expect(try names(reader) == ["a"])
        #expect(reader.statistics.commitNumber == writer.statistics.commitNumber)
    }

    @Test func `indexes that another process builds end the following`() async throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try add(stack(url), "a")
        let reader = try stack(url, isReadOnly: true)
        #expect(try names(reader) == ["a"])
        var commits = reader.externalCommits.makeAsyncIterator()
        let schema = CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<Animal>("Animal"), Entity<Dog>("Dog", indexes: [[\.$nickname]]),
                Entity<Person>("Person", uniqueConstraints: [[\.$email]]), Entity<Toy>("Toy"),
                Entity<Debt>("Debt"),
            ])
        let other = DataStack(schema, viewContext: .queue(queue))
        try other.addStorageAndWait(LocalStore(fileURL: url))
        let error = await #expect(throws: CoreStoreError.self) { _ = try await commits.next() }
        #expect(error?.storeError?.code == .schemaMismatch)
        // A bug: a sequence that was begun later waited for ever.
        var later = reader.externalCommits.makeAsyncIterator()
        let same = await #expect(throws: CoreStoreError.self) { _ = try await later.next() }
        #expect(same?.storeError?.code == .schemaMismatch)
        // It still shows the earlier content.
        #expect(try names(reader) == ["a"])
    }

    @Test func `a list stays as it is when another process changes the schema`() async throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try add(stack(url), "a")
        let reader = try stack(url, isReadOnly: true)
        let (monitor, publisher) = queue.sync {
            let chain = From<Dog>().orderBy(.ascending(\.$nickname))
            return (reader.monitorList(chain), reader.publishList(chain))
        }
        let before = queue.sync { publisher.snapshot }
        var commits = reader.externalCommits.makeAsyncIterator()
        let schema = CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<Animal>("Animal"), Entity<Dog>("Dog", indexes: [[\.$nickname]]),
                Entity<Person>("Person", uniqueConstraints: [[\.$email]]), Entity<Toy>("Toy"),
                Entity<Debt>("Debt"),
            ])
        let other = DataStack(schema, viewContext: .queue(queue))
        try other.addStorageAndWait(LocalStore(fileURL: url))
        try add(other, "b")
        let error = await #expect(throws: CoreStoreError.self) {
            while try await commits.next() != nil {}
        }
        #expect(error?.storeError?.code == .schemaMismatch)
        queue.sync {
            #expect(monitor.objectsInAllSections().map(\.nickname) == ["a"])
            #expect(publisher.snapshot == before)
        }
    }

    @Test func `the sequence ends with its stack`() async throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        try add(stack(url), "a")
        var reader: DataStack? = try stack(url, isReadOnly: true)
        var commits = try #require(reader?.externalCommits).makeAsyncIterator()
        reader?.unsafeRemoveAllPersistentStoresAndWait()
        reader = nil
        #expect(try await commits.next() == nil)
    }

    @Test func `a file that is written can be opened for reading in the same program`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let writer = try stack(url)
        try add(writer, "a")
        #expect(try names(stack(url, isReadOnly: true)) == ["a"])
    }
}
