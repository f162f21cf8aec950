import Primitives

/// The last saved schemas that were decoded and found valid by their layouts. A file whose model
/// was declared in another order since says the same in other bytes: it is decoded once, and then
/// recognised by them.
final class DecodedSchemas: Sendable {
    private struct Entry {
        var text: [UInt8]
        var layout: [UInt8]
        var description: SchemaDescription
    }

    static let shared = DecodedSchemas()
    /// Programs have few models, and each is some kilobytes.
    static let countMax = 4

    /// The one that was asked for last comes last.
    private let entries = Mutex<[Entry]>([])

    /// The schema of a saved text and layout; decodes them when they are not known.
    func description<Failure: Error>(
        _ text: [UInt8]?, _ layout: [UInt8]?,
        decode: () throws(Failure) -> SchemaDescription
    ) throws(Failure) -> SchemaDescription {
        guard let text, let layout else { return try decode() }
        let known: SchemaDescription? = entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.text == text && $0.layout == layout })
            else { return nil }
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry.description
        }
        if let known { return known }
        // Not under the lock: two openings at once may both decode it.
        let description = try decode()
        entries.withLock { entries in
            entries.append(Entry(text: text, layout: layout, description: description))
            entries.removeFirst(max(0, entries.count - Self.countMax))
        }
        return description
    }
}
