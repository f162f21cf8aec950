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

    /// To the microsecond; a date that no calendar reaches appears as its seconds.
    static func date(_ secondsSince2001: Double) -> String {
        guard !secondsSince2001.isNaN else { return "nan" }
        guard secondsSince2001.isFinite, abs(secondsSince2001) < 60_000_000_000 else {
            return "\(secondsSince2001)"
        }
        let whole = secondsSince2001.rounded(.down)
        // A tiny negative date lies so near to its upper second that the difference rounds to one.
        let micros = min(Int(((secondsSince2001 - whole) * 1_000_000).rounded(.down)), 999_999)
        let date = Date(timeIntervalSinceReferenceDate: whole)
        let text = date.formatted(.iso8601)
        return text.dropLast() + String(format: ".%06dZ", micros)
    }

    static func date(nanosecondsSince1970 time: UInt64) -> String {
        let seconds = Double(time / 1_000_000_000) + Double(time % 1_000_000_000) / 1e9
        return date(seconds - Date.timeIntervalBetween1970AndReferenceDate)
    }
}
