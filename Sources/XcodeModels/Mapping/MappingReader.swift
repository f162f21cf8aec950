import Foundation

/// The mapping of one pair of entities in a mapping model.
struct EntityMappingModel: Equatable {
    let sourceName: String?
    let destinationName: String?
    /// The values of attributes of the later entity that have an expression of their own.
    let values: [String: MappedValue]
}

/// A mapping model: the versions it leads from and to, as Xcode notes their files, and its
/// mappings in the model's order.
struct MappingModelFile {
    let sourceVersion: String?
    let destinationVersion: String?
    let entityMappings: [EntityMappingModel]
}

/// Makes a mapping model of the elements of an `xcmapping.xml`.
///
/// The file is a store of Xcode's editor: objects with attributes, which name each other by their
/// IDs. One is the model, others are the mappings of entities, attributes and relationships. An
/// object or an attribute that is not listed here is refused by name, as it may change what the
/// mapping means.
struct MappingReader {
    /// The document type that Xcode writes; it is taken out before the text is parsed.
    static let documentType =
        "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">"
    /// The file has both models in it, as archives of the editor.
    static let fileSizeInBytesMax = 32 * 1024 * 1024

    private let fileURL: URL
    private var objects: [String: MappingObject] = [:]

    static func read(_ fileURL: URL) throws(XcodeModelError) -> MappingModelFile {
        let contents = try BoundedFile.read(fileURL, sizeInBytesMax: fileSizeInBytesMax)
        return try model(
            MarkupReader.parse(contents, of: fileURL, documentType: documentType), of: fileURL)
    }

    static func model(
        _ root: MarkupElement, of fileURL: URL
    ) throws(XcodeModelError) -> MappingModelFile {
        guard root.name == "database" else {
            throw XcodeModelError(
                .invalidModel, fileURL, line: root.line,
                "the outermost element is “\(root.name.prefix(100))”, not “database”")
        }
        var reader = MappingReader(fileURL: fileURL)
        return try reader.read(root)
    }

    private init(fileURL: URL) { self.fileURL = fileURL }

    private mutating func read(_ root: MarkupElement) throws(XcodeModelError) -> MappingModelFile {
        for child in root.children where !["databaseInfo", "object"].contains(child.name) {
            throw XcodeModelError(
                .unsupported, fileURL, line: child.line,
                "a mapping model has an element “\(child.name.prefix(100))”")
        }
        var models: [MappingObject] = []
        for element in root.children("object") {
            let object = try MappingObject(element, of: fileURL)
            guard objects.updateValue(object, forKey: object.id) == nil else {
                throw object.failure(.invalidModel, "two objects have the ID “\(object.id)”")
            }
            if object.kind == .model { models.append(object) }
        }
        guard models.count == 1 else {
            throw XcodeModelError(
                .invalidModel, fileURL, "the file has \(models.count) mapping models, and not one")
        }
        var mappings: [(number: Int, mapping: EntityMappingModel)] = []
        for object in try targets("entitymappings", of: models[0], .entity) {
            mappings.append((try object.number("mappingnumber"), try mapping(object)))
        }
        return MappingModelFile(
            sourceVersion: models[0].version("sourcemodelpath"),
            destinationVersion: models[0].version("destinationmodelpath"),
            entityMappings: mappings.sorted { $0.number < $1.number }.map(\.mapping))
    }

    /// The objects that a relationship names, each of one kind and named once.
    private func targets(
        _ name: String, of object: MappingObject, _ kind: MappingObject.Kind
    ) throws(XcodeModelError) -> [MappingObject] {
        var found: [MappingObject] = []
        var seen: Set<String> = []
        for id in object.references[name] ?? [] {
            guard let target = objects[id], target.kind == kind, seen.insert(id).inserted else {
                throw object.failure(
                    .invalidModel, "\(name) names “\(id.prefix(100))”, which is no such object")
            }
            found.append(target)
        }
        return found
    }

    // MARK: Entities

    private func mapping(_ object: MappingObject) throws(XcodeModelError) -> EntityMappingModel {
        let (source, destination) = (object["sourcename"], object["destinationname"])
        guard let name = destination ?? source else {
            throw object.failure(.invalidModel, "a mapping has neither of two entities")
        }
        try checkEntity(object, name)
        var values: [String: MappedValue] = [:]
        for attribute in try targets("attributemappings", of: object, .attribute) {
            let property = try attribute.required("name")
            guard let value = try value(of: attribute, "\(name).\(property)") else { continue }
            guard source != nil || value.isConstant else {
                throw attribute.failure(
                    .invalidModel, "\(name).\(property) is of a source, and \(name) has none")
            }
            guard values.updateValue(value, forKey: property) == nil else {
                throw attribute.failure(.invalidModel, "\(name).\(property) is mapped twice")
            }
        }
        for relationship in try targets("relationshipmappings", of: object, .relationship) {
            try checkRelationship(relationship, name)
        }
        return EntityMappingModel(
            sourceName: source, destinationName: destination, values: values)
    }

    /// Refuses what needs code of the program, or a fetch that the mapping defines.
    private func checkEntity(
        _ object: MappingObject, _ name: String
    ) throws(XcodeModelError) {
        if let policy = object["migrationpolicyclassname"] {
            throw object.failure(
                .unsupported,
                "the mapping of \(name) has the policy class “\(policy.prefix(100))”: write it as "
                    + "the transformer of a CustomSchemaMappingProvider")
        }
        if let predicate = object["sourcefilterpredicatestring"], predicate != "TRUEPREDICATE" {
            throw object.failure(
                .unsupported,
                "the mapping of \(name) has the filter “\(predicate.prefix(100))”")
        }
        let isAutomatic = try object.flag("autogenerateexpression")
        guard isAutomatic || object["sourceexpressiondata"] == nil else {
            throw object.failure(
                .unsupported, "the mapping of \(name) has a source expression of its own")
        }
        if let type = object["mappingtypename"], type != "Undefined" {
            throw object.failure(
                .unsupported, "the mapping of \(name) is of the type “\(type.prefix(100))”")
        }
    }

    /// Links follow by themselves, as the expression that Xcode generates has it.
    private func checkRelationship(
        _ object: MappingObject, _ entityName: String
    ) throws(XcodeModelError) {
        let name = try object.required("name")
        let isAutomatic = try object.flag("autogenerateexpression")
        guard isAutomatic || object["valueexpressiondata"] == nil,
            (object["sourcekeypath"] ?? name) == name
        else {
            throw object.failure(
                .unsupported,
                "the relationship \(entityName).\(name) has an expression of its own")
        }
    }

    // MARK: Attributes

    /// The value of an expression; nil where the attribute takes the one of its name, or has none.
    private func value(
        of object: MappingObject, _ place: String
    ) throws(XcodeModelError) -> MappedValue? {
        let isAutomatic = try object.flag("autogenerateexpression")
        guard !isAutomatic, let text = object["valueexpressiondata"] else { return nil }
        guard text.utf8.count <= 2 * BinaryPropertyList.sizeInBytesMax,
            let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters)
        else { throw object.failure(.invalidModel, "the expression of \(place) is no archive") }
        do throws(ExpressionArchive.Failure) {
            return try ExpressionArchive.value(Array(data))
        } catch {
            switch error {
            case .invalid(let message):
                throw object.failure(
                    .invalidModel, "the expression of \(place) is not read: \(message)")
            case .unsupported(let kind):
                throw object.failure(.unsupported, "the value of \(place) is \(kind)")
            }
        }
    }
}

extension MappedValue {
    fileprivate var isConstant: Bool {
        if case .source = self { false } else { true }
    }
}
