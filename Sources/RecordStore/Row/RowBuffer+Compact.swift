import PageStore

extension RowBuffer {
    /// A copy of a stored record, of which every value can be set.
    ///
    /// The values of a record that another writer has stored may share bytes with each other and
    /// with slots (spec/05, 5.2). They are moved apart, because a value is set in place. Throws
    /// `tooLarge` where that would take far more memory than the record.
    package init(
        copying row: RowView, of entity: EntityLayout, spare: Int = 0
    ) throws(StoreError) {
        let isInOrder = entity.heapForm(of: row).isInOrder
        guard let size = isInOrder ? row.bytes.count : entity.sizeApart(row),
            size + spare <= Self.sizeMax
        else { throw StoreError(.tooLarge, "a record of \(entity.name) is too long to copy") }
        self.init(copying: row, spare: spare)
        if isInOrder { return }
        let bytes = compacted(
            variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
        deallocate()
        self = bytes.withView { RowBuffer(copying: $0, spare: spare) }
    }

    /// Appends the record with its heap in slot order and without gaps: the only form in which a
    /// record is stored, so that equal records have equal bytes.
    package func compact(into buffer: ByteBuffer, variableOffsets: [Int], fixedSize: Int) {
        let row = view
        let start = buffer.count
        buffer.append(row.bytes.slice(from: 0, count: fixedSize))
        for offset in variableOffsets {
            guard !row.isNull(at: offset) else {
                buffer.setUInt64(0, at: start + offset)
                continue
            }
            buffer.setUInt32(UInt32(buffer.count - start), at: start + offset)
            buffer.append(row.heapBytes(at: offset))
        }
    }

    /// Whether the record has the stored form already.
    package func isCompact(variableOffsets: [Int], fixedSize: Int) -> Bool {
        let row = view
        var end = fixedSize
        for offset in variableOffsets {
            guard !row.isNull(at: offset) else {
                guard row.uint(at: offset) == 0 else { return false }
                continue
            }
            let (start, count) = row.heap(at: offset)
            guard start == end else { return false }
            end += count
        }
        return end == row.bytes.count
    }

    package func compacted(variableOffsets: [Int], fixedSize: Int) -> [UInt8] {
        let buffer = ByteBuffer(capacity: Int(size))
        compact(into: buffer, variableOffsets: variableOffsets, fixedSize: fixedSize)
        return buffer.view.array()
    }
}
