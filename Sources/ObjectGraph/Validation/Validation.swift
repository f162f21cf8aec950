import Foundation
import Query

/// A rule for the objects of an entity. Each commit checks the objects that it inserts and updates.
///
/// ```swift
/// Entity<Person>(
///     "Person",
///     validations: [
///         .range(\.$age, 0...150),
///         .length(\.$name, 1...80),
///         .pattern(\.$email, "[^@]+@[^@]+"),
///         .object("dies before the birth") { $0.died.map { died in died >= $0.born } ?? true },
///     ])
/// ```
///
/// Rules of an entity apply to its subentities too. They are not part of the stored model: stored
/// objects are checked when they next change. A property that is nil fulfils every rule of a
/// property; its type decides whether it may be nil.
public struct Validation<O: CoreStoreObject>: Sendable {
    let rule: ValidationRule

    private init(_ rule: ValidationRule) { self.rule = rule }

    private static func property<V: FieldStorableType>(
        _ kind: Violation.Kind, _ keyPath: KeyPathString, _ type: V.Type,
        _ fault: @escaping @Sendable (V) -> String?
    ) -> Validation {
        Validation(
            ValidationRule(
                kind: kind,
                test: .property(keyPath) { row, offset in
                    row.isNull(offset) ? nil : V.cs_known(row, offset).flatMap(fault)
                }))
    }

    /// A range as Swift writes it.
    private static func text<R: RangeExpression>(of range: R) -> String {
        switch range {
        case let range as PartialRangeFrom<R.Bound>: "\(range.lowerBound)..."
        case let range as PartialRangeUpTo<R.Bound>: "..<\(range.upperBound)"
        case let range as PartialRangeThrough<R.Bound>: "...\(range.upperBound)"
        default: "\(range)"
        }
    }

    private static func outside<R: RangeExpression>(_ range: R, _ value: R.Bound) -> String? {
        range.contains(value) ? nil : "is \(value); it takes \(text(of: range))"
    }

    /// The property's value lies in a range.
    @preconcurrency
    public static func range<
        B: CoreStoreObject, V: FieldStorableType, R: RangeExpression & Sendable
    >(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>, _ range: R
    ) -> Validation where R.Bound == V {
        property(.range, Where<O>.name(keyPath), V.self) { outside(range, $0) }
    }

    /// The property's value lies in a range, or is nil.
    @preconcurrency
    public static func range<
        B: CoreStoreObject, V: FieldStorableType, R: RangeExpression & Sendable
    >(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V?>>, _ range: R
    ) -> Validation where R.Bound == V {
        property(.range, Where<O>.name(keyPath), V.self) { outside(range, $0) }
    }

    private static func length<R: RangeExpression & Sendable>(
        _ keyPath: KeyPathString, _ range: R
    ) -> Validation where R.Bound == Int {
        property(.length, keyPath, String.self) { text in
            range.contains(text.count)
                ? nil : "has \(text.count) character(s); it takes \(Self.text(of: range))"
        }
    }

    /// The number of a text's characters lies in a range.
    @preconcurrency
    public static func length<B: CoreStoreObject, R: RangeExpression & Sendable>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<String>>, _ range: R
    ) -> Validation where R.Bound == Int {
        length(Where<O>.name(keyPath), range)
    }

    /// The number of a text's characters lies in a range, or the text is nil.
    @preconcurrency
    public static func length<B: CoreStoreObject, R: RangeExpression & Sendable>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<String?>>, _ range: R
    ) -> Validation where R.Bound == Int {
        length(Where<O>.name(keyPath), range)
    }

    private static func pattern(_ keyPath: KeyPathString, _ pattern: String) -> Validation {
        guard let expression = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z") else {
            Log.abort("the pattern of \(O.self).\(keyPath) is no regular expression: \(pattern)")
        }
        return property(.pattern, keyPath, String.self) { text in
            do throws(QueryError) {
                return try expression.matchesWhole(text) ? nil : "does not match \(pattern)"
            } catch {
                return "cannot be compared with its pattern: \(error.message)"
            }
        }
    }

    /// The whole of a text matches a regular expression. An invalid expression stops the program
    /// where it is declared.
    public static func pattern<B: CoreStoreObject>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<String>>, _ pattern: String
    ) -> Validation {
        Self.pattern(Where<O>.name(keyPath), pattern)
    }

    /// The whole of a text matches a regular expression, or the text is nil.
    public static func pattern<B: CoreStoreObject>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<String?>>, _ pattern: String
    ) -> Validation {
        Self.pattern(Where<O>.name(keyPath), pattern)
    }

    /// The property's value fulfils a condition of the program's own.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - message: the description of the violation.
    ///   - isValid: called on the thread that commits, with values that are not nil.
    public static func value<B: CoreStoreObject, V: FieldStorableType>(
        _ keyPath: KeyPath<O, FieldContainer<B>.Stored<V>>, _ message: String,
        _ isValid: @escaping @Sendable (V) -> Bool
    ) -> Validation {
        property(.custom, Where<O>.name(keyPath), V.self) { isValid($0) ? nil : message }
    }

    /// The object fulfils a condition of the program's own, which may read its links.
    ///
    /// - Parameters:
    ///   - message: the description of the violation.
    ///   - isValid: called on the thread that commits; it must change nothing.
    public static func object(
        _ message: String, _ isValid: @escaping @Sendable (O) -> Bool
    ) -> Validation {
        Validation(
            ValidationRule(
                kind: .custom,
                test: .object { object in
                    guard let object = object as? O else { return nil }
                    return isValid(object) ? nil : message
                }))
    }
}

/// A rule of any class.
struct ValidationRule: Sendable {
    enum Test: Sendable {
        /// Of one property: what is wrong with its value in a row.
        case property(KeyPathString, @Sendable (FieldRow, Int) -> String?)
        /// Of the whole object.
        case object(@Sendable (CoreStoreObject) -> String?)
    }

    let kind: Violation.Kind
    let test: Test
}

/// The rules of one entity, those of the entities above it included, with their columns.
struct EntityRules {
    struct Property {
        let kind: Violation.Kind
        let name: KeyPathString
        let byteOffset: Int
        let fault: (FieldRow, Int) -> String?
    }

    private(set) var properties: [Property] = []
    private(set) var objects: [(CoreStoreObject) -> String?] = []

    var isEmpty: Bool { properties.isEmpty && objects.isEmpty }

    init(_ rules: [ValidationRule], _ columns: (KeyPathString) -> Int?) {
        for rule in rules {
            switch rule.test {
            case .property(let name, let fault):
                guard let offset = columns(name) else { continue }
                properties.append(
                    Property(kind: rule.kind, name: name, byteOffset: offset, fault: fault))
            case .object(let fault): objects.append(fault)
            }
        }
    }

    /// Whether a row breaks a rule of a property.
    func isBroken(by row: FieldRow) -> Bool {
        properties.contains { $0.fault(row, $0.byteOffset) != nil }
    }
}
