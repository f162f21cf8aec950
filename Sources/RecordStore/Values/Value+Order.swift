import Foundation
import PageStore

/// The only total order, shared by keys, sorts and comparisons: spec/06-keys.md.
///
/// Null comes first; then numbers by their numeric value whatever their kind (a Bool is 0 or 1,
/// NaN comes before all others and -0 equals 0); then dates, texts by their UTF-8 bytes, data by
/// bytes, UUIDs by bytes, objects by number.
extension Value {
    /// Negative, zero or positive.
    package static func compare(_ left: Value, _ right: Value) -> Int {
        let (leftRank, rightRank) = (left.rank, right.rank)
        guard leftRank == rightRank else { return leftRank - rightRank }
        switch (left, right) {
        case (.null, .null): return 0
        case (.date(let a), .date(let b)): return order(a, b)
        case (.string(let a), .string(let b)), (.string(let a), .url(let b)),
            (.url(let a), .string(let b)), (.url(let a), .url(let b)):
            return order(a, b)
        case (.data(let a), .data(let b)): return a.withView { a in b.withView { a.compare($0) } }
        case (.uuid(let a), .uuid(let b)): return order(a, b)
        case (.object(let a), .object(let b)): return order(a.rawValue, b.rawValue)
        default: return compareNumbers(left, right)
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .bool, .int, .uint, .float, .double, .decimal: 1
        case .date: 2
        case .string, .url: 3
        case .data: 4
        case .uuid: 5
        case .object: 6
        }
    }

    private static func order<Element: Comparable>(_ a: Element, _ b: Element) -> Int {
        a < b ? -1 : (b < a ? 1 : 0)
    }

    private static func order(_ a: Double, _ b: Double) -> Int {
        if a.isNaN || b.isNaN { return (a.isNaN ? 0 : 1) - (b.isNaN ? 0 : 1) }
        return a < b ? -1 : (b < a ? 1 : 0)
    }

    /// By UTF-8 bytes: Swift's own order of strings is by canonical equivalence.
    package static func order(_ a: String, _ b: String) -> Int {
        let a = a.utf8.span
        let b = b.utf8.span
        let shared = min(a.count, b.count)
        for index in 0..<shared where a[index] != b[index] {
            return Int(a[index]) - Int(b[index])
        }
        return a.count - b.count
    }

    private static func order(_ a: UUID, _ b: UUID) -> Int {
        let (a, b) = (UUIDBytes.array(a), UUIDBytes.array(b))
        return a.withView { a in b.withView { a.compare($0) } }
    }

    private static func compareNumbers(_ left: Value, _ right: Value) -> Int {
        switch (left.number, right.number) {
        case (.int(let a), .int(let b)): return order(a, b)
        case (.uint(let a), .uint(let b)): return order(a, b)
        case (.int(let a), .uint(let b)): return a < 0 ? -1 : order(UInt64(a), b)
        case (.uint(let a), .int(let b)): return b < 0 ? 1 : order(a, UInt64(b))
        case (.double(let a), .double(let b)): return order(a, b)
        case (.int(let a), .double(let b)): return compare(a, b)
        case (.double(let a), .int(let b)): return -compare(b, a)
        case (.uint(let a), .double(let b)): return compare(a, b)
        case (.double(let a), .uint(let b)): return -compare(b, a)
        case (.decimal(let a), let b): return compare(a, b)
        case (let a, .decimal(let b)): return -compare(b, a)
        }
    }

    private enum Number {
        case int(Int64)
        case uint(UInt64)
        case double(Double)
        case decimal(Decimal)
    }

    private var number: Number {
        switch self {
        case .bool(let flag): .int(flag ? 1 : 0)
        case .int(let number): .int(number)
        case .uint(let number): .uint(number)
        case .float(let number): .double(Double(number))
        case .decimal(let number): .decimal(number)
        case .double(let number): .double(number)
        default: .double(.nan)
        }
    }

    /// Exact: an integer is never rounded to a Double first.
    private static func compare<Integer: FixedWidthInteger>(_ a: Integer, _ b: Double) -> Int {
        if b.isNaN { return 1 }
        if b >= Double(Integer.max) {
            // The Double nearest to the largest integer is above it.
            return -1
        }
        if b < Double(Integer.min) { return 1 }
        let whole = Integer(b.rounded(.down))
        if a != whole { return a < whole ? -1 : 1 }
        return b > b.rounded(.down) ? -1 : 0
    }

    /// A Double is compared with a decimal by `DecimalForm.decimal`.
    private static func compare(_ a: Decimal, _ b: Number) -> Int {
        let other: Decimal
        switch b {
        case .int(let number): other = Decimal(number)
        case .uint(let number): other = Decimal(number)
        case .decimal(let number): other = number
        case .double(let number):
            if number.isNaN || a.isNaN { return (a.isNaN ? 0 : 1) - (number.isNaN ? 0 : 1) }
            guard let named = DecimalForm.decimal(number) else {
                // Outside the range of a Decimal: too large or too small.
                return order(DecimalForm.double(a), number)
            }
            other = named
        }
        if a.isNaN || other.isNaN { return (a.isNaN ? 0 : 1) - (other.isNaN ? 0 : 1) }
        return a < other ? -1 : (other < a ? 1 : 0)
    }
}

/// A UUID as its sixteen bytes.
package enum UUIDBytes {
    package static func array(_ uuid: UUID) -> [UInt8] {
        let u = uuid.uuid
        return [
            u.0, u.1, u.2, u.3, u.4, u.5, u.6, u.7, u.8, u.9, u.10, u.11, u.12, u.13, u.14, u.15,
        ]
    }

    package static func uuid(_ bytes: ByteView) -> UUID? {
        guard bytes.count == 16 else { return nil }
        let b = bytes
        return UUID(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                b[13], b[14], b[15]
            ))
    }
}
