import RecordStore

extension DynamicSchema {
    /// The schema as Swift source: a class for each entity, and a ``CoreStoreSchema`` with its
    /// version lock. Parts of a class that only code has, such as accessors and indexes of computed
    /// names, are not in it.
    ///
    /// A unique constraint of a subentity stands in a comment: only the entity at the root of a
    /// hierarchy of classes has them. A required attribute without a default begins with zero, an
    /// empty text or empty bytes, a new UUID or the current date: a property that is never nil
    /// needs a first value.
    public func printCoreStoreSchema() -> String {
        guard let schema = self as? any DescribedSchema else {
            return "/// The version \(modelVersion) does not say what it declares."
        }
        return SchemaSource(
            schema.description(for: nil), configurations: schema.configurationNames
        ).text
    }
}

/// Writes a schema as Swift source.
struct SchemaSource {
    private let schema: SchemaDescription
    private let classNames: [String: String]
    /// The named configurations of each entity.
    private let configurations: [EntityName: Set<String>]

    init(_ schema: SchemaDescription, configurations: [EntityName: Set<String>]) {
        self.schema = schema
        self.configurations = configurations
        let all = Set(schema.entities.map(\.className))
        classNames = Dictionary(
            schema.entities.map { ($0.name, Self.identifier(Self.free($0.className, all))) }
        ) { first, _ in first }
    }

    /// A class of the name of a type that the source uses has another name there.
    private static func free(_ className: String, _ others: Set<String>) -> String {
        guard usedTypes.contains(className) else { return className }
        var name = className + "Object"
        while others.contains(name) { name += "_" }
        return name
    }

    var text: String {
        (schema.entities.map(text) + [declaration]).joined(separator: "\n\n") + "\n"
    }

    private func className(_ entityName: String) -> String {
        classNames[entityName] ?? Self.identifier(entityName)
    }

    private func text(_ entity: EntityDescription) -> String {
        let above = entity.superentityName.map(className) ?? "CoreStoreObject"
        let properties = entity.attributes.map(text) + entity.relationships.map(text)
        let body = properties.joined(separator: "\n\n")
        return "class \(className(entity.name)): \(above) {\n\(body)\n}"
    }

    private func text(_ attribute: AttributeDescription) -> String {
        if attribute.isCoded { return coded(attribute) }
        let type = Self.typeName(attribute.type) + (attribute.isOptional ? "?" : "")
        var options = modifiers(attribute.versionHashModifier, attribute.previousName)
        var initial = Self.literal(attribute.defaultValue)
        if initial == nil, !attribute.isOptional {
            switch attribute.type {
            case .uuid: options.append("dynamicInitialValue: { UUID() }")
            case .date: options.append("dynamicInitialValue: { Date() }")
            default: initial = Self.emptyLiteral(attribute.type)
            }
        }
        return """
                @Field.Stored(\(([Self.quoted(attribute.name)] + options).joined(separator: ", ")))
                var \(Self.identifier(attribute.name)): \(type)\(initial.map { " = \($0)" } ?? "")
            """
    }

    /// Only the program knows the type and the coder: the source has the bytes.
    private func coded(_ attribute: AttributeDescription) -> String {
        let options = modifiers(attribute.versionHashModifier, attribute.previousName)
        let arguments = ([Self.quoted(attribute.name)] + options).joined(separator: ", ")
        let name = Self.identifier(attribute.name)
        let coder =
            attribute.isOptional
            ? "encode: { $0 }, decode: { $0 }" : "encode: { $0 }, decode: { $0 ?? Data() }"
        let property = attribute.isOptional ? "\(name): Data?" : "\(name): Data = Data()"
        return """
                @Field.Coded(\(arguments), coder: (\(coder)))
                var \(property)
            """
    }

    private func text(_ relationship: RelationshipDescription) -> String {
        var options: [String] = []
        if relationship.minCount > 0 { options.append("minCount: \(relationship.minCount)") }
        if relationship.maxCount > 0, relationship.kind != .toOne {
            options.append("maxCount: \(relationship.maxCount)")
        }
        if let inverse = relationship.inverseName {
            options.append("inverse: \(Self.keyPath(inverse))")
        }
        if relationship.deleteRule != .nullify {
            options.append("deleteRule: .\(relationship.deleteRule.rawValue)")
        }
        options += modifiers(relationship.versionHashModifier, relationship.previousName)
        let arguments = ([Self.quoted(relationship.name)] + options).joined(separator: ", ")
        let destination = className(relationship.destinationEntityName)
        let type =
            switch relationship.kind {
            case .toOne: "\(destination)?"
            case .toManyOrdered: "[\(destination)]"
            case .toManyUnordered: "Set<\(destination)>"
            }
        return """
                @Field.Relationship(\(arguments))
                var \(Self.identifier(relationship.name)): \(type)
            """
    }

    private func modifiers(_ modifier: String?, _ previousName: String?) -> [String] {
        [
            modifier.map { "versionHashModifier: \(Self.quoted($0))" },
            previousName.map { "previousVersionKeyPath: \(Self.quoted($0))" },
        ].compactMap { $0 }
    }

