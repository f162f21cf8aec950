import Foundation

/// What `Select` may give back: the value types, and `NSDictionary` for several columns.
public protocol SelectResultType {}

/// Several columns at once.
public protocol SelectAttributesResultType: SelectResultType {}

extension NSDictionary: SelectAttributesResultType {}

/// A value that a query may return and a condition may compare with.
///
/// A type of the program's own says what it is kept as, as a ``FieldStorableType`` does: with
/// `NSNumber` as its ``QueryableNativeType``, say.
public protocol QueryableAttributeType: Hashable, SelectResultType, SendableMetatype {
    /// What the value is made from: see ``CoreDataNativeType``; `Any` for the types that take
    /// several forms.
    associatedtype QueryableNativeType = Any
    /// How the value is kept.
    static var cs_rawAttributeType: NSAttributeType { get }

    /// The value that a stored one becomes; nil when it cannot be this type. Numbers convert into
    /// each other, a fraction being cut off.
    static func cs_fromQueryableNativeType(_ value: QueryableNativeType) -> Self?

    /// The stored form: a Bool, Int64, UInt64, Float, Double, Decimal, String, Data, Date, UUID,
    /// URL or object ID.
    func cs_toQueryableNativeType() -> QueryableNativeType
}

/// A value that an import may identify objects by.
public protocol ImportableAttributeType: QueryableAttributeType {}
