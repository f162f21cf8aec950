/// Identifies the plan of a migration: an interrupted migration is resumed only by an equal plan.
/// Of the program's closures it covers only that they exist, and of those that are made of a file
/// also the content.
struct PlanFingerprint {
    /// Must change whenever the passes of a plan change, in sequence or in effect.
    private static let sequenceVersion = 14

    private var bytes: [UInt8] = []

    /// - Parameter stored: the schema of the file.
    init(_ stored: Schema, _ versions: [MigrationStep]) {
        append("\(Self.sequenceVersion)")
        append(SchemaExport.text(stored.description))
        append(StoredLayout.bytes(of: stored))
        for version in versions {
            append(SchemaExport.text(version.schema))
            append(version.allowedLoss.words)
            for mapping in version.mappings ?? [] { append(mapping.words) }
            append(version.mappings == nil ? "inferred" : "mapped")
            append(version.mappingContent)
            append(version.initialValues.keys.map(\.description).sorted().joined(separator: ","))
        }
    }

    var value: UInt64 { ContentHash.hash(bytes) }

    private mutating func append(_ text: String) { append(Array(text.utf8)) }

    /// Prefixes the length, so that different sequences of parts differ in bytes.
    private mutating func append(_ part: [UInt8]) {
        let count = UInt64(part.count)
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: count >> shift))
        }
        bytes += part
    }
}
