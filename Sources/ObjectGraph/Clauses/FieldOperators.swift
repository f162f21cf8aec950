import Query
import RecordStore

// Conditions in closures: `Where<Dog> { $0.$age > 3 }`. The result is a condition of whatever class
// the closure is asked about, so that inherited properties fit.

extension FieldContainer.Stored {
    private func compare<Result: DynamicObject>(
        _ operation: Comparison.Operation, _ value: V
    ) -> Where<Result> {
        Where(
            condition: Where<Result>.comparison(
                cs_keyPathString, operation, .constant(ValueBridge.value(compared: value))))
    }

    /// The property has this value; none when it is nil.
    public static func == <Result: CoreStoreObject>(field: Self, value: V) -> Where<Result> {
        field.compare(.equal, value)
    }

    /// The property does not have this value. An object whose property is nil fulfils it too,
    /// unless the value is nil.
    public static func != <Result: CoreStoreObject>(field: Self, value: V) -> Where<Result> {
        let equal: Where<Result> = field.compare(.equal, value)
        return !equal
    }

    /// The property is less than a value; false where either is nil.
    public static func < <Result: CoreStoreObject>(field: Self, value: V) -> Where<Result> {
        field.compare(.less, value)
    }

    /// The property is less than a value or equal to it. Nil is equal to nil alone.
    public static func <= <Result: CoreStoreObject>(field: Self, value: V) -> Where<Result> {
        field.compare(.lessOrEqual, value)
    }

    /// The property is greater than a value; false where either is nil.
    public static func > <Result: CoreStoreObject>(field: Self, value: V) -> Where<Result> {
        field.compare(.greater, value)
    }

    /// The property is greater than a value or equal to it. Nil is equal to nil alone.
    public static func >= <Result: CoreStoreObject>(field: Self, value: V) -> Where<Result> {
        field.compare(.greaterOrEqual, value)
    }

    /// The property has one of these values.
    public static func ~= <Result: CoreStoreObject, S: Sequence>(
        sequence: S, field: Self
    ) -> Where<Result> where S.Element == V {
        Where(field.cs_keyPathString, isMemberOf: sequence)
    }
}

extension FieldContainer.Relationship where V: FieldRelationshipToOneType {
    /// The relationship leads to this object; to none when it is nil.
    public static func == <Result: CoreStoreObject>(
        field: Self, object: V.DestinationObjectType?
    ) -> Where<Result> {
        Where(field.cs_keyPathString, isEqualTo: object)
    }

    /// The relationship does not lead to this object; to any when it is nil.
    public static func != <Result: CoreStoreObject>(
        field: Self, object: V.DestinationObjectType?
    ) -> Where<Result> {
        !Where(field.cs_keyPathString, isEqualTo: object)
    }

    /// The relationship leads to one of these objects.
    public static func ~= <Result: CoreStoreObject, S: Sequence>(
        sequence: S, field: Self
    ) -> Where<Result> where S.Element == V.DestinationObjectType {
        Where(field.cs_keyPathString, isMemberOf: sequence)
    }
}
