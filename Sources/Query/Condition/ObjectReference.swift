import Foundation
import RecordStore

/// An object as a condition names it. Its number alone is ambiguous: other stores and other
/// hierarchies have objects of the same number.
package struct ObjectReference: Hashable, Sendable {
    package let storeID: UUID
    /// The object's entity; in its present generation, any of the object's hierarchy leads to it.
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

    private static let scheme = "trellis"

    /// The object's URI: spec/07-catalog.md, 7.8.
    package var uri: String {
        let name =
            entityName.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? entityName
        let suffix = generation > 0 ? ".\(generation)" : ""
        return "\(Self.scheme)://\(storeID.uuidString)/\(name)/p\(number.rawValue)\(suffix)"
    }

    /// Parses ``uri``.
    package init?(uri text: String) {
        let start = Self.scheme + "://"
        guard text.hasPrefix(start) else { return nil }
        let rest = text.dropFirst(start.count)
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        self.init(scheme: Self.scheme, host: String(rest[..<slash]), path: rest[slash...])
    }

    /// - Parameter path: with its escapes.
    package init?(scheme: String?, host: String?, path: some StringProtocol) {
        let parts = path.split(separator: "/")
        guard scheme == Self.scheme, let storeID = host.flatMap(UUID.init(uuidString:)),
            parts.count == 2, let name = String(parts[0]).removingPercentEncoding,
            parts[1].first == "p"
        else { return nil }
        let numbers = parts[1].dropFirst()
            .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let number = UInt64(numbers[0]),
            let generation = numbers.count == 1 ? 0 : UInt32(numbers[1])
        else { return nil }
        self.init(
            storeID: storeID, entityName: name, number: ObjectNumber(number),
            generation: generation)
    }
}
