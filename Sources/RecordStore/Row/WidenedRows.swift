import PageStore

/// The records of one leaf in the newest layouts, each made when it is first asked for. One thread.
@usableFromInline
package final class WidenedRows {
    private let schema: Schema
    private var rows: [Int: ByteBuffer] = [:]

    init(_ schema: Schema) { self.schema = schema }

    private func entity(of bytes: ByteView) -> EntityLayout {
        schema.knownEntity(tag: bytes.uint16(at: RowLayout.entityTag))
    }

    /// A record by its place in the leaf, of bytes that were checked; valid as long as this is.
    @usableFromInline
    func row(_ index: Int, _ bytes: ByteView) -> RowView {
        if let known = rows[index] { return RowView(checked: known.view) }
        guard let widened = entity(of: bytes).widened(bytes) else { return RowView(checked: bytes) }
        rows[index] = widened
        return RowView(checked: widened.view)
    }

    /// The word of a slot that a record lacks; nil for none.
    func initialWord(slot: Int, of bytes: ByteView) -> UInt64? {
        entity(of: bytes).widening?.initialWord(slot: slot)
    }
}
