extension CoreStoreObject {
    /// The object's values; empty until they are first needed.
    @usableFromInline @inline(__always)
    final var row: FieldRow {
        @inlinable @inline(__always) get {
            // Safety: a row is two words that are read at once, by the one thread that may use the
            // object; no access calls anything that could begin another one.
            unsafe storedRow
        }
        @inlinable @inline(__always) _modify {
            // Safety: a store into the row reads nothing else of the object before it is done, and
            // it works in place, so that a value type that reads its object finds a whole row.
            yield unsafe &storedRow
        }
    }

    /// Bits of the slots that the transaction assigned; the last bit stands for all behind it.
    @usableFromInline
    final var assigned: UInt64 {
        // Safety: one word, read and written at once.
        @inlinable @inline(__always) get { unsafe storedAssigned }
        @inlinable @inline(__always) set { unsafe storedAssigned = newValue }
    }

    /// Whether the object has changes that the record transaction does not have yet, and its row
    /// in memory: another write needs no more than its bit.
    @usableFromInline
    final var isOpen: Bool {
        // Safety: one byte, read and written at once.
        @inlinable @inline(__always) get { unsafe storedIsOpen }
        @inlinable @inline(__always) set { unsafe storedIsOpen = newValue }
    }
}
