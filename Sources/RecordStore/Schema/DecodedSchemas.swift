import Primitives

/// A cache of the last saved schemas that were decoded and validated with their layouts. If a model
/// has since been declared in another order, its saved bytes differ from the program's: they are
/// decoded once, and recognised afterwards.
final class DecodedSchemas: Sendable {
    private struct Entry {
        var text: [UInt8]
        var layout: [UInt8]
        var description: SchemaDescription
    }

    static let shared = DecodedSchemas()
    /// Programs have few models, and each is some kilobytes.
    static let countMax = 4

    /// The least recently used first.
    private let entries = Mutex<[Entry]>([])

    /// The schema of a saved text and layout, which are decoded on a miss.
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
        // Not under the lock: two concurrent openings may both decode it.
        let description = try decode()
        entries.withLock { entries in
            entries.append(Entry(text: text, layout: layout, description: description))
            entries.removeFirst(max(0, entries.count - Self.countMax))
        }
        return description
    }
}
