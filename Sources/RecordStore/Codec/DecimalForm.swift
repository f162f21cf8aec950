import Foundation
import PageStore

/// The bytes of an exact decimal number: spec/05-records.md. They sort like the numbers, so that
/// records and keys hold the same bytes; equal numbers have equal bytes, `1.0` and `1.00` alike.
///
/// The first byte is 0 for NaN, 1 for negative, 2 for zero and 3 for positive numbers. Except for
/// NaN and zero there follow the exponent of the number written as 0.d₁d₂… × 10ᵉ, biased by 32,768,
/// in two bytes, big-endian; then two digits per byte, plus one; then a zero byte. All bytes after
/// the first of a negative number are inverted.
package enum DecimalForm {
    package static let byteCountMax = 32

    package static func append(_ number: Decimal, to bytes: inout [UInt8]) {
        guard !number.isNaN else {
            bytes.append(0)
            return
        }
        let (digits, exponent) = digitsAndExponent("\(number)")
        guard !digits.isEmpty else {
            bytes.append(2)
            return
        }
        let isNegative = number < 0
        bytes.append(isNegative ? 1 : 3)
        let start = bytes.count
        let biased = UInt16(clamping: exponent + 32_768)
        bytes.append(UInt8(biased >> 8))
        bytes.append(UInt8(biased & 0xFF))
        for index in stride(from: 0, to: digits.count, by: 2) {
            let second = index + 1 < digits.count ? digits[index + 1] : 0
            bytes.append(digits[index] * 10 + second + 1)
        }
        bytes.append(0)
        if isNegative {
            for index in start..<bytes.count { bytes[index] = ~bytes[index] }
        }
    }

    /// The number at the start of the bytes, and its size in bytes; nil for invalid bytes.
    package static func read(_ bytes: ByteView) -> (number: Decimal, count: Int)? {
        guard bytes.count > 0 else { return nil }
        switch bytes[0] {
        case 0: return (Decimal.nan, 1)
        case 2: return (Decimal(0), 1)
        case 1, 3: break
        default: return nil
        }
        guard bytes.count >= 4 else { return nil }
        let mask: UInt8 = bytes[0] == 1 ? 0xFF : 0
        let exponent = (Int(bytes[1] ^ mask) << 8 | Int(bytes[2] ^ mask)) - 32_768
        var digits: [UInt8] = []
        var position = 3
        while position < bytes.count {
            let pair = bytes[position] ^ mask
            position += 1
            if pair == 0 {
                return number(digits, exponent, isNegative: mask != 0).map { ($0, position) }
            }
            guard pair <= 100, position < byteCountMax else { return nil }
            digits.append((pair - 1) / 10)
            digits.append((pair - 1) % 10)
        }
        return nil
    }

    /// The number 0.d₁d₂… × 10ᵉ; nil if a Decimal cannot hold it.
    private static func number(
        _ digits: [UInt8], _ exponent: Int, isNegative: Bool
    ) -> Decimal? {
        var digits = digits
        while digits.last == 0 { digits.removeLast() }
        var power = exponent - digits.count
        // An exponent above the maximum is reduced by appending zeros, up to 39 digits.
        while power > 127 && digits.count < 39 {
            digits.append(0)
            power -= 1
        }
        guard !digits.isEmpty, digits.count <= 39, (-128...127).contains(power) else { return nil }
        let text = String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        guard let whole = Decimal(string: text) else { return nil }
        let number = Decimal(
            sign: isNegative ? .minus : .plus, exponent: power, significand: whole)
        return number.isNaN ? nil : number
    }

    /// The decimal that represents a Double in comparisons: the number itself if it is whole and
    /// below 2⁶⁴, otherwise the shortest decimal that reads back as it. So integers, Doubles and
    /// decimals have one order. Nil if a Decimal cannot hold it.
    package static func decimal(_ number: Double) -> Decimal? {
        if let whole = Int64(exactly: number) { return Decimal(whole) }
        if let whole = UInt64(exactly: number) { return Decimal(whole) }
        guard number.isFinite else { return nil }
        let parts = "\(number.magnitude)".split(separator: "e")
        guard let mantissa = parts.first else { return nil }
        let power = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let (digits, exponent) = digitsAndExponent(String(mantissa))
        return self.number(digits, exponent + power, isNegative: number < 0)
    }

    /// Parses a number: digits, with an optional minus before them and an optional point between
    /// them. Nil for any other text, and for a number that a Decimal cannot hold exactly.
    static func number(_ text: String) -> Decimal? {
        let isNegative = text.hasPrefix("-")
        let parts = text.dropFirst(isNegative ? 1 : 0).utf8
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isDigits = parts.allSatisfy { part in
            !part.isEmpty
                && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        guard text.utf8.count <= 300, parts.count <= 2, isDigits else { return nil }
        let named = digitsAndExponent(text)
        guard !named.digits.isEmpty else { return 0 }
        guard let number = number(named.digits, named.exponent, isNegative: isNegative),
            digitsAndExponent("\(number)") == named
        else { return nil }
        return number
    }

    package static func double(_ number: Decimal) -> Double {
        // The text is exact, so that reading it rounds only once.
        Double("\(number)") ?? .nan
    }

    /// The digits without leading and trailing zeros, and e of 0.d₁d₂… × 10ᵉ.
    private static func digitsAndExponent(_ text: String) -> (digits: [UInt8], exponent: Int) {
        var digits: [UInt8] = []
        var pointPosition: Int?
        for character in text.utf8 {
            switch character {
            case UInt8(ascii: "."): pointPosition = digits.count
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits.append(character - UInt8(ascii: "0"))
            default: break
            }
        }
        var exponent = pointPosition ?? digits.count
        let leading = digits.prefix { $0 == 0 }.count
        digits.removeFirst(leading)
        exponent -= leading
        while digits.last == 0 { digits.removeLast() }
        return (digits, exponent)
    }
}
