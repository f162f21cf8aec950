import ObjectGraph
import RecordStore
import Testing
import XcodeModels

/// The content read from Xcode's model files.
@Suite struct ModelReadingTests {
    private func everything() throws -> SchemaDescription {
        try XcodeDataModelSchema(
            modelName: "Everything", modelVersionFileURL: ModelFiles.everything
        ).description(for: nil)
    }

    private func entity(
        _ name: String, _ schema: SchemaDescription
    ) throws -> EntityDescription {
        try #require(schema.entities.first { $0.name == name })
    }

    private func library(_ version: String) throws -> SchemaDescription {
        let models = try XcodeDataModelSchema.from(modelURL: ModelFiles.library)
        return try #require(models.allSchema.first { $0.modelVersion == version })
            .description(for: nil)
    }

    @Test func `all versions of a model are read, and the current one is Xcode's`() throws {
        let models = try XcodeDataModelSchema.from(modelURL: ModelFiles.library)
        #expect(models.allSchema.map(\.modelVersion) == ["Library", "Library 2", "Library 3"])
        #expect(models.currentModelVersion == "Library 3")
        #expect(
            models.allSchema.map { $0.description(for: nil).entities.map(\.name) } == [
                ["Author", "Book", "Person"], ["Author", "Book", "Person"],
                ["Author", "Book", "Loan", "Person"],
            ])
        #expect(
            models.allSchema.allSatisfy { $0.description(for: nil).modelVersion == $0.modelVersion }
        )
    }

    @Test(
        arguments: [
            (["Library", "Library 2"], "Library 2"),
            (["Library", "Library 3"], "Library 3"),
            // An app that continued with classes.
            (["Library", "Library 3", "V4"], "Library 3"),
            (["Library", "V2"], "Library 3"),
        ])
    func `a migration chain says which version is current`(
        chain: [ModelVersion], version: ModelVersion
    ) throws {
        let models = try XcodeDataModelSchema.from(
            modelURL: ModelFiles.library, migrationChain: MigrationChain(chain))
        #expect(models.currentModelVersion == version)
    }

    @Test func `models are found among the resources of a bundle`() throws {
        let resources = try #require(Bundle.module.resourceURL)
        let bundle = try #require(Bundle(url: resources.appending(path: "Models")))
        let models = try XcodeDataModelSchema.from(modelName: "Library", bundle: bundle)
        #expect(models.allSchema.count == 3)
        let first = try XcodeDataModelSchema(modelName: "Library", bundle: bundle)
        #expect(first.description(for: nil) == models.allSchema[0].description(for: nil))
        let single = try XcodeDataModelSchema(modelName: "Everything", bundle: bundle)
        #expect(single.description(for: nil) == (try everything()))
    }

    @Test func `entities have their superentities, classes and modifiers`() throws {
        let library = try library("Library 3")
        #expect(try entity("Author", library).superentityName == "Person")
        #expect(try entity("Person", library).isAbstract)
        #expect(try entity("Book", library).versionHashModifier == "3")
        #expect(library.entities.map(\.className) == ["Author", "Book", "Loan", "Person"])
        let schema = try everything()
        #expect(schema.entities.map(\.className) == ["Node", "Sample"])
        #expect(try entity("Sample", schema).previousName == "Specimen")
        #expect(try library2ClassNames() == ["Author", "Book", "Person"])
    }

    private func library2ClassNames() throws -> [String] {
        try library("Library 2").entities.map(\.className)
    }

    @Test func `attributes have their types and defaults`() throws {
        let sample = try entity("Sample", everything())
        let found = Dictionary(uniqueKeysWithValues: sample.attributes.map { ($0.name, $0) })
        let expected: [(String, AttributeType, Value)] = [
            ("amount", .decimal, .decimal(try #require(Decimal(string: "12.5")))),
            ("big", .int64, .int(.min)), ("bytes", .data, .null), ("flag", .bool, .bool(false)),
            ("half", .float, .float(0.5)), ("id", .uuid, .null),
            (
                "known", .uuid,
                .uuid(try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")))
            ),
            ("link", .url, .url("https://example.org/?a=1&b=2")),
            ("made", .date, .date(-86400.5)), ("medium", .int32, .int(-70000)),
            ("ratio", .double, .double(0.001)), ("shade", .data, .null),
            ("small", .int16, .int(0)), ("text", .string, .string("a \"b\" \\(c) <d> ü")),
        ]
        for (name, type, value) in expected {
            #expect(found[name]?.type == type, "\(name)")
            #expect(found[name]?.defaultValue == value, "\(name)")
            #expect(found[name]?.isOptional == false, "\(name)")
            guard let optional = found[name + "OrNil"] else { continue }
            #expect(optional.type == type, "\(name)")
            #expect(optional.isOptional && optional.defaultValue == .null, "\(name)")
        }
        #expect(found["medium"]?.previousName == "middle")
        #expect(found["medium"]?.versionHashModifier == "m")
        #expect(found.values.filter(\.isCoded).map(\.name).sorted() == ["place", "shade"])
        #expect(found.count == 27)
    }

    @Test func `derived attributes, fetched properties and transient ones are not stored`() throws {
        let sample = try entity("Sample", everything())
        let names = Set(sample.attributes.map(\.name) + sample.relationships.map(\.name))
        #expect(names.isDisjoint(with: ["fullName", "others", "working"]))
        #expect(sample.virtualNames == ["working"])
    }

    @Test func `relationships have kinds, rules and counts, and one side has the inverse`() throws {
        let node = try entity("Node", everything())
        #expect(
            node.relationships == [
                RelationshipDescription(
                    name: "children", destinationEntityName: "Node", inverseName: "parent",
                    kind: .toManyOrdered, minCount: 1, maxCount: 8),
                RelationshipDescription(
                    name: "friends", destinationEntityName: "Node", kind: .toManyUnordered),
                RelationshipDescription(
                    name: "parent", destinationEntityName: "Node", kind: .toOne,
                    versionHashModifier: "up"),
                RelationshipDescription(
                    name: "sample", destinationEntityName: "Sample", kind: .toOne),
            ])
        let library = try library("Library 3")
        let book = try entity("Book", library)
        #expect(book.relationships.map(\.deleteRule) == [.nullify, .deny])
        let author = try entity("Author", try self.library("Library 2"))
        #expect(author.relationships.map(\.deleteRule) == [.cascade])
        #expect(author.relationships.map(\.previousName) == ["works"])
        let inverses = InverseTable(library)
        #expect(inverses.faults.isEmpty)
        #expect(
            inverses.inverse(of: PropertyPath("Loan", "book")) == PropertyPath("Book", "loans"))
    }

    @Test func `indexes and unique constraints of all forms are read`() throws {
        let sample = try entity("Sample", everything())
        #expect(sample.indexes == [["small"], ["small", "text"], ["made", "id"]])
        #expect(sample.uniqueConstraints == [["id"], ["text", "small"]])
    }

    @Test func `configurations have parts of the entities`() throws {
        let models = try XcodeDataModelSchema.from(modelURL: ModelFiles.library)
        let schema = models.allSchema[2]
        #expect(schema.configurations == ["Catalog", "Desk"])
        let catalog = schema.description(for: "Catalog")
        #expect(catalog.entities.map(\.name) == ["Author", "Book"])
        // Person is not in the configuration, so its properties belong to Author.
        let author = try entity("Author", catalog)
        #expect(author.superentityName == nil)
        #expect(author.attributes.map(\.name) == ["name", "born", "penName"])
        #expect(try entity("Book", catalog).relationships.map(\.name) == ["author"])
        let desk = schema.description(for: "Desk")
        #expect(try entity("Loan", desk).relationships.isEmpty)
        #expect(schema.description(for: "Other").entities.isEmpty)
    }
}
