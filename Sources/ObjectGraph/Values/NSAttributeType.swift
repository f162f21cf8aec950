import RecordStore

/// How a value is kept in the store.
public enum NSAttributeType: String, Hashable, Sendable {
    case undefinedAttributeType
    case integer8AttributeType
    case integer16AttributeType
    case integer32AttributeType
    case integer64AttributeType
    case unsigned8AttributeType
    case unsigned16AttributeType
    case unsigned32AttributeType
    case unsigned64AttributeType
    case decimalAttributeType
    case doubleAttributeType
    case floatAttributeType
    case stringAttributeType
    case booleanAttributeType
    case dateAttributeType
    case binaryDataAttributeType
    case UUIDAttributeType
    case URIAttributeType
    case objectIDAttributeType

    var attributeType: AttributeType? {
        switch self {
        case .integer8AttributeType: .int8
        case .integer16AttributeType: .int16
        case .integer32AttributeType: .int32
        case .integer64AttributeType: .int64
        case .unsigned8AttributeType: .uint8
        case .unsigned16AttributeType: .uint16
        case .unsigned32AttributeType: .uint32
        case .unsigned64AttributeType: .uint64
        case .decimalAttributeType: .decimal
        case .doubleAttributeType: .double
        case .floatAttributeType: .float
        case .stringAttributeType: .string
        case .booleanAttributeType: .bool
        case .dateAttributeType: .date
        case .binaryDataAttributeType: .data
        case .UUIDAttributeType: .uuid
        case .URIAttributeType: .url
        case .undefinedAttributeType, .objectIDAttributeType: nil
        }
    }

    init(_ type: AttributeType) {
        self =
            switch type {
            case .bool: .booleanAttributeType
            case .int8: .integer8AttributeType
            case .int16: .integer16AttributeType
            case .int32: .integer32AttributeType
            case .int64: .integer64AttributeType
            case .uint8: .unsigned8AttributeType
            case .uint16: .unsigned16AttributeType
            case .uint32: .unsigned32AttributeType
            case .uint64: .unsigned64AttributeType
            case .float: .floatAttributeType
            case .double: .doubleAttributeType
            case .decimal: .decimalAttributeType
            case .string: .stringAttributeType
            case .data: .binaryDataAttributeType
            case .date: .dateAttributeType
            case .uuid: .UUIDAttributeType
            case .url: .URIAttributeType
            }
    }
}
