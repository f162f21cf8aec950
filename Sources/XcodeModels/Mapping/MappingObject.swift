import Foundation

/// An object of an `xcmapping.xml`, with its attributes and the IDs that its relationships name.
struct MappingObject {
    enum Kind: String {
        case model = "XDDEVMAPPINGMODEL"
        case entity = "XDDEVENTITYMAPPING"
        case attribute = "XDDEVATTRIBUTEMAPPING"
        case relationship = "XDDEVRELATIONSHIPMAPPING"

        /// The attributes that the reader knows. Those of which it reads nothing have no influence
        /// on objects: copies of the models, and notes of the author.
        fileprivate var attributeNames: Set<String> {
            switch self {
            case .model:
                [
                    "sourcemodelpath", "destinationmodelpath", "sourcemodeldata",
                    "destinationmodeldata",
                ]
            case .entity:
                [
                    "name", "sourcename", "destinationname", "mappingtypename", "mappingnumber",
                    "autogenerateexpression", "migrationpolicyclassname",
                    "sourcefilterpredicatestring", "sourceexpressiondata", "userinfodata",
                ]
            case .attribute:
                ["name", "autogenerateexpression", "valueexpressiondata", "userinfodata"]
            case .relationship:
                [
                    "name", "autogenerateexpression", "valueexpressiondata", "userinfodata",
                    "sourcekeypath", "sourcemappingname",
                ]
            }
        }

        fileprivate var relationshipNames: Set<String> {
            switch self {
            case .model: ["entitymappings"]
            case .entity: ["mappingmodel", "attributemappings", "relationshipmappings"]
            case .attribute, .relationship: ["entitymapping"]
            }
        }
    }

    let kind: Kind
    let id: String
    let references: [String: [String]]
    private let values: [String: String]
    private let line: Int
    private let fileURL: URL

    init(_ element: MarkupElement, of fileURL: URL) throws(XcodeModelError) {
        func failure(
            _ code: XcodeModelError.Code, _ message: String, _ line: Int
        ) -> XcodeModelError {
            XcodeModelError(code, fileURL, line: line, message)
        }
        let type = element["type"] ?? ""
        guard let kind = Kind(rawValue: type.uppercased()) else {
            throw failure(
                .unsupported, "an object is of the type “\(type.prefix(100))”", element.line)
        }
        guard let id = element["id"] else {
            throw failure(.invalidModel, "an object has no ID", element.line)
        }
        var values: [String: String] = [:]
        var references: [String: [String]] = [:]
        for child in element.children {
            let name = child["name"]?.lowercased() ?? ""
            let isKnown: Bool
            switch child.name {
            case "attribute":
                isKnown =
                    kind.attributeNames.contains(name)
                    && values.updateValue(child.text, forKey: name) == nil
            case "relationship":
                let ids = (child["idrefs"] ?? "").split(separator: " ").map(String.init)
                isKnown =
                    kind.relationshipNames.contains(name)
                    && references.updateValue(ids, forKey: name) == nil
            default: isKnown = false
            }
            guard isKnown, child.children.isEmpty else {
                throw failure(
                    .unsupported,
                    "a \(type.prefix(100)) has the \(child.name.prefix(100)) "
                        + "“\(name.prefix(100))”, or has it twice", child.line)
            }
        }
        self.kind = kind
        self.id = id
        self.values = values
        self.references = references
        line = element.line
        self.fileURL = fileURL
    }

    /// An attribute that says something.
    subscript(_ name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    func failure(_ code: XcodeModelError.Code, _ message: String) -> XcodeModelError {
        XcodeModelError(code, fileURL, line: line, message)
    }

    func required(_ name: String) throws(XcodeModelError) -> String {
        guard let value = self[name] else {
            throw failure(.invalidModel, "a \(kind.rawValue) has no \(name)")
        }
        return value
    }

    func flag(_ name: String) throws(XcodeModelError) -> Bool {
        switch self[name] {
        case "1": return true
        case "0", nil: return false
        case let value?:
            throw failure(.invalidModel, "\(name) is “\(value.prefix(100))”, not 0 or 1")
        }
    }

    func number(_ name: String) throws(XcodeModelError) -> Int {
        guard let text = self[name] else { return 0 }
        guard let number = Int16(text) else {
            throw failure(.invalidModel, "\(name) is “\(text.prefix(100))”, which is no number")
        }
        return Int(number)
    }

    /// The version of a model by the path of its file, such as `A.xcdatamodeld/A 2.xcdatamodel`.
    func version(_ name: String) -> String? {
        guard let file = self[name]?.split(separator: "/").last, file.hasSuffix(".xcdatamodel")
        else { return nil }
        return String(file.dropLast(".xcdatamodel".count))
    }
}
