import RecordStore

/// Reads texts in quotes, escapes and numbers.
extension FormatLexer {
    // MARK: Texts

    /// Placeholders such as `%@` are plain text within quotes.
    mutating func text(until quote: Unicode.Scalar) throws(QueryError) -> String {
        let start = position
        position += 1
        var text = String.UnicodeScalarView()
        while let scalar = current {
            if scalar == quote {
                position += 1
                return String(text)
            }
            if scalar == "\\" {
                text.append(try escape())
                continue
            }
            if scalar == "%", let kind = following(1), "@Kdifsl".unicodeScalars.contains(kind) {
                quotedMark = quotedMark ?? position
            }
            text.append(scalar)
            position += 1
        }
        throw failure("a text in quotes does not end", at: start)
    }

    private static let plainEscapes: [Unicode.Scalar: Unicode.Scalar] = [
        "n": "\n", "t": "\t", "r": "\r", "a": "\u{7}", "b": "\u{8}", "f": "\u{c}", "v": "\u{b}",
        "\\": "\\", "\"": "\"", "'": "'", "?": "?", "/": "/",
    ]

    /// Escapes that C does not know are rejected: dropping the backslash, as some parsers do, would
    /// silently turn the regular expression `\d` into the letter d.
    mutating func escape() throws(QueryError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let scalar = current else { throw failure("an escape does not end", at: start) }
        if "0"..."7" ~= scalar { return try named(by: try digits(3, radix: 8), from: start) }
        position += 1
        if let plain = Self.plainEscapes[scalar] { return plain }
        switch scalar {
        case "x": return try named(by: try digits(2, radix: 16), from: start)
        case "u":
            let first = try digits(4, radix: 16)
            guard 0xD800..<0xDC00 ~= first, current == "\\", following(1) == "u" else {
                return try named(by: first, from: start)
            }
            position += 2
            let second = try digits(4, radix: 16)
            guard 0xDC00..<0xE000 ~= second else { return try named(by: first, from: start) }
            return try named(by: 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), from: start)
        default:
            throw failure(
                "“\\\(scalar)” is no escape: write “\\\\\(scalar)” for a backslash and what "
                    + "follows it", at: start)
        }
    }

    private func named(by value: UInt32, from start: Int) throws(QueryError) -> Unicode.Scalar {
        guard let scalar = Unicode.Scalar(value) else {
            throw failure("an escape names no character", at: start)
        }
        return scalar
    }

    /// Reads one to `count` digits.
    private mutating func digits(_ count: Int, radix: UInt32) throws(QueryError) -> UInt32 {
        let start = position
        var value: UInt32 = 0
        while position - start < count, let digit = current.flatMap(Self.hexDigit), digit < radix {
            value = value * radix + digit
            position += 1
        }
        guard position > start else { throw failure("an escape has no digits") }
        return value
    }

    private static func hexDigit(_ scalar: Unicode.Scalar) -> UInt32? {
        guard scalar.isASCII else { return nil }
        return Character(scalar).hexDigitValue.map { UInt32($0) }
    }

    // MARK: Numbers

    mutating func number() throws(QueryError) -> Value {
        let start = position
        if let radix = prefixRadix() {
            position += 2
            let digits = take { Self.hexDigit($0) != nil }
            guard let value = UInt64(digits, radix: radix) else {
                throw failure("a number cannot be read", at: start)
            }
            return Self.whole(value)
        }
        var digits = take(Self.isDigit)
        var isWhole = true
        if current == ".", following(1).map(Self.isDigit) == true {
            isWhole = false
            position += 1
            digits += "." + take(Self.isDigit)
        }
        if current == "e" || current == "E" {
            isWhole = false
            position += 1
            digits += "e"
            if let sign = current, sign == "+" || sign == "-" {
                digits.unicodeScalars.append(sign)
                position += 1
            }
            digits += take(Self.isDigit)
        }
        if isWhole, let value = UInt64(digits) { return Self.whole(value) }
        guard let value = Double(digits.hasPrefix(".") ? "0" + digits : digits), value.isFinite
        else { throw failure("a number cannot be read", at: start) }
        return .double(value)
    }

    private static func whole(_ value: UInt64) -> Value {
        Int64(exactly: value).map { .int($0) } ?? .uint(value)
    }

    private mutating func take(_ belongs: (Unicode.Scalar) -> Bool) -> String {
        let part = scalars[position...].prefix(while: belongs)
        position += part.count
        return String(String.UnicodeScalarView(part))
    }

    private func prefixRadix() -> Int? {
        guard current == "0" else { return nil }
        switch following(1) {
        case "x", "X": return 16
        case "o", "O": return 8
        case "b", "B": return 2
        default: return nil
        }
    }
}
