import ArgumentParser
import Foundation
import PageStore
import RecordStore

/// `trellis schema`: the model that the file was written with.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Shows the entities that the file declares.",
        discussion: """
            With --diff, lists what makes another schema of the file's: entities and properties \
            are compared by name, in no order. Exit code 1 says that the schemas differ, 2 that \
            one of them cannot be read.
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: "A store, or JSON as --json prints it, to compare with.")
    var diff: String?

    func run() throws {
        guard let diff else {
            return try store.withEngine { try show(try Self.schema(of: $0, at: store.file)) }
        }
        let edits: [SchemaEdit]
        do throws(StoreError) {
            edits = try SchemaDifference.edits(
                from: Self.schema(ofStore: store.file), to: Self.schema(at: diff))
        } catch {
            Console.warn(error)
            throw ExitCode(2)
        }
        show(edits)
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

    private static func schema(ofStore path: String) throws(StoreError) -> SchemaDescription {
        let database = try RecordDatabase.openReadOnly(path: path)
        defer { try? database.close() }
        return database.schema.description
    }

    /// The schema of a store, or of a file with JSON.
    private static func schema(at path: String) throws(StoreError) -> SchemaDescription {
        do throws(StoreError) {
            return try schema(ofStore: path)
        } catch {
            guard error.code == .notAStore else { throw error }
        }
        let description: SchemaDescription
        do {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            description = try JSONDecoder().decode(SchemaDescription.self, from: bytes)
        } catch {
            throw StoreError(
                .notAStore, "the file is neither a store nor the JSON of a schema: \(error)",
                path: path)
        }
        do throws(StoreError) {
            return try Schema(description).description
        } catch {
            throw error.at(path: path)
        }
    }

    // MARK: Showing

    private func show(_ edits: [SchemaEdit]) {
        if store.json {
            Console.print(.array(edits.map(Self.json)))
        } else if edits.isEmpty {
            print("the schemas are the same")
        } else {
            for edit in edits { print(edit) }
        }
    }

    private static func json(_ edit: SchemaEdit) -> JSONText {
        let facts = edit.facts
        func text(_ content: String?) -> JSONText { content.map { .string($0) } ?? .null }
        var members: [(name: String, value: JSONText)] = [
            (name: "edit", value: .string(facts.kind)),
            (name: "entity", value: .string(facts.entityName)),
            (name: "property", value: text(facts.propertyName)),
            (name: "from", value: text(facts.from)),
            (name: "to", value: text(facts.to)),
        ]
        if let columns = facts.columns {
            members.append((name: "columns", value: .array(columns.map { .string($0) })))
        }
        members.append((name: "needsMigration", value: .bool(edit.needsMigration)))
        members.append((name: "text", value: .string(edit.description)))
        return .object(members)
    }

    private func show(_ schema: SchemaDescription) throws {
        if store.json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
            print(String(decoding: try encoder.encode(schema), as: UTF8.self))
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
