/// What tells the plan of a migration from others: an interrupted one goes on where it is the same.
/// Of the program's closures it knows only that they are there.
struct PlanFingerprint {
    /// Changes whenever the passes of a plan become others, or do something else.
    private static let sequenceVersion = 2

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
            append(version.initialValues.keys.map(\.description).sorted().joined(separator: ","))
        }
    }

    var value: UInt64 { ContentHash.hash(bytes) }

    private mutating func append(_ text: String) { append(Array(text.utf8)) }

    /// With its length, so that two parts are never taken for others.
    private mutating func append(_ part: [UInt8]) {
        let count = UInt64(part.count)
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: count >> shift))
        }
        bytes += part
    }
}
