import Foundation
import ObjectGraph
import Testing

/// Statements and awaited imports in code that knows a class by its protocol alone.
@MainActor @Suite struct GenericStatementTests {
    private nonisolated static func clear<O: DynamicObject>(
        _ type: O.Type, _ clause: any DeleteClause, in transaction: BaseDataTransaction
    ) throws -> [Int] {
        [
            try transaction.deleteAll(From<O>(), clause),
            try transaction.deleteAll(From<O>(), [clause]),
            try transaction.deleteAll(From<O>().where(Where<O>("number == 2"))),
        ]
    }

    private nonisolated static func assign<O: DynamicObject>(
        _ assignments: [Assignment<O>], _ clauses: [any DeleteClause],
        in transaction: BaseDataTransaction
    ) throws -> [Int] {
        [
            try transaction.update(From<O>(), clauses, set: assignments),
            try transaction.update(From<O>().where(Where<O>("number > 1")), set: assignments),
        ]
    }

    @Test func `generic code deletes and updates what a condition finds`() throws {
        let dataStack = try Harbour.dataStack()

        try dataStack.perform(synchronous: { transaction in
            let updated = try Self.assign(
                [.sum(\Sailor.$age, 10), .value(\.$gender, nil)], [Where<Sailor>(\.$number < 3)],
                in: transaction)
            #expect(updated == [2, 2])
        })
        let sailors = try dataStack.fetchAll(From<Sailor>().orderBy(.ascending(\.$number)))
        #expect(sailors.map(\.age) == [52, 42, 70])
        #expect(sailors.map(\.gender) == [nil, nil, nil])
        try dataStack.perform(synchronous: { transaction in
            let deleted = try Self.clear(
                Sailor.self, Where<Sailor>(\.$number == 1), in: transaction)
            #expect(deleted == [1, 0, 1])
        })
        #expect(try dataStack.fetchAll(From<Sailor>()).map(\.number) == [3])
    }

    @Test func `an unsafe transaction runs generic statements`() throws {
        let dataStack = try Harbour.dataStack()
        let transaction = dataStack.beginUnsafe()

        #expect(
            try Self.assign(
                [.value(\Sailor.$name, "A")], [Where<Sailor>(\.$number == 3)], in: transaction)
                == [1, 2])
        #expect(
            try Self.clear(Sailor.self, Where<Sailor>(\.$number == 1), in: transaction)
                == [1, 0, 1])
        try transaction.commitAndWait()

        #expect(try dataStack.fetchAll(From<Sailor>()).map(\.name) == ["A"])
    }

    private func load<O: ImportableObject>(
        _ type: O.Type, _ source: O.ImportSource, _ dataStack: DataStack
    ) async throws -> O? {
        nonisolated(unsafe) let source = source
        guard let made = try await dataStack.async.importObject(Into<O>(), source: source) else {
            return nil
        }
        nonisolated(unsafe) let object = made
        return try await dataStack.async.importObject(object, source: source)
    }

    private func merge<O: ImportableUniqueObject>(
        _ type: O.Type, _ sources: [O.ImportSource], _ dataStack: DataStack
    ) async throws -> [O] {
        nonisolated(unsafe) let sources = sources
        let one = try await dataStack.async.importUniqueObject(Into<O>(), source: sources[0])
        let all = try await dataStack.async.importUniqueObjects(Into<O>(), sourceArray: sources)
        #expect(one != nil && all.first == one)
        return try await dataStack.async.importUniqueObjects(
            Into<O>(), sourceArray: sources, preProcess: { $0 })
    }

    @Test func `generic code awaits imports`() async throws {
        let dataStack = DataStack(Harbour.schema())
        try dataStack.addStorageAndWait(InMemoryStore())

        let line = try await load(LogLine.self, ["text": "a"], dataStack)
        #expect(line?.text == "a")
        #expect(try await load(LogLine.self, ["none": 0], dataStack) == nil)
        let sailors = try await merge(
            Sailor.self, [["id": 1, "name": "Ann"], ["id": 2, "name": "Ben"]], dataStack)
        #expect(sailors.map(\.name) == ["Ann", "Ben"])
        #expect(try dataStack.fetchCount(From<Sailor>()) == 2)
    }

    private nonisolated static func read<O: ImportableObject, U: ImportableUniqueObject>(
        _ plain: O.Type, _ unique: U.Type, _ file: URL, in transaction: BaseDataTransaction
    ) throws -> [Int] where O.ImportSource == [String: Any], U.ImportSource == [String: Any] {
        [
            try transaction.importObjects(Into<O>(), file: file, format: .json),
            try transaction.importUniqueObjects(Into<U>(), file: file, format: .json),
        ]
    }

    @Test func `generic code imports files`() throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(#"[{"id": 1, "name": "Ann", "text": "a"}, {"id": 2, "name": "Ben"}]"#.utf8)
            .write(to: url)
        let dataStack = DataStack(Harbour.schema())
        try dataStack.addStorageAndWait(InMemoryStore())

        try dataStack.perform(synchronous: { transaction in
            let counts = try Self.read(LogLine.self, Sailor.self, url, in: transaction)
            #expect(counts == [1, 2])
        })
        #expect(try dataStack.fetchCount(From<Sailor>()) == 2)
    }
}
