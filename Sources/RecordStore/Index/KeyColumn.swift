/// One column of a key: a field layout without its names, which loops over records would otherwise
/// copy.
package struct KeyColumn {
    let byteOffset: Int
    /// Nil for a link.
    let type: AttributeType?
    let isVariable: Bool

    package init(_ field: FieldLayout) {
        byteOffset = field.byteOffset
        type = field.type
        isVariable = field.isVariable
    }
}
