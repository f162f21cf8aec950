import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// Chains of which one step undoes or changes what another one did, and models that a file could
/// not follow. A review found each of the faults.
@Suite struct MigrationChainTests {
    private static func options(isChunked: Bool) -> Engine.Options {
        var options = Engine.Options()
        if isChunked { (options.migrationRowsMax, options.migrationChunkRowsMax) = (0, 8) }
        return options
    }

    private func open(
        _ schemas: [SchemaDescription], _ files: MemoryFileSystem, isChunked: Bool = false,
        mapping last: [EntityMapping]? = nil
    ) throws -> RecordDatabase {
        var steps = schemas.map { MigrationStep($0, allowedLoss: .all, isNamed: true) }
        if let last, let schema = schemas.last {
            steps[steps.count - 1] = MigrationStep(schema, mappings: last, isNamed: true)
        }
        return try RecordDatabase.open(
            .file("store"), schema: try #require(schemas.last),
            options: Self.options(isChunked: isChunked), files: files
        ) { _ in steps }
    }

    /// Three objects of each entity. Their to-one links lead to the first objects.
    private func filled(_ schema: SchemaDescription) throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        let database = try open([schema], files)
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for entity in database.schema.entities where !entity.isAbstract {
            for _ in 0..<3 {
                let row = entity.emptyRow()
                defer { row.deallocate() }
                for relationship in entity.relationships {
                    if let field = relationship.field {
                        row.setLink(ObjectNumber(1), at: field.byteOffset)
                    }
                }
                let number = try transaction.allocateNumber(in: entity.hierarchy)
                batch.insert(entity, number, row: row)
            }
        }
        try transaction.apply(batch)
        try transaction.commit()
        try database.close()
        return files
    }

    private func values(
        _ property: String, of name: String, _ database: RecordDatabase
    ) throws -> [Value] {
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let entity = try #require(database.schema.entity(named: name))
        let field = try #require(entity.field(named: property))
        var values: [Value] = []
        let cursor = reader.recordCursor(entity.hierarchy)
        while try cursor.next() {
            let row = try cursor.row()
            guard entity.tags.contains(row.entityTag) else { continue }
            values.append(try reader.value(field, of: row))
        }
        return values
    }

    /// The route names every version each time. The opening went this way again and again.
    @Test(.timeLimit(.minutes(hangMinutes)), arguments: [false, true])
    func `a way with a mapping ends in a version that only adds a constraint`(
        isChunked: Bool
    ) throws {
        var entity = EntityDescription("Thing")
        entity.attributes = [.optional("a", .int64)]
        let files = try filled(SchemaDescription(version: "V1", [entity]))
        entity.attributes.append(.optional("b", .int64))
        let second = SchemaDescription(version: "V2", [entity])
        entity.uniqueConstraints = [["b"]]
        let third = SchemaDescription(version: "V3", [entity])
        let steps = [
            MigrationStep(
                second, mappings: [.copy(from: "Thing", to: "Thing")], isNamed: true),
            MigrationStep(third, isNamed: true),
        ]
        let database = try RecordDatabase.open(
            .file("store"), schema: third, options: Self.options(isChunked: isChunked),
            files: files
        ) { _ in steps }
        #expect(database.schema.indexes.map(\.isUnique) == [true])
        #expect(try values("b", of: "Thing", database) == [.null, .null, .null])
        try database.close()
    }

    /// Verification looked at the last version alone, and took the default for another value.
    @Test(arguments: [false, true])
    func `a chain that makes a property required and optional again ended as corrupt`(
        isChunked: Bool
    ) throws {
        func schema(
            _ version: String, _ attributes: AttributeDescription...
        ) -> SchemaDescription {
            SchemaDescription(version: version, [EntityDescription("Pot", attributes: attributes)])
        }
        let files = try filled(schema("V1", .optional("name", .string)))
        let database = try open(
            [
                schema("V2", .required("name", .string, default: .string("x"))),
                // A model that equals the file's needs no migration.
                schema("V3", .optional("name", .string), .optional("size", .int64)),
            ], files, isChunked: isChunked)
        #expect(try values("name", of: "Pot", database) == Array(repeating: .string("x"), count: 3))
        try database.close()
    }

    /// The new tag of the entity has no count in the file, which was taken for the count of none.
    @Test(arguments: [false, true])
    func `links stayed to objects that a mapping drops after they were moved`(
        isChunked: Bool
    ) throws {
        func schema(_ version: String, isMoved: Bool) -> SchemaDescription {
            let plant = EntityDescription("Plant", below: isMoved ? "Thing" : nil)
            let pot = EntityDescription("Pot", relationships: [.toOne("plant", to: "Plant")])
            return SchemaDescription(
                version: version, [pot, plant] + (isMoved ? [EntityDescription("Thing")] : []))
        }
        let files = try filled(schema("V1", isMoved: false))
        var last = schema("V3", isMoved: true)
        last.entities[1].attributes = [.optional("name", .string)]
        let database = try open(
            [schema("V2", isMoved: true), last], files, isChunked: isChunked,
            mapping: [.transform(from: "Plant", to: "Plant") { _, _ in }])
        #expect(try values("plant", of: "Pot", database) == [.null, .null, .null])
        try database.close()
    }

    /// The default was written into the layout, whose sizes have two bytes.
    @Test(arguments: [1_025, 65_535, 70_000], [false, true])
    func `a long default of a new entity made the file impossible to open`(
        size: Int, isMoved: Bool
    ) throws {
        let text = String(repeating: "x", count: size)
        let attributes = [AttributeDescription.required("text", .string, default: .string(text))]
        let pot = EntityDescription("Pot", attributes: isMoved ? attributes : [])
        let files = try filled(SchemaDescription([pot]))
        // A superentity moves the records of an entity, and its attributes are new ones.
        let later =
            isMoved
            ? [
                EntityDescription("Pot", below: "Thing", attributes: attributes),
                EntityDescription("Thing"),
            ]
            : [pot, EntityDescription("Book", attributes: attributes)]
        let database = try open([SchemaDescription(version: "V2", later)], files)
        let book = try #require(database.schema.entity(named: isMoved ? "Pot" : "Book"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        let row = book.emptyRow()
        defer { row.deallocate() }
        batch.insert(book, try transaction.allocateNumber(in: book.hierarchy), row: row)
        try transaction.apply(batch)
        try transaction.commit()
        #expect(
            try values("text", of: book.name, database).last
                == .string(text))
        try database.close()
    }

    /// The permission was looked up by names that only the migration uses.
    @Test(arguments: [false, true])
    func `a permitted removal of an entity was refused for the links to its objects`(
        isMoved: Bool
    ) throws {
        func schema(_ version: String, isLater: Bool) -> SchemaDescription {
            let kind: RelationshipDescription.Kind =
                isLater && !isMoved ? .toManyUnordered : .toOne
            let plant = RelationshipDescription(
                name: "plant", destinationEntityName: "Plant", kind: kind)
            var entities = [
                EntityDescription("Pot", relationships: [plant]),
                EntityDescription("Plant", below: isLater && isMoved ? "Thing" : nil),
            ]
            if isLater, isMoved { entities.append(EntityDescription("Thing")) }
            if !isLater { entities.insert(EntityDescription("Herb", below: "Plant"), at: 1) }
            return SchemaDescription(version: version, entities)
        }
        // The first object of the hierarchy, to which the pots lead, is a herb.
        let files = try filled(schema("V1", isLater: false))
        let later = schema("V2", isLater: true)
        func open(_ names: Set<String>) throws -> RecordDatabase {
            let step = MigrationStep(later, allowedLoss: .only(names), isNamed: true)
            return try RecordDatabase.open(.file("store"), schema: later, files: files) { _ in
                [step]
            }
        }
        #expect(throws: StoreError.self) { try open([]) }
        let database = try open(["Herb"])
        defer { try? database.close() }
        guard !isMoved else {
            return #expect(try values("plant", of: "Pot", database) == [.null, .null, .null])
        }
        let reader = try database.snapshot()
        #expect(reader.check() == [])
        let pot = try #require(database.schema.entity(named: "Pot"))
        let links = try #require(pot.relationship(named: "plant"))
        #expect(try reader.linkedNumbers(links, of: ObjectNumber(1)) == [])
    }

    /// Verification looked for all trees of the file's model, although it reads no index of it.
    @Test func `a chunked migration was refused for an index that the file lacks`() throws {
        func schema(_ version: String, _ type: AttributeType) -> SchemaDescription {
            SchemaDescription(
                version: version,
                [EntityDescription("Pot", optional: ["size": type], indexes: [["size"]])])
        }
        let files = try filled(schema("V1", .int64))
        let engine = try Engine.open(path: "store", files: files)
        let catalog = try #require(try Catalog.open(engine.snapshot()))
        let editor = try engine.beginWrite()
        try catalog.removeTree("index/Pot/size", in: editor)
        try editor.commit()
        try engine.close()
        let database = try open([schema("V2", .double)], files, isChunked: true)
        #expect(try values("size", of: "Pot", database).count == 3)
        try database.close()
    }
}
