import Foundation
import Testing

@testable import RecordStore

/// The saved schema of a file, byte by byte.
@Suite struct SchemaTextTests {
    private struct Saved: Codable {
        var formatVersion = 1
        var schema: SchemaDescription
    }

    private static let oddName = "a\"b\\c/d\t\n\r\u{1}\u{1F}\u{7F}é🙂\u{2028}{[:,"

    private static func schema(_ name: String) -> SchemaDescription {
        SchemaDescription(
            modelVersion: name,
            entities: [
                EntityDescription(
                    name: name, className: "\(name)Class", superentityName: name, isAbstract: true,
                    versionHashModifier: "2",
                    attributes: [
                        AttributeDescription(
                            name: name, type: .string, isOptional: true,
                            defaultValue: .string("not saved"), isCoded: true,
                            versionHashModifier: name, previousName: name),
                        AttributeDescription(name: "age", type: .int64),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: name, destinationEntityName: name, inverseName: name,
                            kind: .toManyOrdered, deleteRule: .deny, minCount: 1, maxCount: 20,
                            versionHashModifier: name, previousName: name),
                        RelationshipDescription(
                            name: "owner", destinationEntityName: "Dog", kind: .toOne),
                    ], indexes: [["age"], [name, "age"]], uniqueConstraints: [[name], []]),
                EntityDescription(name: "Dog", className: ""),
            ])
    }

    /// The text of the system's encoder, which writes no spaces and leaves slashes unescaped.
    @Test(arguments: ["Person", "", oddName])
    func `a saved schema is JSON with sorted keys`(name: String) throws {
        let schema = Self.schema(name)
        let bytes = SchemaText(schema).bytes
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let encoded = try encoder.encode(Saved(schema: schema))
        #expect(bytes == [UInt8](encoded), "\(String(decoding: bytes, as: UTF8.self))")
        var plain = schema
        plain.entities[0].attributes[0].defaultValue = .null
        #expect(try JSONDecoder().decode(Saved.self, from: Data(bytes)).schema == plain)
    }
}
