import Foundation

/// A type that `Select` may return: one of the value types, or `NSDictionary` for several columns.
public protocol SelectResultType {}

/// A type that holds several columns at once.
public protocol SelectAttributesResultType: SelectResultType {}

extension NSDictionary: SelectAttributesResultType {}

/// A value that a query may return and a condition may compare with.
///
/// A type of the program's own declares its stored form, as a ``FieldStorableType`` does: with
/// `NSNumber` as its ``QueryableNativeType``, for example.
public protocol QueryableAttributeType: Hashable, SelectResultType, SendableMetatype {
    /// The type that the value is made from, see ``CoreDataNativeType``; `Any` for types that
    /// accept several forms.
    associatedtype QueryableNativeType = Any
    /// The type of the stored form.
    static var cs_rawAttributeType: NSAttributeType { get }

    /// The value of a stored form; nil when it cannot be of this type. Numbers convert to each
    /// other; a fraction is truncated.
    static func cs_fromQueryableNativeType(_ value: QueryableNativeType) -> Self?

    /// The stored form: a Bool, Int64, UInt64, Float, Double, Decimal, String, Data, Date, UUID,
    /// URL or object ID.
    func cs_toQueryableNativeType() -> QueryableNativeType
}

/// A value that can be the identity of imported objects.
public protocol ImportableAttributeType: QueryableAttributeType {}
