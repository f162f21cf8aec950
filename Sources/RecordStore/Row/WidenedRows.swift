import PageStore

/// The records of one leaf in the newest known layouts, each converted on first use. One thread.
@usableFromInline
package final class WidenedRows {
    /// Where the slots of the shortest layout end: those before are in every record.
    @usableFromInline let leastFixedSize: Int
    private let schema: Schema
    private var rows: [Int: ByteBuffer] = [:]

    init(_ schema: Schema, leastFixedSize: Int) {
        self.schema = schema
        self.leastFixedSize = leastFixedSize
    }

    private func entity(of bytes: ByteView) -> EntityLayout {
        schema.knownEntity(tag: bytes.uint16(at: RowLayout.entityTag))
    }

    /// The record at an index of the leaf, of checked bytes; valid as long as this object.
    @usableFromInline
    func row(_ index: Int, _ bytes: ByteView) -> RowView {
        if let known = rows[index] { return RowView(checked: known.view) }
        let entity = entity(of: bytes)
        guard let converted = entity.widened(bytes) ?? entity.narrowed(bytes) else {
            return RowView(checked: bytes)
        }
        rows[index] = converted
        return RowView(checked: converted.view)
    }

    /// The initial value of a slot that a record lacks; nil if there is none.
    func initialWord(slot: Int, of bytes: ByteView) -> UInt64? {
        entity(of: bytes).widening?.initialWord(slot: slot)
    }
}
