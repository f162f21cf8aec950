/// The saved form of a schema: JSON with sorted keys, as defined in spec/07-catalog.md.
///
/// Written without an encoder, because every opening generates it. If the file has equal bytes,
/// nothing is decoded, which took longer than the rest of an opening.
struct SchemaText {
    let bytes: [UInt8]

    init(_ schema: SchemaDescription) {
        var json = JSONWriter()
        json.reserve(2048)
        json.object { json in
            json.member("formatVersion", Catalog.StoredSchema.formatVersion)
            json.name("schema")
            json.append(schema, hasDefaults: false)
        }
        bytes = json.bytes
    }
}

extension JSONWriter {
    /// - Parameter hasDefaults: whether attributes have their defaults: see ``SchemaExport``.
    mutating func append(_ schema: SchemaDescription, hasDefaults: Bool) {
        object { json in
            json.member("entities", schema.entities) { $0.append($1, hasDefaults) }
            json.member("modelVersion", schema.modelVersion)
        }
    }

    private mutating func append(_ entity: EntityDescription, _ hasDefaults: Bool) {
        object { json in
            json.member("attributes", entity.attributes) { $0.append($1, hasDefaults) }
            json.member("className", entity.className)
            json.member("indexes", entity.indexes)
            json.member("isAbstract", entity.isAbstract)
            json.member("name", entity.name)
            json.member("previousName", entity.previousName)
            json.member("relationships", entity.relationships) { $0.append($1) }
            json.member("superentityName", entity.superentityName)
            json.member("uniqueConstraints", entity.uniqueConstraints)
            json.member("versionHashModifier", entity.versionHashModifier)
        }
    }

    private mutating func append(_ attribute: AttributeDescription, _ hasDefaults: Bool) {
        object { json in
            if hasDefaults, attribute.defaultValue != .null {
                json.name("default")
                json.append(SchemaDefault(attribute.defaultValue, attribute.type))
            }
            json.member("isCoded", attribute.isCoded)
            json.member("isOptional", attribute.isOptional)
            json.member("name", attribute.name)
            json.member("previousName", attribute.previousName)
            json.member("type", attribute.type.name)
            json.member("versionHashModifier", attribute.versionHashModifier)
        }
    }

    private mutating func append(_ relationship: RelationshipDescription) {
        object { json in
            json.member("deleteRule", relationship.deleteRule.rawValue)
            json.member("destinationEntityName", relationship.destinationEntityName)
            json.member("inverseName", relationship.inverseName)
            json.member("kind", relationship.kind.rawValue)
            json.member("maxCount", relationship.maxCount)
            json.member("minCount", relationship.minCount)
            json.member("name", relationship.name)
            json.member("previousName", relationship.previousName)
            json.member("versionHashModifier", relationship.versionHashModifier)
        }
    }

    // MARK: Members

    fileprivate mutating func member(_ name: String, _ number: Int) {
        self.name(name)
        self.number(String(number))
    }

    private mutating func member(_ name: String, _ flag: Bool) {
        self.name(name)
        bool(flag)
    }

    /// Omitted if there is none.
    fileprivate mutating func member(_ name: String, _ content: String?) {
        guard let content else { return }
        self.name(name)
        string(content)
    }

    fileprivate mutating func member<Element>(
        _ name: String, _ elements: [Element], _ body: (inout JSONWriter, Element) -> Void
    ) {
        self.name(name)
        list(elements, body)
    }

    private mutating func member(_ name: String, _ lists: [[String]]) {
        member(name, lists) { json, names in json.list(names) { $0.string($1) } }
    }
}
