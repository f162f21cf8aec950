/// The saved form of a schema: JSON with sorted keys, as spec/07-catalog.md says.
///
/// Written by hand, because every opening writes it anew: a file that says the same as the program
/// needs no decoding, which took longer than the rest of an opening does.
struct SchemaText {
    private(set) var bytes: [UInt8] = []

    init(_ schema: SchemaDescription) {
        bytes.reserveCapacity(2048)
        object { text in
            text.number("formatVersion", Catalog.StoredSchema.formatVersion)
            text.name("schema")
            text.object { text in
                text.list("entities", schema.entities) { $0.append($1) }
                text.string("modelVersion", schema.modelVersion)
            }
        }
    }

    private mutating func append(_ entity: EntityDescription) {
        object { text in
            text.list("attributes", entity.attributes) { $0.append($1) }
            text.string("className", entity.className)
            text.names("indexes", entity.indexes)
            text.flag("isAbstract", entity.isAbstract)
            text.string("name", entity.name)
            text.list("relationships", entity.relationships) { $0.append($1) }
            text.string("superentityName", entity.superentityName)
            text.names("uniqueConstraints", entity.uniqueConstraints)
            text.string("versionHashModifier", entity.versionHashModifier)
        }
    }

    private mutating func append(_ attribute: AttributeDescription) {
        object { text in
            text.flag("isCoded", attribute.isCoded)
            text.flag("isOptional", attribute.isOptional)
            text.string("name", attribute.name)
            text.string("previousName", attribute.previousName)
            text.string("type", attribute.type.name)
            text.string("versionHashModifier", attribute.versionHashModifier)
        }
    }

    private mutating func append(_ relationship: RelationshipDescription) {
        object { text in
            text.string("deleteRule", relationship.deleteRule.rawValue)
            text.string("destinationEntityName", relationship.destinationEntityName)
            text.string("inverseName", relationship.inverseName)
            text.string("kind", relationship.kind.rawValue)
            text.number("maxCount", relationship.maxCount)
            text.number("minCount", relationship.minCount)
            text.string("name", relationship.name)
            text.string("previousName", relationship.previousName)
            text.string("versionHashModifier", relationship.versionHashModifier)
        }
    }

    // MARK: JSON

    private mutating func object(_ members: (inout SchemaText) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        members(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    /// A comma before all but the first of an object or a list; behind a text that ends in a
    /// bracket stands its quote.
    private mutating func separate() {
        guard let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") else {
            return
        }
        bytes.append(UInt8(ascii: ","))
    }

    private mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func number(_ name: String, _ number: Int) {
        self.name(name)
        bytes += String(number).utf8
    }

    private mutating func flag(_ name: String, _ flag: Bool) {
        self.name(name)
        bytes += (flag ? "true" : "false").utf8
    }

    /// Left out when there is none.
    private mutating func string(_ name: String, _ content: String?) {
        guard let content else { return }
        self.name(name)
        quote(content)
    }

    private mutating func list<Element>(
        _ name: String, _ elements: [Element], _ body: (inout SchemaText, Element) -> Void
    ) {
        self.name(name)
        list(elements, body)
    }

    private mutating func list<Element>(
        _ elements: [Element], _ body: (inout SchemaText, Element) -> Void
    ) {
        bytes.append(UInt8(ascii: "["))
        for element in elements {
            separate()
            body(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func names(_ name: String, _ lists: [[String]]) {
        list(name, lists) { text, names in text.list(names) { $0.quote($1) } }
    }

    private mutating func quote(_ content: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in content.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
                bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0..<0x20:
                bytes += (byte < 0x10 ? "\\u000" : "\\u00").utf8
                bytes += String(byte, radix: 16).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
