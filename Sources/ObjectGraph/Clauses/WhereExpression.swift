import Query
import RecordStore

// Conditions across relationships: `(\.$master ~ \.$name) == "Ann"`.

infix operator ~ : AdditionPrecedence

/// The number of values that a path leads to: one, or many.
public protocol WhereExpressionTrait {}

extension Where {
    /// Marks paths that lead to one value.
    public enum SingleTarget: WhereExpressionTrait {}

    /// Marks paths that lead to many values: compare them through `any()`, `all()` or `none()`.
    public enum CollectionTarget: WhereExpressionTrait {}

    /// A path across relationships, made with `~`.
    public struct Expression<T: WhereExpressionTrait, V>: AnyKeyPathStringConvertible,
        CustomStringConvertible, Hashable, Sendable
    {
        let path: [String]
        let quantifier: Comparison.Quantifier

        init(_ path: [String], _ quantifier: Comparison.Quantifier = .none) {
            self.path = path
            self.quantifier = quantifier
        }

        /// The names of the path, joined by dots, after the quantifier if there is one.
        public var cs_keyPathString: String {
            let names = path.joined(separator: ".")
            return switch quantifier {
            case .none: names
            case .any: "ANY \(names)"
            case .all: "ALL \(names)"
            case .noneOf: "NONE \(names)"
            }
        }

        public var description: String { cs_keyPathString }

        func appending<Target: WhereExpressionTrait, Value>(
            _ name: KeyPathString
        ) -> Where.Expression<Target, Value> {
            Where.Expression<Target, Value>(path + [name], quantifier)
        }

        func compared(_ operation: Comparison.Operation, _ value: Value) -> Where<O> {
            compared(operation, .constant(value))
        }

        func isMember(of values: [Value]) -> Where<O> {
            compared(.in, .list(values.map { .constant($0) }))
        }

        func compared(_ operation: Comparison.Operation, _ right: Operand) -> Where<O> {
            Where(
                condition: .comparing(
                    Comparison(.keyPath(path), operation, right, quantifier: quantifier)))
        }
    }
}

// MARK: Quantifiers

extension Where.Expression where T == Where.CollectionTarget {
    /// Compares with the values one by one; true when the comparison holds for at least one, so
    /// false when there is none.
    public func any() -> Self { Self(path, .any) }

    /// Compares with the values one by one; true when the comparison holds for each, so also when
    /// there is none.
    public func all() -> Self { Self(path, .all) }

    /// Compares with the values one by one; true when the comparison holds for none of them, so
    /// also when there is none.
    public func none() -> Self { Self(path, .noneOf) }
}

extension Where.Expression where T == Where.CollectionTarget, V: FieldRelationshipToManyType {
    /// The number of objects that the path leads to.
    public func count() -> Where<O>.Expression<Where<O>.SingleTarget, Int> {
        appending("@count")
    }
}

extension KeyPath where Root: CoreStoreObject, Value: ToManyRelationshipKeyPathStringConvertible {
    /// The number of objects that the relationship leads to: `\Person.$pets.count() > 2`.
    public func count() -> Where<Root>.Expression<Where<Root>.SingleTarget, Int> {
        Where<Root>.Expression([Where<Root>.name(self), "@count"])
    }
}

// MARK: Joining

/// An attribute of the object that a to-one relationship leads to.
public func ~ <
    O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, K: AttributeKeyPathStringConvertible
>(
    left: KeyPath<O, FieldContainer<B>.Relationship<D?>>, right: KeyPath<D, K>
) -> Where<O>.Expression<Where<O>.SingleTarget, K.ReturnValueType> {
    Where<O>.Expression([Where<O>.name(left), Where<D>.name(right)])
}

/// A to-one relationship of the object that a to-one relationship leads to.
public func ~ <
    O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, C: CoreStoreObject,
    R: FieldRelationshipToOneType
