/// The type of an attribute. The raw values are the format's: spec/05-records.md.
package enum AttributeType: UInt8, Hashable, Sendable, CaseIterable {
    case bool = 1
    case int8 = 2
    case int16 = 3
    case int32 = 4
    case int64 = 5
    case uint8 = 6
    case uint16 = 7
    case uint32 = 8
    case uint64 = 9
    case float = 10
    case double = 11
    case decimal = 12
    case string = 13
    case data = 14
    case date = 15
    case uuid = 16
    case url = 17

    /// The name in a stored schema.
    package var name: String {
        switch self {
        case .bool: "bool"
        case .int8: "int8"
        case .int16: "int16"
        case .int32: "int32"
        case .int64: "int64"
        case .uint8: "uint8"
        case .uint16: "uint16"
        case .uint32: "uint32"
        case .uint64: "uint64"
        case .float: "float"
        case .double: "double"
        case .decimal: "decimal"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .uuid: "uuid"
        case .url: "url"
        }
    }

    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// Whether the bytes of a value are in the heap, after the slots.
    @inlinable package var isVariable: Bool {
        switch self {
        case .decimal, .string, .data, .uuid, .url: true
        default: false
        }
    }

    package var isSigned: Bool {
        switch self {
        case .int8, .int16, .int32, .int64: true
        default: false
        }
    }

    package var isUnsigned: Bool {
        switch self {
        case .uint8, .uint16, .uint32, .uint64: true
        default: false
        }
    }

    package var isNumber: Bool {
        switch self {
        case .bool, .float, .double, .decimal: true
        default: isSigned || isUnsigned
        }
    }
}
