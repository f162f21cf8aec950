import Foundation
import RecordStore
import Testing

@testable import ObjectGraph

/// A program's model as JSON.
@Suite struct ModelExportTests {
    private static let token = UUID()

    private final class Sample: CoreStoreObject {
        @Field.Stored("flag") var flag: Bool = true
        @Field.Stored("small") var small: Int8 = -8
        @Field.Stored("count") var count: Int = 1 << 60
        @Field.Stored("size") var size: UInt64 = .max
        @Field.Stored("ratio") var ratio: Float = 0.1
        @Field.Stored("share") var share: Double = 1e-9
        @Field.Stored("price") var price: Decimal = 12.25
        @Field.Stored("name") var name: String = "\"new\""
        @Field.Stored("bytes") var bytes = Data([0, 255])
        @Field.Stored("day") var day = Date(timeIntervalSinceReferenceDate: 0.5)
        @Field.Stored("token") var token: UUID = ModelExportTests.token
        @Field.Stored("page") var page: URL? = URL(string: "https://example.com/?q=1")
        @Field.Stored("note", previousVersionKeyPath: "comment") var note: String?
        @Field.Stored("made", dynamicInitialValue: { Date() }) var made: Date
        @Field.Coded("codes", coder: FieldCoders.Json.self) var codes: [Int] = [1, 2]
        @Field.Relationship("friends", maxCount: 3) var friends: Set<Sample>
    }

    private final class Other: CoreStoreObject {
        @Field.Stored("name", versionHashModifier: "2") var name: String = ""
    }

    private static func makeSchema() -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V2",
            entityConfigurations: [
                Entity<Sample>("Sample", indexes: [[\.$name]], uniqueConstraints: [[\.$count]]): [],
                Entity<Other>("Other"): ["Second"],
            ])
    }

    @Test func `an exported model is the program's, with its defaults`() throws {
        let schema = Self.makeSchema()
        let read = try SchemaExport.schema(from: Data(schema.printModelJSON().utf8))
        #expect(read == schema.model.description)
        #expect(read.entities.map(\.name) == ["Other", "Sample"])
        let attributes = read.entities[1].attributes
        let lacking = attributes.filter { $0.defaultValue == .null }.map(\.name)
        #expect(lacking == ["note", "made"])
        #expect(attributes.first { $0.name == "price" }?.defaultValue == .decimal(12.25))
        #expect(schema.printModelJSON() == Self.makeSchema().printModelJSON())
    }

    @Test func `a configuration's model has its entities alone`() throws {
        let text = Self.makeSchema().printModelJSON(configuration: "Second")
        let read = try SchemaExport.schema(from: Data(text.utf8))
        #expect(read.entities.map(\.name) == ["Other"])
    }

    /// As a test in a program's CI would do it.
    @Test func `a store of the program is no other than the exported model`() throws {
        let url = URL.temporaryDirectory.appending(path: "export-\(UUID().uuidString).trellis")
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = DataStack(
            Self.makeSchema(), viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        stack.unsafeRemoveAllPersistentStoresAndWait()
        let read = try SchemaExport.schema(from: Data(stack.modelSchema.printModelJSON().utf8))
        let stored = try RecordDatabase.openReadOnly(path: url.path)
        defer { try? stored.close() }
        #expect(SchemaDifference.edits(from: stored.schema.description, to: read).isEmpty)
    }

    private struct ForeignSchema: DynamicSchema {
        let modelVersion = "V9"
    }

    @Test func `only a schema of classes is exported`() async {
        await #expect(processExitsWith: .failure) {
            _ = ForeignSchema().printModelJSON()
        }
    }
}
