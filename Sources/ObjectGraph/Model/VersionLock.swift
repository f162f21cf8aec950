import RecordStore

/// The hashes of a schema's entities, written down to find changes of a class that were not
/// intended.
public struct VersionLock: ExpressibleByDictionaryLiteral, Equatable, Sendable,
    CustomStringConvertible
{
    /// A part of a hash: 64 bits.
    public typealias HashElement = UInt64
    /// The name of an entity.
    public typealias Key = EntityName
    /// The hash of an entity.
    public typealias Value = [HashElement]

    /// The hashes as bytes.
    public let hashesByEntityName: [EntityName: Data]

    public init(dictionaryLiteral elements: (EntityName, [HashElement])...) {
        self.init(Dictionary(elements) { first, _ in first })
    }

    /// The hashes as they are printed in the log.
    public init(_ hashes: [EntityName: [HashElement]]) {
        hashesByEntityName = hashes.mapValues { words in
            Data(words.flatMap { word in (0..<8).map { UInt8(word >> UInt64(8 * $0) & 0xFF) } })
        }
    }

    /// The hashes of a schema; `versionHashes` defines what they cover.
    init(_ schema: SchemaDescription) { self.init(schema.versionHashes) }

    public var description: String {
        let lines = hashesByEntityName.sorted { $0.key < $1.key }.map { name, data in
            let words = stride(from: 0, to: data.count, by: 8).map { start in
                let word = (0..<8).reduce(UInt64(0)) {
                    $0 | UInt64(data[start + $1]) << UInt64(8 * $1)
                }
                return "0x" + String(word, radix: 16)
            }
            return "    \(String(reflecting: name)): [\(words.joined(separator: ", "))]"
        }
        return "[\n\(lines.joined(separator: ",\n"))\n]"
    }
}
