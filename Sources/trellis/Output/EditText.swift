import RecordStore

/// The differences of two schemas as JSON.
enum EditText {
    static func json(_ edits: [SchemaEdit]) -> JSONText { .array(edits.map(json)) }

    private static func json(_ edit: SchemaEdit) -> JSONText {
        let facts = edit.facts
        func text(_ content: String?) -> JSONText { content.map { .string($0) } ?? .null }
        var members: [(name: String, value: JSONText)] = [
            (name: "edit", value: .string(facts.kind)),
            (name: "entity", value: .string(facts.entityName)),
            (name: "property", value: text(facts.propertyName)),
            (name: "from", value: text(facts.from)),
            (name: "to", value: text(facts.to)),
        ]
        if let columns = facts.columns {
            members.append((name: "columns", value: .array(columns.map { .string($0) })))
        }
        members.append((name: "needsMigration", value: .bool(edit.needsMigration)))
        members.append((name: "text", value: .string(edit.description)))
        return .object(members)
    }
}
