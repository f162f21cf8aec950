import RecordStore

/// The three classes for relationships share how they read, write and declare.
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
        /// A relationship whose other end names it, or that has none.
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

        /// The same with the property at the other end, which names none itself.
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
        /// A relationship whose other end names it, or that has none. Commits check the counts.
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

        /// The same with the property at the other end, which names none itself.
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
        /// A relationship whose other end names it, or that has none. Commits check the counts.
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

        /// The same with the property at the other end, which names none itself.
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
    /// The object at a place. Each call reads the list: a loop goes over the property or ``value``.
    public subscript(position: Int) -> D { value[position] }
    /// The objects at some places, of which the list is read once.
    public subscript(bounds: Range<Int>) -> ArraySlice<D> { value[bounds] }
    /// Goes over the list as it is now, which is read once.
    public func makeIterator() -> Array<D>.Iterator { value.makeIterator() }
    /// The list as it is now, from its end on.
    public func reversed() -> ReversedCollection<[D]> { value.reversed() }
}

extension RelationshipContainer.ToManyUnordered: Sequence {
    /// How many objects there are.
    public var count: Int { value.count }
    public var isEmpty: Bool { value.isEmpty }
    public func contains(_ object: D) -> Bool { value.contains(object) }
    public func makeIterator() -> Set<D>.Iterator { value.makeIterator() }
}
