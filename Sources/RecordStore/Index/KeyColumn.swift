/// How a key reads one column of a record: a layout without its names, which loops over records
/// would copy for nothing.
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
