import Foundation
import RecordStore

extension Functions {
    /// The target types of `CAST`.
    enum CastType {
        case date, decimal, number, text, uuid, url, data

        init?(name: String) {
            switch name {
            case "NSDate", "Date": self = .date
            case "NSDecimalNumber", "Decimal": self = .decimal
            case "NSNumber", "Double": self = .number
            case "NSString", "String": self = .text
            case "NSUUID", "UUID": self = .uuid
            case "NSURL", "URL": self = .url
            case "NSData", "Data": self = .data
            default: return nil
            }
        }
    }

    /// Nil if the value cannot be converted to the type.
    static func cast(_ value: Value, _ type: CastType) -> Value {
        switch (type, value) {
        case (_, .null): return .null
        case (.date, .date), (.uuid, .uuid), (.url, .url), (.data, .data):
            return value
        case (.date, _): return value.number.approximation.map { .date($0) } ?? .null
        case (.decimal, .string(let text)):
            return decimal(text).map { .decimal($0) } ?? .null
        case (.decimal, .float), (.decimal, .double), (.decimal, .int), (.decimal, .uint),
            (.decimal, .bool), (.decimal, .decimal):
            return .decimal(value.widened.decimal)
        case (.number, .date(let seconds)): return .double(seconds)
        case (.number, _): return value.number
        case (.text, _): return description(value).map { .string($0) } ?? .null
        case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) } ?? .null
        case (.url, .string(let text)): return .url(text)
        case (.data, .string(let text)): return bytes(text).map { .data($0) } ?? .null
        default: return .null
        }
    }

    /// The number that a whole text is; nil for others. Foundation takes any text that begins with
    /// a number, a sign or a space.
    private static func decimal(_ text: String) -> Decimal? {
        if text == "NaN" { return .nan }
        guard text.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }), Double(text) != nil
        else { return nil }
        return Decimal(string: text)
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high * 16 + low))
        }
        return bytes
    }

    private static func description(_ value: Value) -> String? {
        switch value {
        case .string(let text), .url(let text): text
        case .int(let number): "\(number)"
        case .uint(let number): "\(number)"
        case .double(let number): "\(number)"
        case .float(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .bool(let flag): flag ? "1" : "0"
        case .uuid(let uuid): uuid.uuidString
        case .null, .data, .date, .object: nil
        }
    }
}

extension Value {
    /// The value as a number, parsed if it is a text; nil if it is neither.
    fileprivate var number: Value {
        switch self {
        case .string(let text):
            if let whole = Int64(text) { return .int(whole) }
            return Double(text).map { .double($0) } ?? .null
        default: return approximation == nil ? .null : self
        }
    }
}
