import Foundation

/// One value outside a record, for conditions and the results of queries.
package enum Value: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case float(Float)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case data([UInt8])
    /// Seconds since the start of 2001, in UTC.
    case date(Double)
    case uuid(UUID)
    case url(String)
    /// The object that a relationship leads to.
    case object(ObjectNumber)

    package var isNull: Bool { self == .null }

    // Equality agrees with the order.
    package static func == (left: Value, right: Value) -> Bool { compare(left, right) == 0 }

    /// Whether both are one value of one kind: equal numbers of different kinds are not identical,
    /// and neither are the two zeros.
    package func isIdentical(to other: Value) -> Bool {
        kind == other.kind && self == other
            && (approximation?.sign == other.approximation?.sign || self != .double(0))
    }

    private var kind: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int: 2
        case .uint: 3
        case .float: 4
        case .double: 5
        case .decimal: 6
        case .string: 7
        case .data: 8
        case .date: 9
        case .uuid: 10
        case .url: 11
        case .object: 12
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool, .int, .uint, .float, .double, .decimal:
            // Equal numbers of different kinds hash alike.
            hasher.combine(1)
            hasher.combine(Self.canonical(approximation ?? .nan))
        case .string(let text), .url(let text):
            hasher.combine(2)
            Self.hash(text, into: &hasher)
        case .data(let bytes):
            hasher.combine(3)
            hasher.combine(bytes)
        case .date(let seconds):
            hasher.combine(4)
            hasher.combine(Self.canonical(seconds))
        case .uuid(let uuid):
            hasher.combine(5)
            hasher.combine(uuid)
        case .object(let number):
            hasher.combine(6)
            hasher.combine(number)
        }
    }

    /// Eight bytes at a time, because a call of the hasher costs more than a byte.
    private static func hash(_ text: String, into hasher: inout Hasher) {
        var (word, count): (UInt64, Int) = (0, 0)
        for byte in text.utf8 {
            word = word << 8 | UInt64(byte)
            count &+= 1
            guard count & 7 == 0 else { continue }
            hasher.combine(word)
            word = 0
        }
        hasher.combine(word)
        hasher.combine(count)
    }

    /// All NaNs are equal, whatever their bits.
    private static func canonical(_ number: Double) -> Double { number.isNaN ? .nan : number }

    /// The Double nearest to a number; nil for other values.
    package var approximation: Double? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): Double(number)
        case .uint(let number): Double(number)
        case .float(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): DecimalForm.double(number)
        default: nil
        }
    }
}

/// The number of an object in its hierarchy of entities: 1 and up, never used twice.
@frozen
package struct ObjectNumber: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    @inlinable package init(rawValue: UInt64) { self.rawValue = rawValue }
    @inlinable package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    @inlinable
    package static func < (left: ObjectNumber, right: ObjectNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}
