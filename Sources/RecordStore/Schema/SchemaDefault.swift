import Foundation

/// The default of an attribute in an exported schema:
///
/// | type | JSON |
/// |---|---|
/// | bool | `true` or `false` |
/// | int…, uint… | a whole number in the type's range |
/// | float, double | a number, or `"inf"`, `"-inf"`, `"nan"` |
/// | decimal | its digits as a text, so that they stay exact; `"nan"` |
/// | string, url | a text |
/// | data | base64 |
/// | date | seconds since the start of 2001, in UTC, as for double |
/// | uuid | its usual text |
///
/// Without a default the member is missing, or null.
struct SchemaDefault {
    /// The limit for text and data. A migration copies the default of a new property into the
    /// layout of the file, whose lengths have two bytes.
    static let sizeInBytesMax = 32 << 10
    static let infinity = "inf"
    static let notANumber = "nan"

    let value: Value

    /// Converts numbers to the attribute's type, as storing them would.
    init(_ value: Value, _ type: AttributeType) {
        self.value =
            switch value {
            case .bool, .int, .uint, .float, .double, .decimal: Self.number(value, type)
            case .object: .null
            default: value
            }
    }

    private static func number(_ value: Value, _ type: AttributeType) -> Value {
        switch (type, value) {
        case (.float, _): .float(Float(value.approximation ?? .nan))
        case (.double, _): .double(value.approximation ?? .nan)
        case (.date, _): .date(value.approximation ?? .nan)
        case (.decimal, _): .decimal(value.decimal)
        case (.bool, _): .bool(value.approximation != 0)
        case (_, .int), (_, .uint): value
        default: .int(Int64(exactly: (value.approximation ?? 0).rounded()) ?? 0)
        }
    }

    // MARK: Reading

    /// Throws a `DecodingError` if the member is not a value of the type.
    init<Key>(
        _ type: AttributeType, from values: KeyedDecodingContainer<Key>, forKey key: Key
    ) throws {
        guard values.contains(key), try !values.decodeNil(forKey: key) else {
            value = .null
            return
        }
        let found = (try? Self.number(type, values, key)) ?? (try? Self.text(type, values, key))
        guard let found else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: values,
                debugDescription: "a default of the type \(type.name) is \(Self.form(of: type))")
        }
        value = found
    }

    /// Nil for types that are not numbers in JSON.
    private static func number<Key>(
        _ type: AttributeType, _ values: KeyedDecodingContainer<Key>, _ key: Key
    ) throws -> Value? {
        switch type {
        case .bool: .bool(try values.decode(Bool.self, forKey: key))
        case .int8: .int(Int64(try values.decode(Int8.self, forKey: key)))
        case .int16: .int(Int64(try values.decode(Int16.self, forKey: key)))
        case .int32: .int(Int64(try values.decode(Int32.self, forKey: key)))
        case .int64: .int(try values.decode(Int64.self, forKey: key))
        case .uint8: .uint(UInt64(try values.decode(UInt8.self, forKey: key)))
        case .uint16: .uint(UInt64(try values.decode(UInt16.self, forKey: key)))
        case .uint32: .uint(UInt64(try values.decode(UInt32.self, forKey: key)))
        case .uint64: .uint(try values.decode(UInt64.self, forKey: key))
        case .float: .float(try values.decode(Float.self, forKey: key))
        case .double: .double(try values.decode(Double.self, forKey: key))
        case .date: .date(try values.decode(Double.self, forKey: key))
        case .decimal, .string, .data, .uuid, .url: nil
        }
    }

    /// Nil for types that are not text in JSON, and for text that is not a value of the type.
    private static func text<Key>(
        _ type: AttributeType, _ values: KeyedDecodingContainer<Key>, _ key: Key
    ) throws -> Value? {
        guard type.isVariable else { return nil }
        let text = try values.decode(String.self, forKey: key)
        let value: Value? =
            switch type {
            case .decimal where text == notANumber: .decimal(.nan)
            case .decimal: DecimalForm.number(text).map { .decimal($0) }
            case .url: URL(string: text).map { _ in .url(text) }
            case .data: Data(base64Encoded: text).map { .data([UInt8]($0)) }
            case .uuid: UUID(uuidString: text).map { .uuid($0) }
            default: .string(text)
            }
        let size =
            if case .data(let bytes) = value { bytes.count } else { text.utf8.count }
        return size <= sizeInBytesMax ? value : nil
    }

    /// Describes a valid default, for the error message.
    private static func form(of type: AttributeType) -> String {
        switch type {
        case .bool: "true or false"
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64:
            "a whole number in the range of the type"
        case .float, .double: "a number in the range of the type, or “inf”, “-inf” or “nan”"
        case .date: "the seconds since the start of 2001"
        case .decimal: "a text of digits, as many as a Decimal holds, or “nan”"
        case .string: "a text of at most \(sizeInBytesMax) bytes"
        case .url: "the text of a URL, of at most \(sizeInBytesMax) bytes"
        case .data: "base64 of at most \(sizeInBytesMax) bytes"
        case .uuid: "the text of a UUID"
        }
    }
}

// MARK: Writing

extension JSONWriter {
    mutating func append(_ content: SchemaDefault) {
        switch content.value {
        case .null, .object: null()
        case .bool(let flag): bool(flag)
        case .int(let number): self.number("\(number)")
        case .uint(let number): self.number("\(number)")
        case .float(let number): append(number)
        case .double(let number), .date(let number): append(number)
        case .decimal(let number):
            string(number.isNaN ? SchemaDefault.notANumber : "\(number)")
        case .string(let text), .url(let text): string(text)
        case .data(let bytes): string(Data(bytes).base64EncodedString())
        case .uuid(let uuid): string(uuid.uuidString)
        }
    }

    /// JSON has no number for infinities and NaN.
    private mutating func append(_ number: some BinaryFloatingPoint & CustomStringConvertible) {
        if number.isFinite {
            self.number(number.description)
        } else if number.isNaN {
            string(SchemaDefault.notANumber)
        } else {
            string((number < 0 ? "-" : "") + SchemaDefault.infinity)
        }
    }
}
