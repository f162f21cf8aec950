/// What a key takes from a record for one column: a layout without its names, which loops over
/// records copy for nothing.
struct KeyColumn {
    let byteOffset: Int
    /// Nil for a link.
    let type: AttributeType?
    let isVariable: Bool

    init(_ field: FieldLayout) {
        byteOffset = field.byteOffset
        type = field.type
        isVariable = field.isVariable
    }
}
