import PageStore

extension RowBuffer {
    /// The record with its heap in the order of its slots and nothing unused between: the one form
    /// in which a record is stored, so that equal records have equal bytes.
    package func compacted(variableOffsets: [Int], fixedSize: Int) -> [UInt8] {
        let row = view
        var bytes = row.bytes.slice(from: 0, count: fixedSize).array()
        for offset in variableOffsets {
            guard !row.isNull(at: offset) else {
                for index in 0..<8 { bytes[offset + index] = 0 }
                continue
            }
            let content = row.heapBytes(at: offset)
            let start = UInt32(bytes.count)
            for index in 0..<4 { bytes[offset + index] = UInt8(start >> (8 * index) & 0xFF) }
            content.withSpan { span in
                for index in span.indices { bytes.append(span[index]) }
            }
        }
        return bytes
    }
}
