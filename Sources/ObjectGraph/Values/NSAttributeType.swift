import RecordStore

/// The type of a value in the store.
public enum NSAttributeType: String, Hashable, Sendable {
    /// No type: of `NSNull` in queries.
    case undefinedAttributeType
    /// A signed integer of 8 bits.
    case integer8AttributeType
    /// A signed integer of 16 bits.
    case integer16AttributeType
    /// A signed integer of 32 bits.
    case integer32AttributeType
    /// A signed integer of 64 bits.
    case integer64AttributeType
    /// An unsigned integer of 8 bits.
    case unsigned8AttributeType
    /// An unsigned integer of 16 bits.
    case unsigned16AttributeType
    /// An unsigned integer of 32 bits.
    case unsigned32AttributeType
    /// An unsigned integer of 64 bits.
    case unsigned64AttributeType
    /// A `Decimal`, exact.
    case decimalAttributeType
    /// A binary floating-point number of 64 bits.
    case doubleAttributeType
    /// A binary floating-point number of 32 bits.
    case floatAttributeType
    /// A text in UTF-8.
    case stringAttributeType
    /// True or false.
    case booleanAttributeType
    /// A point in time: seconds since 2001-01-01 00:00:00 UTC, as a `Double`.
    case dateAttributeType
    /// Bytes.
    case binaryDataAttributeType
    /// A UUID of 16 bytes.
    case UUIDAttributeType
    /// A URL as its text.
    case URIAttributeType
    /// The ID of an object: in queries only.
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
