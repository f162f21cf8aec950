import Foundation
import PageStore
import Proof
import RecordStore
import TestSupport

/// Reads the bytes of a fuzzer as the text of a schema.
///
/// The first byte chooses: an even one has the rest read as an exported schema, an odd one as the
/// schema in the catalog of a store, which is then opened and checked.
struct FuzzedSchema {
    private let store: [UInt8]

    private static let schema = SchemaDescription(
        modelVersion: "V1",
        entities: [
            EntityDescription(
                name: "Node", className: "Node",
                attributes: [
                    AttributeDescription(name: "name", type: .string, isOptional: true),
                    AttributeDescription(name: "age", type: .int64, isOptional: true),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "parent", destinationEntityName: "Node", kind: .toOne)
                ],
                indexes: [["name"]])
        ])

    init() throws {
        let files = FaultyFileSystem()
        let database = try RecordDatabase.open(.file("store"), schema: Self.schema, files: files)
        guard let node = database.schema.entity(named: "Node") else {
            throw ProofFailure("the schema has no Node")
        }
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for _ in 0..<5 {
            let row = node.emptyRow()
            defer { row.deallocate() }
            batch.insert(node, try transaction.allocateNumber(in: node.hierarchy), row: row)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        store = files.bytes
    }

    /// Returns whether the text was refused, or damage found in the store.
    func run(_ input: [UInt8]) throws -> Bool {
        guard let kind = input.first else { return true }
        let start = ContinuousClock.now
        defer { precondition(ContinuousClock.now - start < .seconds(20), "it takes too long") }
        let text = Array(input.dropFirst())
        do {
            return try kind & 1 == 0 ? readExported(text) : readStored(text)
        } catch let error as StoreError {
            try Self.expectRefusal(error)
            return true
        }
    }

    /// A schema that is accepted prints as a text of the same schema, and makes a store that is
    /// opened again by its own schema and found sound.
    private func readExported(_ text: [UInt8]) throws -> Bool {
        let schema = try SchemaExport.schema(from: Data(text))
        let again = try SchemaExport.schema(from: Data(SchemaExport.text(schema).utf8))
        guard SchemaExport.text(again) == SchemaExport.text(schema) else {
            throw ProofFailure("a schema prints as a text of another schema")
        }
        let files = FaultyFileSystem()
        try RecordDatabase.open(.file("store"), schema: schema, files: files).close()
        let database = try RecordDatabase.openReadOnly(path: "store", files: files)
        defer { try? database.close() }
        // The file does not keep defaults.
        let stored = SchemaExport.text(database.schema.description.withoutDefaults)
        guard stored == SchemaExport.text(schema.withoutDefaults) else {
            throw ProofFailure("a store has another schema than it was made with")
        }
        let findings = try database.snapshot().check()
        guard findings.isEmpty else { throw ProofFailure("a new store is damaged: \(findings)") }
        return false
    }

    private func readStored(_ text: [UInt8]) throws -> Bool {
        let files = FaultyFileSystem(bytes: store)
        let engine = try Engine.open(path: "store", files: files)
        let transaction = try engine.beginWrite()
        guard let root = transaction.catalogRoot else {
            throw ProofFailure("the store has no catalog")
        }
        _ = try transaction.insert(
            Array("schema".utf8).span, text.span, into: TreeID(root: root))
        _ = try transaction.commit()
        try engine.close()
        // First by a program with a model of its own, which follows the file or refuses it.
        let isRefused = try isRefused(FaultyFileSystem(bytes: files.bytes))
        let database = try RecordDatabase.openReadOnly(path: "store", files: files)
        defer { try? database.close() }
        let findings = try database.snapshot().check()
        return isRefused || !findings.isEmpty
    }

    private func isRefused(_ files: FaultyFileSystem) throws -> Bool {
        do throws(StoreError) {
            try RecordDatabase.open(.file("store"), schema: Self.schema, files: files).close()
            return false
        } catch {
            try Self.expectRefusal(error)
            return true
        }
    }

    /// The files of the target never fail.
    private static func expectRefusal(_ error: StoreError) throws {
        guard !error.message.isEmpty else { throw ProofFailure("an error without a reason") }
        guard ![.closed, .poisoned, .io, .alreadyOpen].contains(error.code) else { throw error }
    }
}

extension SchemaDescription {
    fileprivate var withoutDefaults: SchemaDescription {
        var copy = self
        for entity in copy.entities.indices {
            for attribute in copy.entities[entity].attributes.indices {
                copy.entities[entity].attributes[attribute].defaultValue = .null
            }
        }
        return copy
    }
}
