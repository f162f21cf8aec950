import ArgumentParser
import Foundation
import RecordStore

/// `trellis schema`: the model that the file was written with.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Shows the entities that the file declares.")

    @OptionGroup var store: StoreOptions

    func run() throws {
        try store.withEngine { engine in
            guard let schema = try CatalogView(try engine.snapshot())?.schema() else {
                throw StoreError(
                    .corrupt, "the store has no catalog: it was never used", path: store.file)
            }
            if store.json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
                print(String(decoding: try encoder.encode(schema), as: UTF8.self))
            } else {
                print("model \(schema.modelVersion)")
                for entity in schema.entities { describe(entity) }
            }
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
