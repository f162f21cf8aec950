import PageStore

/// Builds keys that sort like the values: spec/06-keys.md.
package struct KeyEncoder {
    package private(set) var bytes: [UInt8] = []
    /// Whether a text or data column was too long, so that the key has only its beginning.
    package private(set) var isTruncated = false
    /// The most bytes of a text or data column in a key.
    package let columnSizeMax: Int

    /// - Parameter columnSizeMax: the most bytes of a text or data column in a key.
    package init(columnSizeMax: Int) {
        self.columnSizeMax = columnSizeMax
        bytes.reserveCapacity(64)
    }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        isTruncated = false
    }

    /// Inverts the bytes from an offset on, which reverses the order of their column.
    package mutating func invert(from start: Int) {
        for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }

    /// The column limit for a page size and a column count: an equal share of the key's limit.
    package static func columnSizeMax(pageSizeInBytes: Int, columnCount: Int) -> Int {
        let room = Limits.keySizeInBytesMax(pageSizeInBytes: pageSizeInBytes) - 16
        // Escaping doubles a text of zero bytes.
        return max(8, room / max(columnCount, 1) / 2 - 4)
    }

    package mutating func append(_ number: ObjectNumber) { appendBigEndian(number.rawValue) }

    /// Appends a property of a record without building its value. For a blob, `outside` must hold
    /// its beginning: one byte more than a column holds.
    package mutating func append(
        _ field: FieldLayout, of row: RowView, outside: [UInt8]? = nil
    ) {
        append(KeyColumn(field), of: row, outside: outside)
    }

    mutating func append(_ column: KeyColumn, of row: RowView, outside: [UInt8]? = nil) {
        let offset = column.byteOffset
        if row.isNull(at: offset) {
            bytes.append(0)
            return
        }
        bytes.append(1)
        guard let type = column.type else {
            bytes.append(bigEndian: row.uint(at: offset))
            return
        }
        switch type {
        case .bool, .uint8, .uint16, .uint32, .uint64: appendBigEndian(row.uint(at: offset))
        case .int8, .int16, .int32, .int64: appendSigned(row.int(at: offset))
        case .float: appendOrdered(Double(row.float(at: offset)))
        case .double, .date: appendOrdered(row.double(at: offset))
        case .decimal, .uuid: bytes.append(row.heapBytes(at: offset))
        case .string, .data, .url:
            if let outside {
                outside.withView { appendEscaped($0) }
            } else {
                appendEscaped(row.heapBytes(at: offset))
            }
        }
    }

    /// Appends a value as a column of a type. False if no value of the column can equal it, so that
    /// the caller must find a range in another way.
    package mutating func append(_ value: Value, as content: FieldLayout.Content) -> Bool {
        if value.isNull {
            bytes.append(0)
            return true
        }
        bytes.append(1)
        guard case .attribute(let type) = content else {
            guard case .object(let number) = value else { return false }
            append(number)
            return true
        }
        // Handled first, because it is the most frequent case, and without a copy of the text.
        if type == .string, case .string(let text) = value {
            text.utf8.span.withView { appendEscaped($0) }
            return true
        }
        switch (type, value) {
        case (.url, .url(let text)), (.string, .url(let text)), (.url, .string(let text)):
            text.utf8.span.withView { appendEscaped($0) }
        case (.data, .data(let content)): content.withView { appendEscaped($0) }
        case (.uuid, .uuid(let uuid)): bytes += UUIDBytes.array(uuid)
        case (.date, .date(let seconds)): appendOrdered(seconds)
        case (.decimal, _):
            return appendDecimal(value)
        case (.double, _): return appendFloating(value, isFloat: false)
        case (.float, _): return appendFloating(value, isFloat: true)
        default: return appendInteger(value, type)
        }
        return true
    }

    /// Encodes the number as comparisons see it, so that a range of the index finds the same
    /// records.
    private mutating func appendDecimal(_ value: Value) -> Bool {
        guard let approximation = value.approximation else { return false }
        var exact = value.decimal
        if case .float = value { exact = DecimalForm.decimal(approximation) ?? .nan }
        guard !exact.isNaN || approximation.isNaN else { return false }
        DecimalForm.append(exact, to: &bytes)
        return true
    }

    private mutating func appendFloating(_ value: Value, isFloat: Bool) -> Bool {
        guard let number = value.approximation, Value.compare(.double(number), value) == 0,
            !isFloat || number.isNaN || Double(Float(number)) == number
        else { return false }
        appendOrdered(number)
        return true
    }

    private mutating func appendInteger(_ value: Value, _ type: AttributeType) -> Bool {
        if type.isSigned {
            guard let number = value.integer(Int64.self) else { return false }
            appendSigned(number)
            return true
        }
        guard type.isUnsigned || type == .bool, let number = value.integer(UInt64.self) else {
            return false
        }
        appendBigEndian(number)
        return true
    }

    private mutating func appendBigEndian(_ number: UInt64) {
        bytes.append(bigEndian: number)
    }

    private mutating func appendSigned(_ number: Int64) {
        appendBigEndian(UInt64(bitPattern: number) ^ (1 << 63))
    }

    /// NaN first, then by value; -0 is encoded as 0.
    private mutating func appendOrdered(_ number: Double) {
        if number.isNaN {
            appendBigEndian(0)
            return
        }
        let bits = number == 0 ? 0 : number.bitPattern
        appendBigEndian(bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }

    /// A zero byte becomes 00 FF; 00 00 ends the column, 00 01 a truncated one.
    private mutating func appendEscaped(_ content: ByteView) {
        let count = min(content.count, columnSizeMax)
        let shown = content.slice(from: 0, count: count)
        if shown.containsZero {
            for index in 0..<count {
                bytes.append(shown[index])
                if shown[index] == 0 { bytes.append(0xFF) }
            }
        } else {
            bytes.append(shown)
        }
        bytes.append(0)
        bytes.append(count < content.count ? 1 : 0)
        if count < content.count { isTruncated = true }
    }

    /// Appends a prefix of the keys of all texts that start with this one.
    package mutating func appendPrefix(_ text: String) {
        bytes.append(1)
        for byte in text.utf8.prefix(columnSizeMax) {
            bytes.append(byte)
            if byte == 0 { bytes.append(0xFF) }
        }
    }

    /// The first key after all keys that have a prefix; nil if there is none.
    package static func successor(of prefix: [UInt8]) -> [UInt8]? {
        var key = prefix
        while let last = key.popLast() {
            if last < 0xFF {
                key.append(last + 1)
                return key
            }
        }
        return nil
    }
}

extension Value {
    /// The value as an integer; nil if it is not a whole number or does not fit.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        switch self {
        case .bool(let flag): return flag ? 1 : 0
        case .int(let number): return Integer(exactly: number)
        case .uint(let number): return Integer(exactly: number)
        case .float(let number): return Integer(exactly: number)
        case .double(let number): return Integer(exactly: number)
        case .decimal(let number):
            guard let whole = Integer("\(number)") else { return nil }
            return whole
        default: return nil
        }
    }
}
