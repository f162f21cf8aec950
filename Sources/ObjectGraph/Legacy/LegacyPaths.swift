import Query

// Paths across the classes for relationships, and chains that name the classes for values.

/// An attribute of the object that a to-one relationship leads to.
public func ~ <
    O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, K: AttributeKeyPathStringConvertible
>(
    left: KeyPath<O, RelationshipContainer<B>.ToOne<D>>, right: KeyPath<D, K>
) -> Where<O>.Expression<Where<O>.SingleTarget, K.ReturnValueType> {
    Where<O>.Expression([Where<O>.name(left), Where<D>.name(right)])
}

/// A to-one relationship of the object that a to-one relationship leads to.
public func ~ <
    O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, C: CoreStoreObject,
    E: CoreStoreObject
>(
    left: KeyPath<O, RelationshipContainer<B>.ToOne<D>>,
    right: KeyPath<D, RelationshipContainer<C>.ToOne<E>>
) -> Where<O>.Expression<Where<O>.SingleTarget, E?> {
    Where<O>.Expression([Where<O>.name(left), Where<D>.name(right)])
}

/// A to-one relationship at the end of a longer path.
public func ~ <
    O: CoreStoreObject, T: WhereExpressionTrait, R: FieldRelationshipType, C: CoreStoreObject,
    E: CoreStoreObject
>(
    left: Where<O>.Expression<T, R>,
    right: KeyPath<R.DestinationObjectType, RelationshipContainer<C>.ToOne<E>>
) -> Where<O>.Expression<T, E?> {
    left.appending(Where<R.DestinationObjectType>.name(right))
}

/// A to-many relationship of the object that a to-one relationship leads to.
public func ~ <
    O: CoreStoreObject, B: CoreStoreObject, D: CoreStoreObject, C: CoreStoreObject,
    M: FieldRelationshipToManyType, L: LegacyRelationship<C, M>
>(
    left: KeyPath<O, RelationshipContainer<B>.ToOne<D>>, right: KeyPath<D, L>
) -> Where<O>.Expression<Where<O>.CollectionTarget, M> {
    Where<O>.Expression([Where<O>.name(left), Where<D>.name(right)])
}

/// A to-many relationship at the end of a longer path.
public func ~ <
    O: CoreStoreObject, T: WhereExpressionTrait, R: FieldRelationshipType, C: CoreStoreObject,
    M: FieldRelationshipToManyType, L: LegacyRelationship<C, M>
>(
    left: Where<O>.Expression<T, R>, right: KeyPath<R.DestinationObjectType, L>
) -> Where<O>.Expression<Where<O>.CollectionTarget, M> {
    left.appending(Where<R.DestinationObjectType>.name(right))
}

/// An attribute of the objects that a to-many relationship leads to.
public func ~ <
    O: CoreStoreObject, B: CoreStoreObject, M: FieldRelationshipToManyType,
    L: LegacyRelationship<B, M>, K: AttributeKeyPathStringConvertible
>(
    left: KeyPath<O, L>, right: KeyPath<M.DestinationObjectType, K>
) -> Where<O>.Expression<Where<O>.CollectionTarget, K.ReturnValueType> {
    Where<O>.Expression([Where<O>.name(left), Where<M.DestinationObjectType>.name(right)])
}

/// A relationship of the objects that a to-many relationship leads to.
public func ~ <
    O: CoreStoreObject, B: CoreStoreObject, M: FieldRelationshipToManyType,
    L: LegacyRelationship<B, M>, C: CoreStoreObject, R: FieldRelationshipType,
    E: LegacyRelationship<C, R>
>(
    left: KeyPath<O, L>, right: KeyPath<M.DestinationObjectType, E>
) -> Where<O>.Expression<Where<O>.CollectionTarget, R> {
    Where<O>.Expression([Where<O>.name(left), Where<M.DestinationObjectType>.name(right)])
}

extension From where O: CoreStoreObject {
    /// Queries one attribute.
    public func select<B: CoreStoreObject, R: QueryableAttributeType>(
        _ keyPath: KeyPath<O, ValueContainer<B>.Required<R>>
    ) -> QueryChainBuilder<O, R> {
        select(Select<O, R>([.attribute(keyPath)]))
    }

    /// Queries one attribute that may be nil.
    public func select<B: CoreStoreObject, R: QueryableAttributeType>(
        _ keyPath: KeyPath<O, ValueContainer<B>.Optional<R>>
    ) -> QueryChainBuilder<O, R> {
        select(Select<O, R>([.attribute(keyPath)]))
    }
}

extension QueryChainBuilder where O: CoreStoreObject {
    /// Returns one row for each value of an attribute.
    public func groupBy<A: LegacyProperty & AttributeKeyPathStringConvertible>(
        _ keyPath: KeyPath<O, A>
    ) -> QueryChainBuilder<O, R> {
        groupBy(GroupBy<O>(keyPath))
    }
}

extension From where O: CoreStoreObject {
    /// Divides an observed list into sections by an attribute.
    @preconcurrency
    public func sectionBy<A: LegacyProperty & AttributeKeyPathStringConvertible>(
        _ sectionKeyPath: KeyPath<O, A>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath, sectionIndexTransformer: sectionIndexTransformer))
    }
}
