import Foundation
import RecordStore

/// An object as a condition names it. Its number alone is ambiguous: other stores and other
/// hierarchies have objects of the same number.
package struct ObjectReference: Hashable, Sendable {
    package let storeID: UUID
    /// An entity of the object's hierarchy.
    package let entityName: String
    package let number: ObjectNumber

    package init(storeID: UUID, entityName: String, number: ObjectNumber) {
        self.storeID = storeID
        self.entityName = entityName
        self.number = number
    }

    private static let scheme = "trellis://"

    /// The object's URI, except that the entity's name is not escaped.
    package var text: String {
        "\(Self.scheme)\(storeID.uuidString)/\(entityName)/p\(number.rawValue)"
    }

    /// Parses ``text``.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.scheme), let last = text.lastIndex(of: "/") else { return nil }
        let path = text[..<last].dropFirst(Self.scheme.count)
        guard let slash = path.firstIndex(of: "/"),
            let storeID = UUID(uuidString: String(path[..<slash])),
            text[last...].hasPrefix("/p"), let number = UInt64(text[last...].dropFirst(2))
        else { return nil }
        self.init(
            storeID: storeID, entityName: String(path[slash...].dropFirst()),
            number: ObjectNumber(number))
    }
}
