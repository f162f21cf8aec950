import PageStore

/// The slots of an entity in a file's layout, including those of its superentities.
struct StoredSlots {
    /// The slot counts that records may have, ascending; the last is that of new records.
    var counts: [Int]
    /// The values of later properties in older records, by slot; none for nil.
    var initialValues: [Int: [UInt8]] = [:]
    /// Slots of removed properties.
    var retired: [Int] = []
}

/// Converts records of older layouts to an entity's newest one. An older record only lacks the last
/// slots, so that its slots stay in place and only its heap moves.
///
/// Records are widened when they are read from their page, so that all other code sees one layout.
struct RecordWidening: Sendable {
    /// A slot that some records lack.
    private struct LaterSlot {
        var slot: Int
        var byteOffset: Int
        var isVariable: Bool
        var initialValue: [UInt8]?
    }

    /// A layout before the newest one.
    struct Older {
        var slotCount: Int
        var fixedSize: Int
        var variableOffsets: [Int]

        /// Whether bytes from a file, of the layout's entity, are a record of it.
        func check(_ bytes: ByteView) -> Bool {
            EntityLayout.check(
                bytes, slotCount: slotCount, fixedSize: fixedSize, variableOffsets)
        }
    }

    /// Ascending.
    private let older: [Older]
    private let slotCount: Int
    private let fixedSize: Int
    /// In slot order.
    private let laterSlots: [LaterSlot]

    /// Nil if all records have one layout. The slots must have been checked.
    init?(_ slots: StoredSlots, _ fields: [FieldLayout]) {
        guard let newest = slots.counts.last, slots.counts.count > 1 else { return nil }
        slotCount = newest
        fixedSize = RowLayout.fixedSize(slotCount: newest)
        let offsets = fields.filter(\.isVariable).map(\.byteOffset).sorted()
        older = slots.counts.dropLast().map { count in
            let size = RowLayout.fixedSize(slotCount: count)
            return Older(
                slotCount: count, fixedSize: size, variableOffsets: offsets.filter { $0 < size })
        }
        let variable = Set(offsets)
        laterSlots = (slots.counts[0]..<newest).map { slot in
            let byteOffset = RowLayout.byteOffset(slot: slot)
            return LaterSlot(
                slot: slot, byteOffset: byteOffset, isVariable: variable.contains(byteOffset),
                initialValue: slots.initialValues[slot])
        }
    }

    var leastFixedSize: Int { older[0].fixedSize }

    /// The older layout of bytes from a file; nil if they are not a valid record of one.
    func layout(of bytes: ByteView) -> Older? {
        guard bytes.count >= RowLayout.headerSize else { return nil }
        let count = Int(bytes.uint16(at: RowLayout.slotCount))
        return older.first { $0.slotCount == count && $0.check(bytes) }
    }

    /// The initial value of an eight-byte slot that a record lacks; nil if it has none.
    func initialWord(slot: Int) -> UInt64? {
        guard let first = laterSlots.first?.slot, slot >= first, slot < slotCount,
            let bytes = laterSlots[slot - first].initialValue, bytes.count == 8
        else { return nil }
        return bytes.withView { $0.uint64(at: 0) }
    }

    /// Converts a record that was checked to have an older layout to the newest one.
    func widened(_ bytes: ByteView, _ layout: Older) -> ByteBuffer {
        let growth = fixedSize - layout.fixedSize
        let buffer = ByteBuffer(capacity: bytes.count + growth + 64)
        buffer.append(bytes.slice(from: 0, count: layout.fixedSize))
        buffer.appendZeros(growth)
        buffer.append(bytes.dropFirst(layout.fixedSize))
        let header = bytes.uint64(at: 0) & ~(0xFFFF << 32) | UInt64(slotCount) << 32
        buffer.setUInt64(header, at: 0)
        for offset in layout.variableOffsets {
            let start = Int(bytes.uint32(at: offset))
            if start >= layout.fixedSize { buffer.setUInt32(UInt32(start + growth), at: offset) }
        }
        for later in laterSlots where later.slot >= layout.slotCount { set(later, in: buffer) }
        return buffer
    }

    private func set(_ later: LaterSlot, in buffer: ByteBuffer) {
        let null = RowLayout.nullBit(byteOffset: later.byteOffset)
        let word = buffer.view.uint64(at: null.wordOffset)
        guard let value = later.initialValue else {
            buffer.setUInt64(word | 1 << null.bit, at: null.wordOffset)
            return
        }
        buffer.setUInt64(word & ~(1 << null.bit), at: null.wordOffset)
        guard later.isVariable else {
            value.withView { buffer.setUInt64($0.uint64(at: 0), at: later.byteOffset) }
            return
        }
        buffer.setUInt32(UInt32(buffer.count), at: later.byteOffset)
        buffer.setUInt32(UInt32(value.count), at: later.byteOffset + 4)
        value.withView { buffer.append($0) }
    }
}

extension EntityLayout {
    /// Whether bytes from a file are a record of a later layout, which only adds slots.
    @inline(never)
    func checkLater(_ bytes: ByteView) -> Bool {
        guard bytes.count >= RowLayout.headerSize else { return false }
        let count = Int(bytes.uint16(at: RowLayout.slotCount))
        return count > slotCount && count <= RowLayout.slotCountMax
            && Self.check(
                bytes, slotCount: count, fixedSize: RowLayout.fixedSize(slotCount: count),
                variableOffsets)
    }

    /// A record of a later layout in the newest one that is known: without its last slots. Nil if
    /// the bytes do not have a later one.
    @inline(never)
    func narrowed(_ bytes: ByteView) -> ByteBuffer? {
        guard checkLater(bytes) else { return nil }
        let laterSize = RowLayout.fixedSize(
            slotCount: Int(bytes.uint16(at: RowLayout.slotCount)))
        let buffer = ByteBuffer(capacity: bytes.count)
        buffer.append(bytes.slice(from: 0, count: fixedSize))
        buffer.append(bytes.dropFirst(laterSize))
        let header = bytes.uint64(at: 0) & ~(0xFFFF << 32) | UInt64(slotCount) << 32
        buffer.setUInt64(header, at: 0)
        for offset in variableOffsets {
            let start = Int(bytes.uint32(at: offset))
            guard start >= laterSize else { continue }
            buffer.setUInt32(UInt32(start - (laterSize - fixedSize)), at: offset)
        }
        // A value outside the heap may not be inside the shorter record.
        return check(buffer.view) ? buffer : nil
    }

    /// The older layout of the entity that bytes from a file have; nil if they have none.
    @inline(never)
    func older(_ bytes: ByteView) -> RecordWidening.Older? { widening?.layout(of: bytes) }

    /// The record in the newest layout; nil if the bytes do not have an older one.
    @inline(never)
    func widened(_ bytes: ByteView) -> ByteBuffer? {
        guard let widening, let layout = widening.layout(of: bytes) else { return nil }
        return widening.widened(bytes, layout)
    }
}
