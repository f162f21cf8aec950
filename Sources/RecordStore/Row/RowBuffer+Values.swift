import Foundation
import PageStore

extension RowView {
    /// The value of a property; `.null` for a blob, which only the reader can fetch.
    package func value(_ field: FieldLayout) -> Value { value(field.type, at: field.byteOffset) }

    /// - Parameter type: nil for the slot of a to-one relationship.
    func value(_ type: AttributeType?, at offset: Int) -> Value {
        if isNull(at: offset) { return .null }
        guard let type else {
            let number = uint(at: offset)
            return number == 0 ? .null : .object(ObjectNumber(number))
        }
        if type.isVariable && isBlob(at: offset) { return .null }
        return stored(type, at: offset)
    }

    private func stored(_ type: AttributeType, at offset: Int) -> Value {
        switch type {
        case .bool: return .bool(bool(at: offset))
        case .int8, .int16, .int32, .int64: return .int(int(at: offset))
        case .uint8, .uint16, .uint32, .uint64: return .uint(uint(at: offset))
        case .float: return .float(float(at: offset))
        case .double: return .double(double(at: offset))
        case .date: return .date(double(at: offset))
        case .string: return .string(string(at: offset))
        case .url: return .url(string(at: offset))
        case .data: return .data(byteArray(at: offset))
        case .decimal:
            return DecimalForm.read(heapBytes(at: offset)).map { .decimal($0.number) } ?? .null
        case .uuid: return UUIDBytes.uuid(heapBytes(at: offset)).map { .uuid($0) } ?? .null
        }
    }

    /// The target of a to-one relationship. If it is nil, the slot's content is undefined.
    package func link(at byteOffset: Int) -> ObjectNumber? {
        let number = uint(at: byteOffset)
        return number == 0 || isNull(at: byteOffset) ? nil : ObjectNumber(number)
    }
}

extension RowBuffer {
    /// Sets a property to a value of its type; other numbers are converted, and a value that cannot
    /// be converted becomes nil.
    package mutating func setValue(_ value: Value, _ field: FieldLayout) {
        setValue(value, field.type, at: field.byteOffset)
    }

    /// - Parameter type: nil for the slot of a to-one relationship.
    mutating func setValue(_ value: Value, _ type: AttributeType?, at offset: Int) {
        guard isKept(value, as: type) else { return clear(at: offset) }
        switch value {
        case .null: clear(at: offset)
        case .object(let number): setLink(number, at: offset)
        case .bool, .int, .uint, .float, .double, .decimal: setNumber(value, type, at: offset)
        case .date(let seconds): set(seconds, at: offset)
        case .string(let text), .url(let text): set(text, at: offset)
        case .data(let bytes): set(bytes, at: offset)
        case .uuid(let uuid): set(UUIDBytes.array(uuid), at: offset)
        }
    }

    /// Whether a property can hold a value. The slot of a variable-length property holds an offset,
    /// so a value must never be stored there, nor an offset read as a value; and a slot may be
    /// narrower than a date.
    ///
    /// - Parameter type: nil for the slot of a to-one relationship.
    private func isKept(_ value: Value, as type: AttributeType?) -> Bool {
        switch value {
        case .null: true
        case .string, .url, .data, .uuid: type?.isVariable ?? false
        case .date: type == .date
        case .object: type == nil
        case .bool, .int, .uint, .float, .double, .decimal:
            type.map { !$0.isVariable || $0 == .decimal } ?? false
        }
    }

    private mutating func setNumber(_ value: Value, _ type: AttributeType?, at offset: Int) {
        switch (type, value) {
        case (.float?, _): set(Float(value.approximation ?? .nan), at: offset)
        case (.double?, _), (.date?, _): set(value.approximation ?? .nan, at: offset)
        case (.decimal?, _): set(value.decimal, at: offset)
        case (_, .bool(let flag)): set(flag, at: offset)
        case (_, .int(let number)): set(number, at: offset)
        case (_, .uint(let number)): set(number, at: offset)
        default:
            let number = value.approximation ?? 0
            set(Int64(exactly: number.rounded()) ?? 0, at: offset)
        }
    }

    package mutating func set(_ number: Decimal, at byteOffset: Int) {
        var bytes: [UInt8] = []
        DecimalForm.append(number, to: &bytes)
        set(bytes, at: byteOffset)
    }

    package func setLink(_ number: ObjectNumber?, at byteOffset: Int) {
        guard let number else {
            clear(at: byteOffset)
            return
        }
        set(number.rawValue, at: byteOffset)
    }
}

extension Value {
    /// The number as an exact decimal; NaN if the value is not a number.
    package var decimal: Decimal {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): Decimal(number)
        case .uint(let number): Decimal(number)
        case .float(let number): Decimal(string: "\(number)") ?? .nan
        case .double(let number): DecimalForm.decimal(number) ?? .nan
        case .decimal(let number): number
        default: .nan
        }
    }
}

extension RowBuffer {
    /// A record with one property, for a value that belongs to no object.
    package static func scratch() -> RowBuffer {
        [UInt8](repeating: 0, count: 24).withView { RowBuffer(copying: $0, spare: 32) }
    }

    package static let scratchField = field(.int64, at: RowLayout.byteOffset(slot: 0))

    /// A property of which only the offset and the type are known.
    package static func field(_ type: AttributeType, at byteOffset: Int) -> FieldLayout {
        FieldLayout(
            name: "", slot: 0, byteOffset: byteOffset, content: .attribute(type),
            isOptional: true, defaultValue: .null, isCoded: false)
    }
}
