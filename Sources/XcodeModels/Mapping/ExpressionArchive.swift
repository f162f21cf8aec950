import Foundation

/// The value that a mapping model gives an attribute.
enum MappedValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case date(Date)
    case data(Data)
    /// An attribute of the earlier object: `$source.name`.
    case source(String)
}

/// Reads an expression that Xcode archived: a constant, or an attribute of the source object. Any
/// other kind, such as a function call, is refused by name.
///
/// Objects of the archive name each other. The reader follows the few names that these two kinds
/// have, one after the other, so that a circle among the others is never followed.
struct ExpressionArchive {
    enum Failure: Error, Equatable {
        /// The bytes are no archive of an expression.
        case invalid(String)
        /// The expression is of a kind that is not read.
        case unsupported(String)
    }

    private typealias Fields = [String: BinaryPropertyList.Object]

    private let list: BinaryPropertyList
    /// The archive's objects, which references name: indexes in the list.
    private var objects: [Int] = []

    static func value(_ bytes: [UInt8]) throws(Failure) -> MappedValue {
        do throws(BinaryPropertyList.Failure) {
            return try ExpressionArchive(list: BinaryPropertyList(bytes)).value()
        } catch {
            guard let kind = error.unsupported else { throw .invalid(error.message) }
            throw .unsupported(kind)
        }
    }

    private init(list: BinaryPropertyList) { self.list = list }

    private func value() throws(BinaryPropertyList.Failure) -> MappedValue {
        let archive = try fields(list.top())
        guard case .array(let objects)? = archive["$objects"],
            let top = archive["$top"], let root = try fields(top)["root"]
        else { throw BinaryPropertyList.Failure(message: "it is no keyed archive") }
        var reader = self
        reader.objects = objects
        return try reader.expression(reader.target(root))
    }

    // MARK: Expressions

    private func expression(
        _ object: BinaryPropertyList.Object
    ) throws(BinaryPropertyList.Failure) -> MappedValue {
        let expression = try fields(object)
        switch try className(of: expression) {
        case "NSConstantValueExpression":
            guard let value = expression["NSConstantValue"] else {
                throw .unsupported("a constant that is no value")
            }
            return try constant(target(value))
        case "NSKeyPathExpression": return .source(try sourceAttribute(expression))
        case "NSFunctionExpression":
            let selector = try text(expression["NSSelectorName"])
            if ["valueForKey:", "valueForKeyPath:"].contains(selector) {
                return .source(try sourceAttribute(expression))
            }
            throw .unsupported("a call of the function “\(selector.prefix(100))”")
        case let name: throw .unsupported("an expression “\(name.prefix(100))”")
        }
    }

    /// The attribute of `$source.name`: the variable is the operand, the name the only argument.
    private func sourceAttribute(
        _ expression: Fields
    ) throws(BinaryPropertyList.Failure) -> String {
        let operand = try fields(target(expression["NSOperand"]))
        guard try className(of: operand) == "NSVariableExpression",
            try text(operand["NSVariable"]) == "source"
        else { throw .unsupported("a path that does not begin at $source") }
        let arguments = try fields(target(expression["NSArguments"]))
        guard case .array(let places)? = arguments["NS.objects"], places.count == 1 else {
            throw BinaryPropertyList.Failure(message: "a path has no single argument")
        }
        let specifier = try fields(target(list.object(places[0])))
        let name: String
        switch try className(of: specifier) {
        case "NSKeyPathSpecifierExpression": name = try text(specifier["NSKeyPath"])
        case "NSConstantValueExpression": name = try text(specifier["NSConstantValue"])
        case let other: throw .unsupported("a path by an expression “\(other.prefix(100))”")
        }
        guard !name.isEmpty, !name.contains("."), !name.contains("@") else {
            throw .unsupported("the path “$source.\(name.prefix(100))” over other objects")
        }
        return name
    }

    private func constant(
        _ object: BinaryPropertyList.Object
    ) throws(BinaryPropertyList.Failure) -> MappedValue {
        switch object {
        case .string("$null"): return .null
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .real(let value): return .double(value)
        case .string(let value): return .string(value)
        case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let bytes): return .data(Data(bytes))
        default: break
        }
        let boxed = try fields(object)
        switch try className(of: boxed) {
        case "NSNull": return .null
        case "NSString", "NSMutableString":
            guard case .string(let value)? = boxed["NS.string"] else { break }
            return .string(value)
        case "NSDate":
            guard case .real(let seconds)? = boxed["NS.time"] else { break }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case "NSData", "NSMutableData":
            guard case .data(let bytes)? = boxed["NS.data"] else { break }
            return .data(Data(bytes))
        case let name: throw .unsupported("a constant of the class “\(name.prefix(100))”")
        }
        throw BinaryPropertyList.Failure(message: "a constant has no value")
    }

    // MARK: Objects

    /// The object that a reference names.
    private func target(
        _ reference: BinaryPropertyList.Object?
    ) throws(BinaryPropertyList.Failure) -> BinaryPropertyList.Object {
        guard case .reference(let number)? = reference, objects.indices.contains(number) else {
            throw BinaryPropertyList.Failure(message: "a reference leads to no object")
        }
        return try list.object(objects[number])
    }

    private func text(
        _ reference: BinaryPropertyList.Object?
    ) throws(BinaryPropertyList.Failure) -> String {
        guard case .string(let text) = try target(reference) else {
            throw BinaryPropertyList.Failure(message: "a name is no text")
        }
        return text
    }

    private func className(
        of fields: Fields
    ) throws(BinaryPropertyList.Failure) -> String {
        guard case .string(let name)? = try self.fields(target(fields["$class"]))["$classname"]
        else { throw BinaryPropertyList.Failure(message: "an object has no class") }
        return name
    }

    /// An expression of the kinds that are read has fewer than ten.
    private static let fieldCountMax = 64

    private func fields(
        _ object: BinaryPropertyList.Object
    ) throws(BinaryPropertyList.Failure) -> Fields {
        guard case .dictionary(let keys, let values) = object else {
            throw BinaryPropertyList.Failure(message: "an object has no fields")
        }
        guard keys.count <= Self.fieldCountMax else {
            throw BinaryPropertyList.Failure(message: "an object has too many fields")
        }
        var fields: Fields = [:]
        for (key, value) in zip(keys, values) {
            guard case .string(let name) = try list.object(key) else {
                throw BinaryPropertyList.Failure(message: "a field has no name")
            }
            fields[name] = try list.object(value)
        }
        return fields
    }
}

extension BinaryPropertyList.Failure {
    fileprivate static func unsupported(_ kind: String) -> Self {
        Self(message: kind, unsupported: kind)
    }
}
