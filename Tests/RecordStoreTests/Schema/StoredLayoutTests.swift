import MigrationProof
import SampleSchemas
import TestSupport
import Testing

@testable import PageStore
@testable import RecordStore

/// The layout in a file's catalog is checked, whatever wrote it.
@Suite struct StoredLayoutTests {
    private static let schema = SchemaDescription([
        EntityDescription(
            "A", required: ["x": .int64, "y": .string], relationships: [.toOne("z", to: "A")]),
        EntityDescription("B", below: "A", required: ["w": .int64]),
    ])

    /// One entity of a layout as it is written.
    private struct Entity {
        var tag = 1
        var name: [UInt8] = Array("A".utf8)
        var counts = [3]
        var properties: [(slot: Int, name: String, value: [UInt8]?)] = [
            (0, "x", nil), (1, "y", nil), (2, "z", nil),
        ]
        var retired: [(slot: Int, type: Int)] = []
    }

    private static let second = Entity(
        tag: 2, name: Array("B".utf8), counts: [4], properties: [(3, "w", nil)])

    private static func bytes(
        _ entities: [Entity], form: Int = 1, count: Int? = nil, tail: [UInt8] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ number: Int) {
            bytes += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
        }
        append(form)
        append(count ?? entities.count)
        for entity in entities {
            append(entity.tag)
            append(entity.name.count)
            append(entity.counts.count)
            append(entity.properties.count)
            append(entity.retired.count)
            bytes += entity.name
            for count in entity.counts { append(count) }
            for property in entity.properties {
                append(property.slot)
                append(property.name.utf8.count)
                append(property.value?.count ?? 0xFFFF)
                bytes += property.name.utf8
                bytes += property.value ?? []
            }
            for slot in entity.retired {
                append(slot.slot)
                append(slot.type)
            }
        }
        return bytes + tail
    }

    private static func changed(_ change: (inout Entity, inout Entity) -> Void) -> [UInt8] {
        var (first, second) = (Entity(), Self.second)
        change(&first, &second)
        return bytes([first, second])
    }

    /// A file with one object whose catalog has another layout, or none.
    private func open(_ layout: [UInt8]?) throws -> (database: RecordDatabase?, error: StoreError?)
    {
        let files = MemoryFileSystem()
        let made = try RecordDatabase.open(.file("store"), schema: Self.schema, files: files)
        try made.close()
        let engine = try Engine.open(path: "store", files: files)
        let editor = try engine.beginWrite()
        let catalog = try #require(try Catalog.open(editor))
        let key = Array(Catalog.layoutKey.utf8)
        if let layout {
            _ = try editor.insert(key.span, layout.span, into: catalog.root)
        } else {
            _ = try editor.remove(key.span, from: catalog.root)
        }
        _ = try editor.commit()
        try engine.close()
        do throws(StoreError) {
            return (try RecordDatabase.open(.file("store"), schema: Self.schema, files: files), nil)
        } catch {
            // A reader without a schema of its own reports the same.
            let reader = #expect(throws: StoreError.self) {
                try RecordDatabase.openReadOnly(path: "store", files: files)
            }
            #expect(reader?.code == error.code)
            return (nil, error)
        }
    }

    @Test func `a new file has the layout that follows from its declarations`() throws {
        let schema = try Schema(Self.schema)
        #expect(StoredLayout.bytes(of: schema) == Self.bytes([Entity(), Self.second]))
    }

    @Test func `a declared schema is resolved once where a file has its own layout`() throws {
        var random = SeededRandom(for: "StoredLayoutTests of declared schemas")
        let samples = (0..<100).map { _ in RandomModels.schema(&random) }
        for description in [Self.schema] + samples {
            let layout = StoredLayout.bytes(of: try Schema(description))
            let declared = try DeclaredSchema(description)
            let schema = try declared.schema(layout: layout, page: PageID(1))
            #expect(schema === declared.schema, "seed \(random.seed)")
            let slots = schema.entities.map { entity in
                entity.ownFields.map { "\($0.name) \($0.slot)" }.sorted()
            }
            let stored = try StoredLayout(layout, page: PageID(1)).entities
            let places = stored.map { $0.properties.map { "\($0.name) \($0.slot)" }.sorted() }
            #expect(slots == places, "seed \(random.seed)")
            #expect(schema.entities.map(\.tag) == stored.map(\.tag), "seed \(random.seed)")
            #expect(
                schema.entities.map { [UInt16($0.slotCount)] } == stored.map(\.slotCounts),
                "seed \(random.seed)")
        }
        let other = Self.bytes([
            Entity(tag: 1, name: Array("B".utf8), counts: [4], properties: [(3, "w", nil)]),
            Entity(
                tag: 2, counts: [3], properties: [(0, "z", nil), (1, "y", nil), (2, "x", nil)]),
        ])
        let declared = try DeclaredSchema(Self.schema)
        let schema = try declared.schema(layout: other, page: PageID(1))
        #expect(StoredLayout.bytes(of: schema) == other)
        #expect(schema !== declared.schema)
    }

    @Test func `tags and slots are those of the layout`() throws {
        let layout = Self.bytes([
            Entity(tag: 1, name: Array("B".utf8), counts: [4], properties: [(0, "w", nil)]),
            Entity(
                tag: 2, counts: [3], properties: [(1, "z", nil), (2, "y", nil), (3, "x", nil)]),
        ])
        // A subentity's slot before its superentity's: those of the superentity alone begin at 1.
        #expect(try open(layout).error?.code == .corrupt)
        let other = Self.bytes([
            Entity(tag: 1, name: Array("B".utf8), counts: [4], properties: [(3, "w", nil)]),
            Entity(
                tag: 2, counts: [3], properties: [(0, "z", nil), (1, "y", nil), (2, "x", nil)]),
        ])
        let database = try #require(try open(other).database)
        let a = try #require(database.schema.entity(named: "A"))
        let b = try #require(database.schema.entity(named: "B"))
        #expect((a.tag, b.tag) == (2, 1))
        #expect(b.hierarchy.rootTag == 2)
        #expect(["x", "y", "z", "w"].map { b.field(named: $0)?.slot } == [2, 1, 0, 3])
        #expect(StoredLayout.bytes(of: database.schema) == other)
        try database.close()
    }

    private static let lies: [(String, [UInt8]?)] = [
        ("none", nil),
        ("empty", []),
        ("cut", Array(bytes([Entity(), second]).dropLast())),
        ("a tail", bytes([Entity(), second], tail: [0])),
        ("more entities than there are", bytes([Entity(), second], count: 3)),
        ("fewer", bytes([Entity(), second], count: 1)),
        ("an entity missing", bytes([Entity()])),
        ("an entity twice", bytes([Entity(), Entity(tag: 2)])),
        ("a strange entity", changed { $1.name = Array("C".utf8) }),
        ("a name that is no text", changed { $1.name = [0xFF] }),
        ("the tag zero", changed { first, _ in first.tag = 0 }),
        ("one tag for two", changed { $1.tag = 1 }),
        ("tags that fall", bytes([second, Entity()])),
        ("a property missing", changed { first, _ in first.properties.removeLast() }),
        ("a property twice", changed { first, _ in first.properties[1].name = "x" }),
        ("a strange property", changed { first, _ in first.properties[1].name = "q" }),
        ("an inherited property", changed { $1.properties[0].name = "x" }),
        ("one slot for two", changed { first, _ in first.properties[1].slot = 0 }),
        ("slots that fall", changed { first, _ in first.properties.reverse() }),
        ("a slot of the superentity", changed { $1.properties[0].slot = 2 }),
        ("a slot out of range", changed { $1.properties[0].slot = 4000 }),
        ("a slot behind the count", changed { $1.properties[0].slot = 4 }),
        ("no count", changed { first, _ in first.counts = [] }),
        ("a count that is too small", changed { first, _ in first.counts = [2] }),
        ("a count out of range", changed { first, _ in first.counts = [4001] }),
        ("counts that fall", changed { first, _ in first.counts = [3, 2] }),
        ("an initial value that is too short", changed { $1.properties[0].value = [1] }),
        ("a link with an initial value", changed { first, _ in first.properties[2].value = [1] }),
        ("a retired slot of no type", changed { first, _ in first.retired = [(3, 18)] }),
        ("a retired slot behind the count", changed { $1.retired = [(4, 5)] }),
        ("a retired slot that is in use", changed { $1.retired = [(3, 5)] }),
        ("a retired slot of the superentity", changed { first, _ in first.retired = [(1, 5)] }),
        (
            "slots of an entity that is gone",
            bytes([Entity(), second, Entity(tag: 3, name: [], counts: [1], properties: [])])
        ),
    ]

    @Test(arguments: lies)
    func `a false stored layout is reported as damage of the catalog's page`(
        name: String, layout: [UInt8]?
    ) throws {
        let outcome = try open(layout)
        try outcome.database?.close()
        #expect(outcome.error?.code == .corrupt, "\(name): \(String(describing: outcome.error))")
        #expect(outcome.error?.page != nil, "\(name)")
    }

    private static let later: [(String, [UInt8])] = [
        ("another form", bytes([Entity(), second], form: 2))
    ]

    private static let migrated: [(String, [UInt8])] = [
        (
            "a free slot",
            changed {
                $1.properties[0].slot = 4
                $1.counts = [5]
            }
        ),
        ("two counts", changed { $1.counts = [3, 4] }),
        ("a free tag", changed { $1.tag = 3 }),
        (
            "an entity that is gone",
            bytes([
                Entity(), Entity(tag: 2, name: [], counts: [], properties: []),
                Entity(tag: 3, name: second.name, counts: [4], properties: second.properties),
            ])
        ),
        (
            "a retired slot",
            changed {
                $1.retired = [(4, 5)]
                $1.counts = [4, 5]
            }
        ),
        (
            "a retired link above others",
            changed {
                $0.retired = [(3, 0)]
                $0.counts = [4]
                $1.properties[0].slot = 4
                $1.counts = [5]
            }
        ),
        (
            "an initial value",
            changed { $1.properties[0].value = [1, 0, 0, 0, 0, 0, 0, 0] }
        ),
    ]

    @Test(arguments: migrated)
    func `a layout that a migration wrote is read and kept`(name: String, layout: [UInt8]) throws {
        let outcome = try open(layout)
        let database = try #require(outcome.database, "\(name)")
        #expect(StoredLayout.bytes(of: database.schema) == layout, "\(name)")
        try database.close()
    }

    @Test(arguments: later)
    func `a stored layout of an unknown form is reported as a newer format`(
        name: String, layout: [UInt8]
    ) throws {
        let outcome = try open(layout)
        try outcome.database?.close()
        #expect(
            outcome.error?.code == .newerFormat, "\(name): \(String(describing: outcome.error))")
        #expect(outcome.error?.page != nil, "\(name)")
    }

    @Test func `no bytes of a layout end the process`() throws {
        var random = SeededRandom(for: "StoredLayoutTests")
        let sound = Self.bytes([Entity(), Self.second])
        for _ in FuzzRounds(20_000) {
            var bytes = sound
            for _ in 0...random.below(3) {
                switch random.below(4) {
                case 0: bytes[random.below(bytes.count)] = UInt8(random.below(256))
                case 1: bytes.remove(at: random.below(bytes.count))
                case 2: bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count))
                default: bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
                }
            }
            do throws(StoreError) {
                let schema = try Schema(Self.schema, layout: bytes, page: PageID(1))
                #expect(StoredLayout.bytes(of: schema) == bytes, "seed \(random.seed)")
            } catch {
                #expect([.corrupt, .newerFormat].contains(error.code), "seed \(random.seed)")
            }
        }
    }
}
