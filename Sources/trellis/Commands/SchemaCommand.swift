import ArgumentParser
import PageStore
import RecordStore

/// `trellis schema`: the model that the file was written with.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Shows the entities that the file declares.",
        discussion: """
            With --diff, lists what makes another schema of the file's: entities and properties \
            are compared by name, in no order, and defaults are the program's. The other schema \
            is a store's, or JSON as --json prints it, and a program as \
            modelSchema.printModelJSON(). Exit code 1 says that the schemas differ, 2 that one \
            of them cannot be read.
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: "A store, or the JSON of a schema, to compare with.")
    var diff: String?

    func run() throws {
        guard let diff else {
            return try store.withEngine { show(try Self.schema(of: $0, at: store.file)) }
        }
        let edits: [SchemaEdit]
        do throws(StoreError) {
            edits = try SchemaDifference.edits(
                from: ModelFile.schema(ofStore: store.file).description,
                to: ModelFile.schema(at: diff))
        } catch {
            Console.warn(error)
            throw ExitCode(2)
        }
        if store.json {
            Console.print(EditText.json(edits))
        } else if edits.isEmpty {
            print("the schemas are the same")
        } else {
            for edit in edits { print(edit) }
        }
        if !edits.isEmpty { throw ExitCode(1) }
    }

    // MARK: Reading

    private static func schema(
        of engine: Engine, at path: String
    ) throws(StoreError) -> SchemaDescription {
        guard let schema = try CatalogView(try engine.snapshot())?.schema() else {
            throw StoreError(
                .corrupt, "the store has no catalog: it was never used", path: path)
        }
        return schema
    }

    // MARK: Showing

    private func show(_ schema: SchemaDescription) {
        if store.json {
            print(SchemaExport.text(schema))
        } else {
            print("model \(schema.modelVersion)")
            for entity in schema.entities { describe(entity) }
        }
    }

    private func describe(_ entity: EntityDescription) {
        var title = entity.isAbstract ? "abstract entity " : "entity "
        title += entity.name
        if let parent = entity.superentityName { title += ": \(parent)" }
        print("\n\(title) (class \(entity.className))")
        for attribute in entity.attributes {
            let mark = attribute.isOptional ? "?" : ""
            let coded = attribute.isCoded ? ", coded" : ""
            print("  \(attribute.name): \(attribute.type.name)\(mark)\(coded)")
        }
        for relationship in entity.relationships {
            let inverse = relationship.inverseName.map { ", inverse \($0)" } ?? ""
            print(
                "  \(relationship.name) → \(relationship.destinationEntityName) "
                    + "(\(relationship.kind.rawValue), \(relationship.deleteRule.rawValue)"
                    + "\(inverse))")
        }
        for names in entity.uniqueConstraints {
            print("  unique \(names.joined(separator: ", "))")
        }
        for names in entity.indexes { print("  index \(names.joined(separator: ", "))") }
    }
}
