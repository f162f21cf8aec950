import Foundation
import RecordStore

/// Values as JSON: exact decimals as strings, data as base64, dates as ISO 8601.
enum ValueText {
    static func json(_ value: Value) -> JSONText {
        switch value {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .int(let number): .integer(number)
        case .uint(let number): .integer(number)
        case .float(let number): .float(number)
        case .double(let number): .float(number)
        case .decimal(let number): .string("\(number)")
        case .string(let text), .url(let text): .string(text)
        case .data(let bytes): .string(Data(bytes).base64EncodedString())
        case .date(let seconds): .string(date(seconds))
        case .uuid(let uuid): .string(uuid.uuidString)
        case .object(let number): .integer(number.rawValue)
        }
    }

    /// So that the decimal number of seconds that the text says, rounded to a Double, is the date
    /// again. One that no calendar reaches, or whose decimals would not end soon, appears as its
    /// seconds.
    static func date(_ secondsSince2001: Double) -> String {
        guard !secondsSince2001.isNaN else { return "nan" }
        let distance = abs(secondsSince2001)
        // Between these the shortest digits that name a Double have no exponent.
        guard distance == 0 || (0.0001..<60_000_000_000).contains(distance) else {
            return "\(secondsSince2001)"
        }
        let whole = secondsSince2001.rounded(.down)
        var digits = Array("\(distance)".utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst())
        if secondsSince2001 < 0, secondsSince2001 != whole {
            // The complement to the following second; the last digit is not a zero.
            for index in digits.indices { digits[index] = UInt8(ascii: "9") + 48 - digits[index] }
            digits[digits.count - 1] += 1
        }
        digits += repeatElement(UInt8(ascii: "0"), count: max(0, 6 - digits.count))
        let date = Date(timeIntervalSinceReferenceDate: whole)
        return date.formatted(.iso8601).dropLast() + "." + String(decoding: digits, as: UTF8.self)
            + "Z"
    }

    /// To the microsecond.
    static func date(nanosecondsSince1970 time: UInt64) -> String {
        let date = Date(timeIntervalSince1970: Double(time / 1_000_000_000))
        let micros = time % 1_000_000_000 / 1000
        return date.formatted(.iso8601).dropLast() + String(format: ".%06dZ", Int(micros))
    }
}
