import RecordStore

/// The base class of the three classes for relationships.
public class LegacyRelationship<O: CoreStoreObject, V: FieldRelationshipType>: LegacyProperty,
    RelationshipKeyPathStringConvertible
{
    public typealias ObjectType = O
    public typealias DestinationValueType = V.DestinationObjectType

    /// The objects that the relationship leads to.
    public var value: V {
        get { V.cs_load(ownObject(O.self), slot) }
        set { newValue.cs_store(ownObject(O.self), slot) }
    }

    /// The property's name in the store.
    public var cs_keyPathString: String { keyPath }

    init(
        _ terms: @autoclosure () -> FieldTerms, _ kind: RelationshipKind, _ counts: (Int, Int),
        _ deleteRule: DeleteRule,
        inverse: ((V.DestinationObjectType) -> any AnyKeyPathStringConvertible)?
    ) {
        super.init(
            slot: FieldPlan.next()
                ?? FieldContainer<O>.Relationship<V>.declare(
                    terms(), kind, minCount: counts.0, maxCount: counts.1, deleteRule,
                    inverseName: inverse.map { inverse in
                        {
                            inverse(ClassMeta.object(V.DestinationObjectType.self))
                                .cs_keyPathString
                        }
                    }))
    }
}

extension RelationshipContainer {
    /// A to-one relationship: `let master = Relationship.ToOne<Person>("master")`.
    public final class ToOne<D: CoreStoreObject>: LegacyRelationship<O, D?> {
        /// A relationship without an inverse, or whose inverse the other end declares.
        public init(
            _ keyPath: @autoclosure () -> KeyPathString, deleteRule: DeleteRule = .nullify,
            versionHashModifier: @autoclosure () -> String? = nil,
            renamingIdentifier: @autoclosure () -> String? = nil,
            affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
        ) {
            super.init(
                FieldTerms(
                    O.self, keyPath(), versionHashModifier(), renamingIdentifier(),
                    affectedByKeyPaths),
                .toOne, (0, 0), deleteRule, inverse: nil)
        }

        /// A relationship with the property at the other end as its inverse, which declares none
        /// itself.
        public init<I: FieldRelationshipType>(
            _ keyPath: @autoclosure () -> KeyPathString,
            inverse: @escaping (D) -> LegacyRelationship<D, I>,
            deleteRule: DeleteRule = .nullify,
            versionHashModifier: @autoclosure () -> String? = nil,
            renamingIdentifier: @autoclosure () -> String? = nil,
            affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
        ) {
            super.init(
                FieldTerms(
                    O.self, keyPath(), versionHashModifier(), renamingIdentifier(),
                    affectedByKeyPaths),
                .toOne, (0, 0), deleteRule, inverse: { inverse($0) })
        }
    }

    /// A to-many relationship that keeps the program's order.
    public final class ToManyOrdered<D: CoreStoreObject>: LegacyRelationship<O, [D]>,
        ToManyRelationshipKeyPathStringConvertible
    {
        /// A relationship without an inverse, or whose inverse the other end declares. Commits
        /// check the counts.
        public init(
            _ keyPath: @autoclosure () -> KeyPathString, minCount: Int = 0, maxCount: Int = 0,
            deleteRule: DeleteRule = .nullify,
            versionHashModifier: @autoclosure () -> String? = nil,
            renamingIdentifier: @autoclosure () -> String? = nil,
            affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
        ) {
            super.init(
                FieldTerms(
                    O.self, keyPath(), versionHashModifier(), renamingIdentifier(),
                    affectedByKeyPaths),
                .ordered, (minCount, maxCount), deleteRule, inverse: nil)
        }

        /// A relationship with the property at the other end as its inverse, which declares none
        /// itself.
        public init<I: FieldRelationshipType>(
            _ keyPath: @autoclosure () -> KeyPathString, minCount: Int = 0, maxCount: Int = 0,
            inverse: @escaping (D) -> LegacyRelationship<D, I>,
            deleteRule: DeleteRule = .nullify,
            versionHashModifier: @autoclosure () -> String? = nil,
            renamingIdentifier: @autoclosure () -> String? = nil,
            affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
        ) {
            super.init(
                FieldTerms(
                    O.self, keyPath(), versionHashModifier(), renamingIdentifier(),
                    affectedByKeyPaths),
                .ordered, (minCount, maxCount), deleteRule, inverse: { inverse($0) })
        }
    }

    /// A to-many relationship without order.
    public final class ToManyUnordered<D: CoreStoreObject>: LegacyRelationship<O, Set<D>>,
        ToManyRelationshipKeyPathStringConvertible
    {
        /// A relationship without an inverse, or whose inverse the other end declares. Commits
        /// check the counts.
        public init(
            _ keyPath: @autoclosure () -> KeyPathString, minCount: Int = 0, maxCount: Int = 0,
            deleteRule: DeleteRule = .nullify,
            versionHashModifier: @autoclosure () -> String? = nil,
            renamingIdentifier: @autoclosure () -> String? = nil,
            affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
        ) {
            super.init(
                FieldTerms(
                    O.self, keyPath(), versionHashModifier(), renamingIdentifier(),
                    affectedByKeyPaths),
                .unordered, (minCount, maxCount), deleteRule, inverse: nil)
        }

        /// A relationship with the property at the other end as its inverse, which declares none
        /// itself.
        public init<I: FieldRelationshipType>(
            _ keyPath: @autoclosure () -> KeyPathString, minCount: Int = 0, maxCount: Int = 0,
            inverse: @escaping (D) -> LegacyRelationship<D, I>,
            deleteRule: DeleteRule = .nullify,
            versionHashModifier: @autoclosure () -> String? = nil,
            renamingIdentifier: @autoclosure () -> String? = nil,
            affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
        ) {
            super.init(
                FieldTerms(
                    O.self, keyPath(), versionHashModifier(), renamingIdentifier(),
                    affectedByKeyPaths),
                .unordered, (minCount, maxCount), deleteRule, inverse: { inverse($0) })
        }
    }
}

extension RelationshipContainer.ToManyOrdered: RandomAccessCollection {
    public var startIndex: Int { value.startIndex }
    public var endIndex: Int { value.endIndex }
    /// The object at an index. Each call reads the list: iterate over the property, or over its
    /// `value`.
    public subscript(position: Int) -> D { value[position] }
    /// The objects in a range of indices. The list is read once.
    public subscript(bounds: Range<Int>) -> ArraySlice<D> { value[bounds] }
    /// An iterator over the current list, which is read once.
    public func makeIterator() -> Array<D>.Iterator { value.makeIterator() }
    /// The current list in reverse order.
    public func reversed() -> ReversedCollection<[D]> { value.reversed() }
}

extension RelationshipContainer.ToManyUnordered: Sequence {
    /// The number of objects.
    public var count: Int { value.count }
    /// Whether there is no object.
    public var isEmpty: Bool { value.isEmpty }
    /// Whether the relationship leads to an object.
    public func contains(_ object: D) -> Bool { value.contains(object) }
    public func makeIterator() -> Set<D>.Iterator { value.makeIterator() }
}