    private var declaration: String {
        let entities = schema.entities.map { entity in
            var arguments = [Self.quoted(entity.name)]
            if entity.isAbstract { arguments.append("isAbstract: true") }
            if let modifier = entity.versionHashModifier {
                arguments.append("versionHashModifier: \(Self.quoted(modifier))")
            }
            if let previousName = entity.previousName {
                arguments.append("previousName: \(Self.quoted(previousName))")
            }
            arguments += keyPaths("indexes", entity.indexes)
            var comment = ""
            let constraints = keyPaths("uniqueConstraints", entity.uniqueConstraints)
            if entity.superentityName == nil {
                arguments += constraints
            } else {
                comment = constraints.map { "        // \($0)\n" }.joined()
            }
            let name = className(entity.name)
            let end = configurations.isEmpty ? "," : ": \(list(of: entity.name)),"
            let line = "        Entity<\(name)>(\(arguments.joined(separator: ", ")))\(end)"
            guard line.count > 100 else { return comment + line }
            let list = arguments.joined(separator: ",\n            ")
            return comment + "        Entity<\(name)>(\n            \(list))\(end)"
        }
        // The classes declare no constraint below a root.
        var declared = schema
        for index in declared.entities.indices
        where declared.entities[index].superentityName != nil {
            declared.entities[index].uniqueConstraints = []
        }
        let lock = VersionLock(declared).description.replacing("\n", with: "\n    ")
        return """
            CoreStoreSchema(
                modelVersion: \(Self.quoted(schema.modelVersion)),
                \(configurations.isEmpty ? "entities" : "entityConfigurations"): [
            \(entities.joined(separator: "\n"))
                ],
                versionLock: \(lock)
            )
            """
    }

    /// The configurations of an entity.
    private func list(of entityName: String) -> String {
        let names = (configurations[entityName] ?? []).sorted().map(Self.quoted)
        return "[\(names.joined(separator: ", "))]"
    }

    private func keyPaths(_ label: String, _ names: [[String]]) -> [String] {
        guard !names.isEmpty else { return [] }
        let lists = names.map { list in
            "[\(list.map(Self.keyPath).joined(separator: ", "))]"
        }
        return ["\(label): [\(lists.joined(separator: ", "))]"]
    }

    private static func quoted(_ text: String) -> String { String(reflecting: text) }

    /// A name as it is declared: one that is a word of the language stands in backticks, and what
    /// no name in Swift has is an underscore.
    private static func identifier(_ name: String) -> String {
        let word = variable(name)
        return reservedWords.contains(word) ? "`\(word)`" : word
    }

    private static func variable(_ name: String) -> String {
        let word = String(name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
        return word.first?.isNumber == true ? "_" + word : word
    }

    private static func keyPath(_ name: String) -> String { "\\.$\(variable(name))" }

    private static let usedTypes: Set<String> = [
        "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64",
        "Float", "Double", "Decimal", "NSDecimalNumber", "String", "Data", "Date", "UUID", "URL",
        "Set", "Field", "FieldCoders", "Entity", "CoreStoreObject", "CoreStoreSchema",
    ]

    private static let reservedWords = Set(
        """
        Any as associatedtype await break case catch class continue default defer deinit do else \
        enum extension fallthrough false fileprivate for func guard if import in init inout \
        internal is let nil operator precedencegroup private protocol public repeat rethrows \
        return self Self static struct subscript super switch throw throws true try typealias var \
        where while
        """.split(separator: " ").map(String.init))

    private static func typeName(_ type: AttributeType) -> String {
        switch type {
        case .bool: "Bool"
        case .int8: "Int8"
        case .int16: "Int16"
        case .int32: "Int32"
        case .int64: "Int"
        case .uint8: "UInt8"
        case .uint16: "UInt16"
        case .uint32: "UInt32"
        case .uint64: "UInt64"
        case .float: "Float"
        case .double: "Double"
        case .decimal: "Decimal"
        case .string: "String"
        case .data: "Data"
        case .date: "Date"
        case .uuid: "UUID"
        case .url: "URL"
        }
    }

    private static func emptyLiteral(_ type: AttributeType) -> String {
        switch type {
        case .bool: "false"
        case .string: "\"\""
        case .data: "Data()"
        case .url: "URL(string: \"about:blank\")!"
        default: "0"
        }
    }

    private static func literal(_ number: some BinaryFloatingPoint) -> String {
        number.isNaN
            ? ".nan" : number.isFinite ? "\(number)" : number < 0 ? "-.infinity" : ".infinity"
    }

    /// A default as source; nil for none.
    private static func literal(_ value: Value) -> String? {
        switch value {
        case .bool(let flag): "\(flag)"
        case .int(let number): "\(number)"
        case .uint(let number): "\(number)"
        case .float(let number): literal(number)
        case .double(let number): literal(number)
        case .decimal(let number):
            number.isNaN ? "Decimal.nan" : "Decimal(string: \"\(number)\")!"
        case .string(let text): quoted(text)
        case .date(let seconds): "Date(timeIntervalSinceReferenceDate: \(literal(seconds)))"
        case .uuid(let uuid): "UUID(uuidString: \"\(uuid.uuidString)\")!"
        case .url(let text): "URL(string: \(quoted(text)))!"
        case .data(let bytes): "Data(base64Encoded: \"\(Data(bytes).base64EncodedString())\")!"
        case .null, .object: nil
        }
    }
}
