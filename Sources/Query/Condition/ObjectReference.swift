import Foundation
import RecordStore

/// An object as a condition names it. Its number alone is ambiguous: other stores and other
/// hierarchies have objects of the same number.
package struct ObjectReference: Hashable, Sendable {
    package let storeID: UUID
    /// An entity of the object's hierarchy.
    package let entityName: String
    package let number: ObjectNumber
    /// The migrations that have changed what the name and the number lead to: see `MovedObjects`.
    package let generation: UInt32

    package init(
        storeID: UUID, entityName: String, number: ObjectNumber, generation: UInt32 = 0
    ) {
        self.storeID = storeID
        self.entityName = entityName
        self.number = number
        self.generation = generation
    }

    private static let scheme = "trellis://"

    /// The object's URI, except that the entity's name is not escaped.
    package var text: String { text(entityName) }

    /// The object's URI.
    package var escapedText: String {
        text(
            entityName.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? entityName)
    }

    private func text(_ name: String) -> String {
        let suffix = generation > 0 ? ".\(generation)" : ""
        return "\(Self.scheme)\(storeID.uuidString)/\(name)/p\(number.rawValue)\(suffix)"
    }

    /// Parses ``escapedText``.
    package init?(escaped text: String) {
        guard let escaped = ObjectReference(text),
            let name = escaped.entityName.removingPercentEncoding
        else { return nil }
        self.init(
            storeID: escaped.storeID, entityName: name, number: escaped.number,
            generation: escaped.generation)
    }

    /// Parses ``text``.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.scheme), let last = text.lastIndex(of: "/") else { return nil }
        let path = text[..<last].dropFirst(Self.scheme.count)
        guard let slash = path.firstIndex(of: "/"),
            let storeID = UUID(uuidString: String(path[..<slash])),
            text[last...].hasPrefix("/p")
        else { return nil }
        let parts = text[last...].dropFirst(2).split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let number = UInt64(parts[0]),
            let generation = parts.count == 1 ? 0 : UInt32(parts[1])
        else { return nil }
        self.init(
            storeID: storeID, entityName: String(path[slash...].dropFirst()),
            number: ObjectNumber(number), generation: generation)
    }
}
