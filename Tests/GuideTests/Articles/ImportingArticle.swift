import Foundation
import ObjectGraph
import Testing

/// The code of the article Importing.
@MainActor @Suite struct ImportingArticle {
    final class Person: CoreStoreObject, ImportableUniqueObject {
        @Field.Stored("code") var code: String = ""
        @Field.Stored("name") var name: String = ""
        @Field.Relationship("boss", inverse: \.$staff) var boss: Person?
        @Field.Relationship("staff") var staff: Set<Person>
        @Field.Relationship("pets", inverse: \.$owner) var pets: Set<Pet>

        typealias ImportSource = [String: Any]
        static let uniqueIDKeyPath = "code"

        static func uniqueID(
            from source: ImportSource, in transaction: BaseDataTransaction
        ) throws -> String? {
            source["code"] as? String
        }

        func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
            name = source["name"] as? String ?? ""
        }

        static var importableRelationships: [ImportableRelationship<ImportSource>] {
            [
                ImportableRelationship(\Person.$boss, key: "boss"),
                ImportableRelationship(\Person.$pets, key: "pets"),
            ]
        }
    }

    final class Pet: CoreStoreObject, ImportableUniqueObject {
        @Field.Stored("tag") var tag: Int = 0
        @Field.Stored("name") var name: String = ""
        @Field.Relationship("owner") var owner: Person?

        typealias ImportSource = [String: Any]
        static let uniqueIDKeyPath = "tag"

        static func uniqueID(
            from source: ImportSource, in transaction: BaseDataTransaction
        ) throws -> Int? {
            source["tag"] as? Int
        }

        func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
            name = source["name"] as? String ?? ""
        }
    }

    private let stack: DataStack

    init() throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Person>("Person", uniqueConstraints: [[\.$code]]),
                    Entity<Pet>("Pet", uniqueConstraints: [[\.$tag]]),
                ]))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Pet>()).tag = 8
        })
    }

    @Test func `nested sources and IDs become links`() throws {
        try stack.perform(synchronous: { transaction in
            try transaction.importUniqueObjects(
                Into<Person>(),
                sourceArray: [
                    ["code": "ann", "boss": "bob", "pets": [["tag": 7, "name": "Rex"], 8]],
                    ["code": "bob", "boss": NSNull()],
                ])
        })
        let ann = try #require(try stack.fetchOne(From<Person>().where(\.$code == "ann")))
        #expect(ann.boss?.code == "bob" && ann.pets.count == 2)
    }

    @Test func `a closure returns the targets of a relationship in a source`() {
        let relationship: ImportableRelationship<[String: Any]> =
            ImportableRelationship(\Person.$boss) { source in
                (source["reportsTo"] as? String).map { [.uniqueID("staff-\($0)")] }
            }
        _ = relationship
    }

    @Test func `several imports are one pass`() throws {
        let persons: [[String: Any]] = [["code": "cy", "pets": [9]]]
        let pets: [[String: Any]] = [["tag": 9]]
        try stack.perform(synchronous: { transaction in
            try transaction.importRelatedObjects {
                try transaction.importUniqueObjects(Into<Person>(), sourceArray: persons)
                try transaction.importUniqueObjects(Into<Pet>(), sourceArray: pets)
            }
        })
        #expect(try stack.fetchOne(From<Person>().where(\.$code == "cy"))?.pets.count == 1)
    }

    @Test func `a file is imported`() throws {
        let url = FileManager.default.temporaryDirectory
            .appending(path: "article-\(UUID().uuidString).jsonl")
        try Data("{\"code\":\"dan\",\"name\":\"Dan\"}\n".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let progress = Progress(totalUnitCount: 0)
        try stack.perform(synchronous: { transaction in
            try transaction.importUniqueObjects(
                Into<Person>(), file: url, format: .jsonLines, progress: progress)
        })
        #expect(try stack.fetchOne(From<Person>().where(\.$code == "dan"))?.name == "Dan")
    }
}
