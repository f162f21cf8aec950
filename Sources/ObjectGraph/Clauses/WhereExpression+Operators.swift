import Query
import RecordStore

// Comparisons of paths made with `~`. A value may be compared with a path to an optional as well
// as with one to a value; the optional forms take nil.

/// The path leads to this value; to none when it is nil.
public func == <O, T, V: FieldStorableType>(
    left: Where<O>.Expression<T, V>, right: V
) -> Where<O> {
    left.compared(.equal, ValueBridge.value(compared: right))
}

/// The path leads to this value; to none when it is nil.
public func == <O, T, V: FieldStorableType>(
    left: Where<O>.Expression<T, V>, right: V?
) -> Where<O> {
    left.compared(.equal, ValueBridge.value(compared: right))
}

/// The path does not lead to this value. A path that leads to nothing fulfils it too.
public func != <O, T, V: FieldStorableType>(
    left: Where<O>.Expression<T, V>, right: V
) -> Where<O> {
    !(left == right)
}

/// The path does not lead to this value. A path that leads to nothing fulfils it too, unless the
/// value is nil.
public func != <O, T, V: FieldStorableType>(
    left: Where<O>.Expression<T, V>, right: V?
) -> Where<O> {
    !(left == right)
}

/// The path leads to a value that is less than this one.
public func < <O, T, V: FieldStorableType & Comparable>(
    left: Where<O>.Expression<T, V>, right: V
) -> Where<O> {
    left.compared(.less, ValueBridge.value(compared: right))
}

/// The path leads to a value that is less than this one or equal to it.
public func <= <O, T, V: FieldStorableType & Comparable>(
    left: Where<O>.Expression<T, V>, right: V
) -> Where<O> {
    left.compared(.lessOrEqual, ValueBridge.value(compared: right))
}

/// The path leads to a value that is greater than this one.
public func > <O, T, V: FieldStorableType & Comparable>(
    left: Where<O>.Expression<T, V>, right: V
) -> Where<O> {
    left.compared(.greater, ValueBridge.value(compared: right))
}

/// The path leads to a value that is greater than this one or equal to it.
public func >= <O, T, V: FieldStorableType & Comparable>(
    left: Where<O>.Expression<T, V>, right: V
) -> Where<O> {
    left.compared(.greaterOrEqual, ValueBridge.value(compared: right))
}

/// The path leads to a value that is less than this one. False where either is nil.
public func < <O, T, V: FieldStorableType & FieldOptionalType>(
    left: Where<O>.Expression<T, V>, right: V
) -> Where<O> where V.Wrapped: Comparable {
    left.compared(.less, ValueBridge.value(compared: right))
}

/// The path leads to a value that is less than this one or equal to it. Nil is equal to nil alone.
public func <= <O, T, V: FieldStorableType & FieldOptionalType>(
    left: Where<O>.Expression<T, V>, right: V
) -> Where<O> where V.Wrapped: Comparable {
    left.compared(.lessOrEqual, ValueBridge.value(compared: right))
}

/// The path leads to a value that is greater than this one. False where either is nil.
public func > <O, T, V: FieldStorableType & FieldOptionalType>(
    left: Where<O>.Expression<T, V>, right: V
) -> Where<O> where V.Wrapped: Comparable {
    left.compared(.greater, ValueBridge.value(compared: right))
}

/// The path leads to a value that is greater than this one or equal to it. Nil is equal to nil
/// alone.
public func >= <O, T, V: FieldStorableType & FieldOptionalType>(
    left: Where<O>.Expression<T, V>, right: V
) -> Where<O> where V.Wrapped: Comparable {
    left.compared(.greaterOrEqual, ValueBridge.value(compared: right))
}

/// The path leads to one of these values.
public func ~= <O, T, V: FieldStorableType, S: Sequence>(
    sequence: S, expression: Where<O>.Expression<T, V>
) -> Where<O> where S.Element == V {
    expression.isMember(of: sequence.map { ValueBridge.value(compared: $0) })
}

/// The path leads to one of these values.
@_disfavoredOverload
public func ~= <O, T, V: FieldOptionalType, S: Sequence>(
    sequence: S, expression: Where<O>.Expression<T, V>
) -> Where<O> where V.Wrapped == S.Element, S.Element: FieldStorableType {
    expression.isMember(of: sequence.map { ValueBridge.value(compared: $0) })
}

/// The path leads to this object; to none when it is nil.
public func == <O, T, D: CoreStoreObject>(
    left: Where<O>.Expression<T, D?>, right: D?
) -> Where<O> {
    let object = right.map { Operand.object($0.objectID().reference) }
    return left.compared(.equal, object ?? .constant(.null))
}

/// The path does not lead to this object; to any when it is nil.
public func != <O, T, D: CoreStoreObject>(
    left: Where<O>.Expression<T, D?>, right: D?
) -> Where<O> {
    !(left == right)
}

/// The path leads to one of these objects.
public func ~= <O, T, D: CoreStoreObject, S: Sequence>(
    sequence: S, expression: Where<O>.Expression<T, D?>
) -> Where<O> where S.Element == D {
    expression.compared(.in, .list(sequence.map { .object($0.objectID().reference) }))
}
