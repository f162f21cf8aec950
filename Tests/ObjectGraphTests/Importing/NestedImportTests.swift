import Dispatch
import ObjectGraph
import Testing

/// Imports whose sources refer to other storages, or change the IDs of objects.
@Suite struct NestedImportTests {
    final class Binder: CoreStoreObject, ImportableUniqueObject {
        @Field.Stored("code") var code: String = ""
        @Field.Stored("text") var text: String = ""
        @Field.Relationship("sheets", inverse: \.$binder) var sheets: Set<Sheet>
        @Field.Relationship("label", inverse: \.$binders) var label: Label?

        typealias ImportSource = [String: Any]
        typealias UniqueIDType = String
        static let uniqueIDKeyPath = "code"
        class var importableRelationships: [ImportableRelationship<ImportSource>] {
            [
                ImportableRelationship(\Binder.$sheets, key: "sheets"),
                ImportableRelationship(\Binder.$label, key: "label"),
            ]
        }
        static func uniqueID(
            from source: ImportSource, in transaction: BaseDataTransaction
        ) throws -> String? { source["code"] as? String }
        func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
            text = source["text"] as? String ?? text
            code = source["newCode"] as? String ?? code
        }
    }

    final class Sheet: CoreStoreObject, ImportableObject {
        @Field.Stored("text") var text: String = ""
        @Field.Relationship("binder") var binder: Binder?

        typealias ImportSource = [String: Any]
        func didInsert(from source: ImportSource, in transaction: BaseDataTransaction) throws {
            text = source["text"] as? String ?? ""
        }
    }

    final class Label: CoreStoreObject, ImportableUniqueObject {
        @Field.Stored("code") var code: String = ""
        @Field.Stored("text") var text: String = ""
        @Field.Relationship("binders") var binders: Set<Binder>

        typealias ImportSource = [String: Any]
        typealias UniqueIDType = String
        static let uniqueIDKeyPath = "code"
        static func uniqueID(
            from source: ImportSource, in transaction: BaseDataTransaction
        ) throws -> String? { source["code"] as? String }
        func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
            text = source["text"] as? String ?? text
            code = source["newCode"] as? String ?? code
        }
    }

    private let queue = DispatchQueue(label: "view")

    /// Binders and sheets in the one storage, labels and sheets in the other.
    private func stackOfTwo() throws -> DataStack {
        let binders = Entity<Binder>("Binder", indexes: [[\.$code]])
        let labels = Entity<Label>("Label", indexes: [[\.$code]])
        let sheets = Entity<Sheet>("Sheet")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [binders: ["A"], labels: ["B"], sheets: ["A", "B"]]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore(configuration: "A"))
        try stack.addStorageAndWait(InMemoryStore(configuration: "B"))
        return stack
    }

    private func stack() throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Binder>("Binder", uniqueConstraints: [[\.$code]]),
                    Entity<Label>("Label", uniqueConstraints: [[\.$code]]),
                    Entity<Sheet>("Sheet"),
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test(arguments: [Into<Binder>(), Into<Binder>("A")])
    func `nested sources go to the storage of the enclosing source`(into: Into<Binder>) throws {
        let stack = try stackOfTwo()
        try stack.perform(synchronous: { transaction in
            _ = try transaction.importUniqueObject(
                into, source: ["code": "a", "sheets": [["text": "1"], ["text": "2"]]])
        })
        try queue.sync { () throws in
            #expect(try stack.fetchOne(From<Binder>())?.sheets.count == 2)
            #expect(try stack.fetchCount(From<Sheet>("A")) == 2)
            #expect(try stack.fetchCount(From<Sheet>("B")) == 0)
        }
    }

    @Test(arguments: [Into<Binder>(), Into<Binder>("A")])
    func `a nested source that belongs to another storage is an error`(into: Into<Binder>) throws {
        let stack = try stackOfTwo()
        let error = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.importUniqueObject(
                    into, source: ["code": "a", "label": ["code": "l"]])
            })
        }
        #expect(error?.description.contains("storage") == true, "\(error as Any)")
        try queue.sync { () throws in #expect(try stack.fetchCount(From<Binder>()) == 0) }
    }

    @Test func `an ID of another storage's object is an error`() throws {
        let stack = try stackOfTwo()
        let error = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.importUniqueObject(Into<Label>(), source: ["code": "l"])
                _ = try transaction.importUniqueObject(
                    Into<Binder>(), source: ["code": "a", "label": "l"])
            })
        }
        #expect(error?.description.contains("storage") == true, "\(error as Any)")
    }

    @Test(arguments: [false, true])
    func `a source finds the object that an earlier one of its batch renamed`(isNew: Bool) throws {
        let stack = try stack()
        if !isNew {
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Label>()).code = "a"
                transaction.create(Into<Binder>()).code = "a"
            })
        }
        let sources: [[String: Any]] = [
            ["code": "a", "newCode": "b"], ["code": "b", "text": "found"],
        ]
        try stack.perform(synchronous: { transaction in
            let labels = try transaction.importUniqueObjects(Into<Label>(), sourceArray: sources)
            #expect(labels.count == 2 && labels[0] === labels[1])
            // The ID, which is free now, is used again by a class with relationships.
            let again = sources + [["code": "a", "text": "new", "label": "b"]]
            let binders = try transaction.importUniqueObjects(Into<Binder>(), sourceArray: again)
            // Each object is returned once.
            #expect(binders.count == 2 && binders[0] !== binders[1])
        })
        try queue.sync { () throws in
            let labels = try stack.fetchAll(From<Label>())
            #expect(labels.map(\.code) == ["b"] && labels.map(\.text) == ["found"])
            let binders = try stack.fetchAll(From<Binder>().orderBy(.ascending(\.$code)))
            #expect(binders.map(\.code) == ["a", "b"])
            #expect(binders.map(\.text) == ["new", "found"])
            #expect(binders.map(\.label?.code) == ["b", nil])
        }
    }

    @Test(arguments: ["A", "B"])
    func `an import into an object did not find the object's storage`(name: String) throws {
        let (binders, sheets) = (Entity<Binder>("Binder"), Entity<Sheet>("Sheet"))
        let both: Set<String> = ["A", "B"]
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    binders: both, sheets: both, Entity<Label>("Label"): both,
                ]),
            viewContext: .queue(queue))
        for configuration in both {
            try stack.addStorageAndWait(InMemoryStore(configuration: configuration))
        }
        try stack.perform(synchronous: { transaction in
            let binder = transaction.create(Into<Binder>(name))
            try transaction.importObject(binder, source: ["sheets": [["text": "one"]]])
            #expect(binder.sheets.map(\.text) == ["one"])
        })
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Sheet>(name)) == 1)
            #expect(try stack.fetchCount(From<Sheet>()) == 1)
        }
    }

    /// A stack with a binder and a label of one code in each of two storages.
    private func twins() throws -> DataStack {
        let both: Set<String> = ["A", "B"]
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entityConfigurations: [
                    Entity<Binder>("Binder"): both, Entity<Sheet>("Sheet"): both,
                    Entity<Label>("Label"): both,
                ]),
            viewContext: .queue(queue))
        for configuration in ["A", "B"] {
            try stack.addStorageAndWait(InMemoryStore(configuration: configuration))
        }
        try stack.perform(synchronous: { transaction in
            for configuration in ["A", "B"] {
                transaction.create(Into<Binder>(configuration)).code = "x"
                transaction.create(Into<Label>(configuration)).code = "x"
            }
        })
        return stack
    }

    private func texts(_ stack: DataStack) throws -> [[String]] {
        try queue.sync { () throws in
            try ["A", "B"].map { configuration in
                let labels = try stack.fetchAll(From<Label>(configuration))
                let binders = try stack.fetchAll(From<Binder>(configuration))
                #expect(labels.count == 1 && binders.count == 1)
                return labels.map(\.text) + binders.map(\.text)
            }
        }
    }

    /// A bug: one source found the first object, several found the last.
    @Test(arguments: ["A", "B", nil], [false, true])
    func `an ID of two storages did not mean the named one's object`(
        name: String?, isBatch: Bool
    ) throws {
        let stack = try twins()
        let labels = name.map { Into<Label>($0) } ?? Into<Label>()
        let binders = name.map { Into<Binder>($0) } ?? Into<Binder>()
        let source: [String: Any] = ["code": "x", "text": "new"]
        try stack.perform(synchronous: { transaction in
            if isBatch {
                _ = try transaction.importUniqueObjects(labels, sourceArray: [source])
                _ = try transaction.importUniqueObjects(binders, sourceArray: [source])
            } else {
                _ = try transaction.importUniqueObject(labels, source: source)
                _ = try transaction.importUniqueObject(binders, source: source)
            }
        })
        let expected = name == "B" ? [["", ""], ["new", "new"]] : [["new", "new"], ["", ""]]
        #expect(try texts(stack) == expected)
    }

    @Test(arguments: ["A", "B"], ["x", "y"])
    func `a named target was another storage's`(name: String, label: String) throws {
        let stack = try twins()
        try stack.perform(synchronous: { transaction in
            try transaction.importRelatedObjects { () throws in
                _ = try transaction.importUniqueObject(
                    Into<Binder>(name), source: ["code": "x", "text": "new", "label": label])
                guard label == "y" else { return }
                for configuration in ["A", "B"] {
                    transaction.create(Into<Label>(configuration)).code = "y"
                }
            }
        })
        try queue.sync { () throws in
            let binder = try #require(try stack.fetchOne(From<Binder>(name)))
            #expect(binder.text == "new" && binder.label?.code == label)
        }
    }

    @Test func `several sources found the last object of an ID, and one the first`() throws {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Binder>("Binder"), Entity<Sheet>("Sheet"),
                    Entity<Label>("Label", indexes: [[\.$code]]),
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let labels = (0..<2).map { _ in transaction.create(Into<Label>()) }
            for label in labels { label.code = "x" }
            let source: [String: Any] = ["code": "x"]
            let one = try transaction.importUniqueObject(Into<Label>(), source: source)
            let several = try transaction.importUniqueObjects(
                Into<Label>(), sourceArray: [source, ["code": "y"]])
            #expect(one === labels[0] && several.first === labels[0])
        })
    }

    @Test(arguments: [
        "6F9619FF-8B86-D011-B42D-00CF4FC964FF", "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
    ])
    func `the ID of a related object could be no UUID`(text: String) throws {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Part>("Part", uniqueConstraints: [[\.$code]])]))
        try stack.addStorageAndWait(InMemoryStore())
        let code = try #require(UUID(uuidString: text))
        try stack.perform(synchronous: { transaction in
            _ = try transaction.importUniqueObjects(
                Into<Part>(),
                sourceArray: [["code": text], ["code": UUID().uuidString, "whole": text]])
            let part = try transaction.fetchOne(From<Part>().where(\.$code == code))
            #expect(part?.parts.count == 1)
            #expect(throws: CoreStoreError.self) {
                _ = try transaction.importUniqueObject(
                    Into<Part>(), source: ["code": UUID().uuidString, "whole": "no UUID"])
            }
        })
    }

    final class Part: CoreStoreObject, ImportableUniqueObject {
        @Field.Stored("code") var code: UUID = UUID()
        @Field.Relationship("parts", inverse: \.$whole) var parts: Set<Part>
        @Field.Relationship("whole") var whole: Part?

        typealias ImportSource = [String: Any]
        typealias UniqueIDType = UUID
        static let uniqueIDKeyPath = "code"
        class var importableRelationships: [ImportableRelationship<ImportSource>] {
            [ImportableRelationship(\Part.$whole, key: "whole")]
        }
        static func uniqueID(
            from source: ImportSource, in transaction: BaseDataTransaction
        ) throws -> UUID? { (source["code"] as? String).flatMap { UUID(uuidString: $0) } }
        func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {}
    }
}
