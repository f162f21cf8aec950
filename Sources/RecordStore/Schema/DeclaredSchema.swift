import PageStore

/// A program's schema before the layout of the file is known. It is resolved once, by the layout
/// of the file or as a new file would have it: resolving takes longer than comparing layouts.
final class DeclaredSchema {
    let description: SchemaDescription
    private var builder: SchemaBuilder
    private var resolved: Schema?

    /// Throws `invalidModel` for a description that contradicts itself, naming the contradiction.
    init(_ description: SchemaDescription) throws(StoreError) {
        try SchemaCheck.validate(description)
        self.description = description
        builder = SchemaBuilder(description)
    }

    init(_ schema: Schema) {
        description = schema.description
        builder = SchemaBuilder(schema.description)
        resolved = schema
    }

    /// The schema of a new file.
    var schema: Schema {
        if let resolved { return resolved }
        let schema = Schema(declared: builder)
        resolved = schema
        return schema
    }

    /// The schema of a file with a layout; throws as ``Schema`` does for one of another schema.
    func schema(layout: [UInt8], page: PageID) throws(StoreError) -> Schema {
        builder.placeFields()
        if layout == (resolved?.storedLayout ?? StoredLayout(entities: builder.declared)).bytes {
            return schema
        }
        return try Schema(checked: description, layout: layout, page: page)
    }
}
