import Primitives

/// The name of a logical page. It stays when the page's bytes move; zero names no page.
@frozen
package struct PageID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    @inlinable package init(rawValue: UInt64) { self.rawValue = rawValue }
    @inlinable package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    @inlinable
    package static func < (left: PageID, right: PageID) -> Bool { left.rawValue < right.rawValue }

    /// The id as a tree keeps it in an entry.
    func encoded() -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: rawValue >> UInt64(8 * $0)) }
    }

    package var description: String { "page \(rawValue)" }
}

/// A tree, named by its root page. A root page never changes, so a tree's name holds for life.
@frozen
package struct TreeID: Hashable, Sendable {
    package let root: PageID

    @inlinable package init(root: PageID) { self.root = root }

    /// A tree without entries, for readers of a store that lacks a tree. It has no page, so that it
    /// cannot be changed, and no store names it.
    package static let empty = TreeID(root: PageID(0))
}

extension IntegerMap {
    /// The value of a page.
    subscript(id: PageID) -> Value? {
        @inline(__always) get { self[id.rawValue] }
        @inline(__always) set { self[id.rawValue] = newValue }
    }
}
