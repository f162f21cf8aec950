import Foundation
import PageStore

/// The exported form of a schema: JSON that programs and the tool print and that the tool reads.
/// It is the object `schema` of spec/07-catalog.md, 7.3, with one more member in attributes,
/// `default`: see ``SchemaDefault``. Saved schemas have no defaults.
package enum SchemaExport {
    package static let sizeInBytesMax = 16 << 20

    /// A key of a decoder's `userInfo`: if set, attributes decode their defaults.
    static let readsDefaults: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "trellis.readsDefaults") else {
            preconditionFailure("every text is a key")
        }
        return key
    }()

    /// JSON with sorted keys, a line for each member.
    package static func text(_ schema: SchemaDescription) -> String {
        var json = JSONWriter(isIndented: true)
        json.append(schema, hasDefaults: true)
        return json.text
    }

    /// Decodes an exported schema and validates it. The bytes are untrusted.
    ///
    /// Throws `notAStore` for bytes that are not the JSON of a schema, `tooLarge` above
    /// ``sizeInBytesMax``, and `invalidModel` for a schema that contradicts itself.
    package static func schema(from bytes: Data) throws(StoreError) -> SchemaDescription {
        guard bytes.count <= sizeInBytesMax else {
            throw StoreError(.tooLarge, "a schema has at most \(sizeInBytesMax) bytes of JSON")
        }
        let decoder = JSONDecoder()
        decoder.userInfo[readsDefaults] = true
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: SchemaDefault.infinity,
            negativeInfinity: "-\(SchemaDefault.infinity)", nan: SchemaDefault.notANumber)
        let schema: SchemaDescription
        do {
            schema = try decoder.decode(SchemaDescription.self, from: bytes)
        } catch {
            throw StoreError(
                .notAStore, "the file is neither a store nor the JSON of a schema: \(words(error))")
        }
        try checkCounts(schema)
        return try Schema(schema).description
    }

    /// Not applied to saved schemas, because a program may declare any counts.
    private static func checkCounts(_ schema: SchemaDescription) throws(StoreError) {
        for entity in schema.entities {
            for relationship in entity.relationships {
                let (least, most) = (relationship.minCount, relationship.maxCount)
                guard least >= 0, most >= 0, most == 0 || least <= most else {
                    throw StoreError(
                        .invalidModel,
                        "the schema contradicts itself: \(entity.name).\(relationship.name) has "
                            + "at least \(least) and at most \(most) objects")
                }
            }
        }
    }

    /// A decoder's message with the path of the member, shortened.
    private static func words(_ error: any Error) -> String {
        let context: DecodingError.Context
        switch error as? DecodingError {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found):
            context = found
        case .keyNotFound(let key, let found):
            context = .init(
                codingPath: found.codingPath, debugDescription: "“\(key.stringValue)” is missing")
        default: return String("\(error)".prefix(300))
        }
        let path = String(
            context.codingPath.map { key in
                key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
            }.joined())
        let place = path.isEmpty ? "" : "\(path.dropFirst(path.hasPrefix(".") ? 1 : 0)): "
        let cause = (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"] as? String
        return String(
            (place + context.debugDescription + (cause.map { " \($0)" } ?? "")).prefix(300))
    }
}