>(
    left: KeyPath<O, FieldContainer<B>.Relationship<D?>>,
    right: KeyPath<D, FieldContainer<C>.Relationship<R>>
) -> Where<O>.Expression<Where<O>.SingleTarget, R> {
    Where<O>.Expression([Where<O>.name(left), Where<D>.name(right)])
}

/// A to-many relationship of the object that a to-one relationship leads to.
public func ~ <
    O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, C: CoreStoreObject,
    R: FieldRelationshipToManyType
>(
    left: KeyPath<O, FieldContainer<B>.Relationship<D?>>,
    right: KeyPath<D, FieldContainer<C>.Relationship<R>>
) -> Where<O>.Expression<Where<O>.CollectionTarget, R> {
    Where<O>.Expression([Where<O>.name(left), Where<D>.name(right)])
}

/// An attribute of the objects that a to-many relationship leads to.
public func ~ <
    O: CoreStoreObject, B: CoreStoreObject, M: FieldRelationshipToManyType,
    K: AttributeKeyPathStringConvertible
>(
    left: KeyPath<O, FieldContainer<B>.Relationship<M>>,
    right: KeyPath<M.DestinationObjectType, K>
) -> Where<O>.Expression<Where<O>.CollectionTarget, K.ReturnValueType> {
    Where<O>.Expression([Where<O>.name(left), Where<M.DestinationObjectType>.name(right)])
}

/// A relationship of the objects that a to-many relationship leads to.
public func ~ <
    O: CoreStoreObject, B: CoreStoreObject, C: CoreStoreObject, M: FieldRelationshipToManyType,
    R: FieldRelationshipType
>(
    left: KeyPath<O, FieldContainer<B>.Relationship<M>>,
    right: KeyPath<M.DestinationObjectType, FieldContainer<C>.Relationship<R>>
) -> Where<O>.Expression<Where<O>.CollectionTarget, R> {
    Where<O>.Expression([Where<O>.name(left), Where<M.DestinationObjectType>.name(right)])
}

/// An attribute at the end of a longer path.
public func ~ <
    O: CoreStoreObject, T: WhereExpressionTrait, R: FieldRelationshipType,
    K: AttributeKeyPathStringConvertible
>(
    left: Where<O>.Expression<T, R>, right: KeyPath<R.DestinationObjectType, K>
) -> Where<O>.Expression<T, K.ReturnValueType> {
    left.appending(Where<R.DestinationObjectType>.name(right))
}

/// A to-one relationship at the end of a longer path.
public func ~ <
    O: CoreStoreObject, T: WhereExpressionTrait, R: FieldRelationshipType, C: CoreStoreObject,
    N: FieldRelationshipToOneType
>(
    left: Where<O>.Expression<T, R>,
    right: KeyPath<R.DestinationObjectType, FieldContainer<C>.Relationship<N>>
) -> Where<O>.Expression<T, N> {
    left.appending(Where<R.DestinationObjectType>.name(right))
}

/// A to-many relationship at the end of a longer path.
public func ~ <
    O: CoreStoreObject, T: WhereExpressionTrait, R: FieldRelationshipType, C: CoreStoreObject,
    N: FieldRelationshipToManyType
>(
    left: Where<O>.Expression<T, R>,
    right: KeyPath<R.DestinationObjectType, FieldContainer<C>.Relationship<N>>
) -> Where<O>.Expression<Where<O>.CollectionTarget, N> {
    left.appending(Where<R.DestinationObjectType>.name(right))
}

extension String {
    /// The name of a property in the store.
    public init<O: CoreStoreObject, K: AnyKeyPathStringConvertible>(keyPath: KeyPath<O, K>) {
        self = Where<O>.name(keyPath)
    }

    /// The names of a path across relationships.
    public init<O: DynamicObject, T, V>(keyPath: Where<O>.Expression<T, V>) {
        self = keyPath.cs_keyPathString
    }
}
