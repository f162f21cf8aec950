import RecordStore

/// An object of a list: its number, and the position of its store in the list.
///
/// Items are ordered like objects of equal sort values in a fetch: by store, then by number.
package struct ListItem: Hashable, Comparable, Sendable {
    /// The bits of the number; the store's position is above them.
    private static let numberBits: UInt64 = 56

    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Nil for a number or a position that does not fit, which only a damaged file has.
    package init?(_ number: ObjectNumber, store: Int = 0) {
        guard number.rawValue >> Self.numberBits == 0, (0..<256).contains(store) else { return nil }
        rawValue = UInt64(store) << Self.numberBits | number.rawValue
    }

    package var number: ObjectNumber { ObjectNumber(rawValue & (1 << Self.numberBits - 1)) }

    package var store: Int { Int(rawValue >> Self.numberBits) }

    package static func < (left: ListItem, right: ListItem) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// An entry to be inserted into a list.
package struct ListEntry: Sendable {
    package var item: ListItem
    /// The whole sort key; keys of one list have the same columns, so that none is a proper prefix
    /// of another.
    package var key: [UInt8]
    /// Whether the key is whole; if not, it may not decide how the entry compares with others.
    package var isKeyWhole = true
    /// The interned section.
    package var section: UInt32
    /// The step that inserted or last updated it.
    package var stamp: UInt32

    package init(item: ListItem, key: [UInt8] = [], section: UInt32 = 0, stamp: UInt32 = 0) {
        self.item = item
        self.key = key
        self.section = section
        self.stamp = stamp
    }
}

/// A position in a list to search for.
package struct ListProbe {
    package var key: [UInt8]
    package var item: ListItem
    /// Whether an entry has this item and this key: then no record is read to compare the two.
    package var isInList: Bool

    package init(key: [UInt8], item: ListItem, isInList: Bool) {
        self.key = key
        self.item = item
        self.isInList = isInList
    }

    /// Whether this position comes before another one.
    func precedes(_ other: ListProbe) -> Bool {
        let order = key.withView { key in other.key.withView { key.compare($0) } }
        return order == 0 ? item < other.item : order < 0
    }
}
