import Foundation

/// The format of a file of sources; see
/// ``BaseDataTransaction/importObjects(_:file:format:progress:)``.
public enum SourceFormat: Sendable, Hashable {
    /// One array of JSON objects.
    case json
    /// A JSON object on each line; empty lines are ignored.
    case jsonLines
    /// Comma-separated values by RFC 4180: the first row has the names, and every value is a text.
    /// Each row has as many fields as there are names. Rows end with CR, LF or both; a mark of the
    /// order of bytes before the first name is no part of it.
    case csv
}

/// Cuts the bytes of a file into its sources, whatever the parts are in which they come.
protocol SourceSplitter {
    /// Takes one byte; returns a source when that ends it.
    mutating func take(_ byte: UInt8) throws(MalformedSource) -> [String: Any]?
    /// Takes the end of the file.
    mutating func end() throws(MalformedSource) -> [String: Any]?
}

/// What is wrong with a source of a file.
struct MalformedSource: Error {
    let message: String
}

/// Collects the bytes of one source, up to a limit: a file that is none of its format may be of any
/// size.
struct SourceBytes {
    static let countMax = 64 << 20

    private(set) var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ byte: UInt8) throws(MalformedSource) {
        guard bytes.count < Self.countMax else {
            throw MalformedSource(message: "a source has more than \(Self.countMax) bytes")
        }
        bytes.append(byte)
    }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// The JSON object that the bytes are.
    func object() throws(MalformedSource) -> [String: Any] {
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(with: Data(bytes))
        } catch {
            let error = error as NSError
            let reason = error.userInfo["NSDebugDescription"] ?? error.localizedDescription
            throw MalformedSource(message: "JSON: \(reason)")
        }
        guard let object = value as? [String: Any] else {
            throw MalformedSource(message: "a source is no object")
        }
        return object
    }

    func text() throws(MalformedSource) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw MalformedSource(message: "a value is no UTF-8")
        }
        return text
    }
}

struct JSONLinesSplitter: SourceSplitter {
    private var line = SourceBytes()

    mutating func take(_ byte: UInt8) throws(MalformedSource) -> [String: Any]? {
        guard byte == UInt8(ascii: "\n") else {
            try line.append(byte)
            return nil
        }
        return try end()
    }

    mutating func end() throws(MalformedSource) -> [String: Any]? {
        defer { line.removeAll() }
        let isBlank = line.bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        return isBlank ? nil : try line.object()
    }
}

/// The objects of one array: found by their braces, outside of texts.
struct JSONArraySplitter: SourceSplitter {
    private enum Place { case start, array, object, text, escape, end }

    private var place = Place.start
    private var depth = 0
    private var needsComma = false
    private var mayEnd = true
    private var source = SourceBytes()

    mutating func take(_ byte: UInt8) throws(MalformedSource) -> [String: Any]? {
        switch place {
        case .start, .array, .end: return try takeOutside(byte)
        case .text:
            try source.append(byte)
            if byte == UInt8(ascii: "\\") { place = .escape }
            if byte == UInt8(ascii: "\"") { place = .object }
        case .escape:
            try source.append(byte)
            place = .text
        case .object:
            try source.append(byte)
            switch byte {
            case UInt8(ascii: "\""): place = .text
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}"):
                depth -= 1
                guard depth == 0 else { return nil }
                (place, needsComma, mayEnd) = (.array, true, true)
                defer { source.removeAll() }
                return try source.object()
            default: break
            }
        }
        return nil
    }

    private mutating func takeOutside(_ byte: UInt8) throws(MalformedSource) -> [String: Any]? {
        switch (place, byte) {
        case (_, 0x20), (_, 0x09), (_, 0x0A), (_, 0x0D): break
        // A mark of the order of bytes.
        case (.start, 0xEF), (.start, 0xBB), (.start, 0xBF): break
        case (.start, UInt8(ascii: "[")): place = .array
        case (.array, UInt8(ascii: "]")) where mayEnd: place = .end
        case (.array, UInt8(ascii: ",")) where needsComma: (needsComma, mayEnd) = (false, false)
        case (.array, UInt8(ascii: "{")) where !needsComma:
            try source.append(byte)
            (place, depth) = (.object, 1)
        default: throw MalformedSource(message: "it is no array of objects")
        }
        return nil
    }

    mutating func end() throws(MalformedSource) -> [String: Any]? {
        guard place == .end else { throw MalformedSource(message: "its array does not end") }
        return nil
    }
}

struct CSVSplitter: SourceSplitter {
    private enum Place { case start, plain, quoted, quoteEnd }

    private var place = Place.start
    private var field = SourceBytes()
    private var fields: [String] = []
    private var rowSizeInBytes = 0
    private var names: [String]?

    mutating func take(_ byte: UInt8) throws(MalformedSource) -> [String: Any]? {
        switch (place, byte) {
        case (.quoted, UInt8(ascii: "\"")): place = .quoteEnd
        case (.quoteEnd, UInt8(ascii: "\"")):
            try field.append(byte)
            place = .quoted
        case (.quoted, _): try field.append(byte)
        case (.start, UInt8(ascii: "\"")): place = .quoted
        case (.plain, UInt8(ascii: "\"")) where isByteOrderMark:
            field.removeAll()
            place = .quoted
        case (_, UInt8(ascii: ",")): try endField()
        // Either ends a row, and the line feed of both is a blank row.
        case (_, 0x0D), (_, 0x0A): return try endRow()
        case (.quoteEnd, _): throw MalformedSource(message: "a text follows a quoted field")
        default:
            try field.append(byte)
            place = .plain
        }
        return nil
    }

    /// Whether the file begins with a mark of the order of bytes, and nothing follows it yet.
    private var isByteOrderMark: Bool {
        names == nil && fields.isEmpty && field.bytes == [0xEF, 0xBB, 0xBF]
    }

    private mutating func endField() throws(MalformedSource) {
        // Not only at the row's end: a row without one may be as long as the file.
        if let names, fields.count >= names.count {
            throw MalformedSource(message: "a row has more fields than the \(names.count) name(s)")
        }
        rowSizeInBytes += field.bytes.count + MemoryLayout<String>.size
        guard rowSizeInBytes <= SourceBytes.countMax else {
            throw MalformedSource(message: "a row has more than \(SourceBytes.countMax) bytes")
        }
        fields.append(try field.text())
        field.removeAll()
        place = .start
    }

    private mutating func endRow() throws(MalformedSource) -> [String: Any]? {
        let isBlank = fields.isEmpty && field.isEmpty && place == .start
        if isBlank { return nil }
        try endField()
        defer {
            fields.removeAll(keepingCapacity: true)
            rowSizeInBytes = 0
        }
        guard let names else {
            names = fields
            // A mark of the order of bytes.
            if let first = fields.first, first.hasPrefix("\u{FEFF}") {
                names?[0] = String(first.unicodeScalars.dropFirst())
            }
            return nil
        }
        guard fields.count == names.count else {
            throw MalformedSource(
                message:
                    "a row has \(fields.count) field(s) for \(names.count) name(s)")
        }
        return Dictionary(zip(names, fields)) { first, _ in first }
    }

    mutating func end() throws(MalformedSource) -> [String: Any]? {
        guard place != .quoted else {
            throw MalformedSource(message: "a quoted field does not end")
        }
        return try endRow()
    }
}
