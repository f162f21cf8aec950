import Foundation
import RecordStore

/// Makes a model of the elements of a `contents` file.
///
/// Elements that have no influence on stored objects are ignored: fetched properties, fetch
/// requests, user info, positions in the editor. So are derived attributes, which the program
/// computes, and indexes that a file could not have: spatial ones, and those of expressions.
///
/// A declaration that no class can have is read as the nearest one that a class can have: a
/// required relationship to one object as an optional one, the rule “No Action” as nullify, and a
/// relationship that is its own inverse as one without an inverse. Stores are made by classes, so
/// no store has more.
struct ModelReader {
    private let root: ModelElement
    private let modelVersion: String
    private var entities: [EntityDescription] = []
    /// In the order of the entities.
    private var elements: [ModelElement] = []
    private var indexByName: [String: Int] = [:]

    static func read(
        _ fileURL: URL, modelVersion: String
    ) throws(XcodeModelError) -> XcodeModel {
        try model(MarkupReader.read(fileURL), of: fileURL, modelVersion)
    }

    static func model(
        _ element: MarkupElement, of fileURL: URL, _ modelVersion: String
    ) throws(XcodeModelError) -> XcodeModel {
        let root = ModelElement(element, of: fileURL)
        guard element.name == "model" else {
            throw root.failure(
                .invalidModel, "the outermost element is “\(element.name)”, not “model”")
        }
        var reader = ModelReader(root, modelVersion)
        return try reader.read()
    }

    private init(_ root: ModelElement, _ modelVersion: String) {
        self.root = root
        self.modelVersion = modelVersion
    }

    private mutating func read() throws(XcodeModelError) -> XcodeModel {
        for (index, element) in root.children("entity").enumerated() {
            let name = try element.required("name")
            guard indexByName.updateValue(index, forKey: name) == nil else {
                throw element.failure(.invalidModel, "two entities are named “\(name)”")
            }
            elements.append(element)
        }
        for element in elements { entities.append(try entity(element)) }
        for index in entities.indices { try checkSuperentities(of: index) }
        nameClasses()
        keepOneInverseOfTwo()
        for index in entities.indices { try readIndexes(of: index) }
        let description = SchemaDescription(modelVersion: modelVersion, entities: entities)
        do throws(StoreError) {
            _ = try Schema(description)
        } catch {
            throw root.failure(.invalidModel, error.message)
        }
        return XcodeModel(entities: description, configurations: try configurations())
    }

    // MARK: Entities

    private func entity(_ element: ModelElement) throws(XcodeModelError) -> EntityDescription {
        let name = try element.required("name")
        var entity = EntityDescription(
            name: name, className: Self.className(element) ?? name,
            superentityName: element["parentEntity"], isAbstract: try element.flag("isAbstract"),
            versionHashModifier: element["versionHashModifier"],
            previousName: element.previousName)
        for attribute in element.children("attribute") {
            if try attribute.flag("derived") { continue }
            if try attribute.flag("transient") {
                entity.virtualNames.append(try attribute.required("name"))
            } else {
                entity.attributes.append(try AttributeReader.attribute(attribute, of: name))
            }
        }
        for relationship in element.children("relationship") {
            entity.relationships.append(
                try RelationshipReader.relationship(
                    relationship, of: name, isEntity: { indexByName[$0] != nil }))
        }
        return entity
    }

    /// The class's name without its module; nil for an entity without a class of its own.
    private static func className(_ element: ModelElement) -> String? {
        guard
            let name = element["representedClassName"]?.split(separator: ".").last.map(String.init),
            name != "NSManagedObject", name.wholeMatch(of: /[\p{L}_][\p{L}\p{N}_]*/) != nil
        else { return nil }
        return name
    }

    /// Classes are told apart by their names: the entities' own where two have the same.
    private mutating func nameClasses() {
        guard Set(entities.map(\.className)).count < entities.count else { return }
        for index in entities.indices { entities[index].className = entities[index].name }
    }

    /// Superentities above one another, as many as a store may have.
    private static let depthMax = 64

    private func checkSuperentities(of index: Int) throws(XcodeModelError) {
        let name = entities[index].name
        var depth = 0
        var above = entities[index].superentityName
        while let current = above {
            guard let next = indexByName[current] else {
                throw elements[index].failure(
                    .invalidModel, "\(name) is below “\(current)”, which is no entity")
            }
            depth += 1
            guard depth <= Self.depthMax, next != index else {
                throw elements[index].failure(
                    .invalidModel,
                    "\(name) is above itself, or below more than \(Self.depthMax) entities")
            }
            above = entities[next].superentityName
        }
    }

    // MARK: Relationships

    /// Xcode writes inverses on both sides, and classes declare them on one: the one whose entity
    /// and name come first, and none where both are the same.
    private mutating func keepOneInverseOfTwo() {
        let declared = entities
        for (index, entity) in declared.enumerated() {
            for (place, relationship) in entity.relationships.enumerated() {
                guard let name = relationship.inverseName,
                    let (owner, inverse) = find(name, relationship.destinationEntityName, declared),
                    inverse.inverseName == relationship.name,
                    (owner.name, inverse.name) <= (entity.name, relationship.name)
                else { continue }
                entities[index].relationships[place].inverseName = nil
            }
        }
    }

    /// A relationship of an entity, or of the first above it that has one of that name.
    private func find(
        _ name: String, _ entityName: String, _ declared: [EntityDescription]
    ) -> (EntityDescription, RelationshipDescription)? {
        var current = indexByName[entityName]
        while let index = current {
            let entity = declared[index]
            if let found = entity.relationships.first(where: { $0.name == name }) {
                return (entity, found)
            }
            current = entity.superentityName.flatMap { indexByName[$0] }
        }
        return nil
    }

    // MARK: Indexes and configurations

    private mutating func readIndexes(of index: Int) throws(XcodeModelError) {
        let reader = IndexReader(
            elements[index], entityName: entities[index].name, columns: columns(of: index))
        entities[index].indexes = try reader.indexes()
        entities[index].uniqueConstraints = try reader.constraints()
    }

    /// The names that an index may have as columns: attributes and to-one relationships, inherited
    /// ones too.
    private func columns(of index: Int) -> Set<String> {
        var names: Set<String> = []
        var current: Int? = index
        while let place = current {
            let entity = entities[place]
            names.formUnion(entity.attributes.map(\.name))
            names.formUnion(entity.relationships.filter { $0.kind == .toOne }.map(\.name))
            current = entity.superentityName.flatMap { indexByName[$0] }
        }
        return names
    }

    private func configurations() throws(XcodeModelError) -> [String: Set<String>] {
        var configurations: [String: Set<String>] = [:]
        for element in root.children("configuration") {
            let name = try element.required("name")
            var members: Set<String> = []
            for member in element.children("memberEntity") {
                let entityName = try member.required("name")
                guard indexByName[entityName] != nil else {
                    throw member.failure(
                        .invalidModel,
                        "the configuration \(name) has “\(entityName)”, which is no entity")
                }
                members.insert(entityName)
            }
            guard configurations.updateValue(members, forKey: name) == nil else {
                throw element.failure(.invalidModel, "two configurations are named “\(name)”")
            }
        }
        return configurations
    }
}
