import RecordStore

/// A type that `@Field.Relationship` may have: `D?`, `[D]` or `Set<D>`.
public protocol FieldRelationshipType {
    /// The class of the objects that the relationship leads to.
    associatedtype DestinationObjectType: CoreStoreObject
    /// The objects that the property of an object leads to.
    static func cs_load(_ object: CoreStoreObject, _ slot: UInt16) -> Self
    /// Stores the objects that the property of an object leads to.
    func cs_store(_ object: CoreStoreObject, _ slot: UInt16)

    /// The type with publishers instead of objects.
    associatedtype PublishedType
    /// Publishers as the relationship's type has them.
    static func cs_published(_ publishers: [ObjectPublisher<DestinationObjectType>])
        -> PublishedType
    /// The publishers of the relationship, as an array.
    static func cs_publishers(_ published: PublishedType) -> [ObjectPublisher<
        DestinationObjectType
    >]
}

/// A to-one relationship: `D?`.
public protocol FieldRelationshipToOneType: FieldRelationshipType {}
/// A to-many relationship: `[D]` or `Set<D>`.
public protocol FieldRelationshipToManyType: FieldRelationshipType where Self: Sequence {}
/// A to-many relationship that keeps the program's order: `[D]`.
public protocol FieldRelationshipToManyOrderedType: FieldRelationshipToManyType {}
/// A to-many relationship without order: `Set<D>`.
public protocol FieldRelationshipToManyUnorderedType: FieldRelationshipToManyType {}

extension Optional: FieldRelationshipType, FieldRelationshipToOneType
where Wrapped: CoreStoreObject {
    public typealias DestinationObjectType = Wrapped

    @inlinable
    public static func cs_load(_ object: CoreStoreObject, _ slot: UInt16) -> Wrapped? {
        object.linkedObject(slot) as? Wrapped
    }

    @inlinable
    public func cs_store(_ object: CoreStoreObject, _ slot: UInt16) {
        object.setLinkedObject(self, slot)
    }

    public static func cs_published(
        _ publishers: [ObjectPublisher<Wrapped>]
    ) -> ObjectPublisher<Wrapped>? {
        publishers.first
    }

    public static func cs_publishers(
        _ published: ObjectPublisher<Wrapped>?
    ) -> [ObjectPublisher<Wrapped>] {
        published.map { [$0] } ?? []
    }
}

extension Array: FieldRelationshipType, FieldRelationshipToManyType,
    FieldRelationshipToManyOrderedType
where Element: CoreStoreObject {
    public typealias DestinationObjectType = Element

    @inlinable
    public static func cs_load(_ object: CoreStoreObject, _ slot: UInt16) -> [Element] {
        object.linkedObjects(slot).compactMap { $0 as? Element }
    }

    @inlinable
    public func cs_store(_ object: CoreStoreObject, _ slot: UInt16) {
        object.setLinkedObjects(self, slot)
    }

    public static func cs_published(
        _ publishers: [ObjectPublisher<Element>]
    ) -> [ObjectPublisher<Element>] {
        publishers
    }

    public static func cs_publishers(
        _ published: [ObjectPublisher<Element>]
    ) -> [ObjectPublisher<Element>] {
        published
    }
}

extension Set: FieldRelationshipType, FieldRelationshipToManyType,
    FieldRelationshipToManyUnorderedType
where Element: CoreStoreObject {
    public typealias DestinationObjectType = Element

    @inlinable
    public static func cs_load(_ object: CoreStoreObject, _ slot: UInt16) -> Set<Element> {
        let objects = object.linkedObjects(slot)
        var set = Set<Element>(minimumCapacity: objects.count)
        for case let object as Element in objects { set.insert(object) }
        return set
    }

    @inlinable
    public func cs_store(_ object: CoreStoreObject, _ slot: UInt16) {
        object.setLinkedObjects(Array(self), slot)
    }

    public static func cs_published(
        _ publishers: [ObjectPublisher<Element>]
    ) -> Set<ObjectPublisher<Element>> {
        Set<ObjectPublisher<Element>>(publishers)
    }

    public static func cs_publishers(
        _ published: Set<ObjectPublisher<Element>>
    ) -> [ObjectPublisher<Element>] {
        Array(published)
    }
}

/// The fate of the objects that a deleted object leads to.
public enum DeleteRule: Sendable {
    /// They stay, without their link to the deleted object.
    case nullify
    /// They are deleted too.
    case cascade
    /// The object cannot be deleted while there are any: the transaction fails, unless it deletes
    /// them too, or gives each to another object by a to-one inverse.
    case deny

    /// An alias of ``nullify``: a link to an object that is gone leads nowhere, and is cleared.
    public static var noAction: DeleteRule { .nullify }

    var stored: RelationshipDescription.DeleteRule {
        switch self {
        case .nullify: .nullify
        case .cascade: .cascade
        case .deny: .deny
        }
    }
}

extension FieldContainer {
    /// Links to other objects: `@Field.Relationship("pets", inverse: \.$master) var pets:
    /// Set<Dog>`.
    ///
    /// The inverse is declared on one of the two sides and kept on both at once inside a
    /// transaction.
    @frozen @propertyWrapper
    public struct Relationship<V: FieldRelationshipType>: RelationshipKeyPathStringConvertible {
        public typealias ObjectType = O
        public typealias DestinationValueType = V.DestinationObjectType
        /// The fate of the objects at the other end; see ``ObjectGraph/DeleteRule``.
        public typealias DeleteRule = ObjectGraph.DeleteRule

        /// The number of the relationship, or the index of a declaration.
        @usableFromInline let slot: UInt16

        @available(*, unavailable, message: "@Field.Relationship belongs to a CoreStoreObject")
        public var wrappedValue: V {
            get { preconditionFailure("a field is read through its object") }
            set { preconditionFailure("a field is written through its object") }
        }

        public var projectedValue: Self { self }

        /// The relationship's name in the store.
        public var cs_keyPathString: String { FieldRegistry.declaration(slot).keyPath }

        /// The objects that the relationship of an object leads to; the compiler calls this for
        /// each access.
        public static subscript(
            _enclosingInstance object: O, wrapped wrapped: ReferenceWritableKeyPath<O, V>,
            storage storage: ReferenceWritableKeyPath<O, Self>
        ) -> V {
            @inlinable get { V.cs_load(object, object[keyPath: storage].slot) }
            @inlinable set { newValue.cs_store(object, object[keyPath: storage].slot) }
        }

        @usableFromInline init(slot: UInt16) { self.slot = slot }

        @usableFromInline
        static func declare(
            _ terms: FieldTerms, _ kind: RelationshipKind, minCount: Int, maxCount: Int,
            _ deleteRule: DeleteRule, inverseName: (() -> String)?
        ) -> UInt16 {
            Log.assert(
                maxCount == 0 || minCount <= maxCount,
                "the least count of \(terms.keyPath) is above its greatest")
            let relationship = RelationshipDeclaration(
                kind: kind.stored, destination: V.DestinationObjectType.self,
                inverseName: inverseName, deleteRule: deleteRule.stored,
                minCount: max(0, minCount), maxCount: max(0, maxCount))
            return FieldRegistry.register(FieldDeclaration(terms, .relationship(relationship)))
        }

        @usableFromInline
        static func name<B: CoreStoreObject, I: FieldRelationshipType>(
            of inverse: KeyPath<V.DestinationObjectType, FieldContainer<B>.Relationship<I>>
        ) -> () -> String {
            {
                ClassMeta.object(V.DestinationObjectType.self)[keyPath: inverse].cs_keyPathString
            }
        }
    }
}

extension FieldContainer.Relationship: ToManyRelationshipKeyPathStringConvertible
where V: FieldRelationshipToManyType {}

/// The three shapes of a relationship.
@usableFromInline
enum RelationshipKind {
    case toOne, ordered, unordered

    var stored: RelationshipLayout.Kind {
        switch self {
        case .toOne: .toOne
        case .ordered: .toManyOrdered
        case .unordered: .toManyUnordered
        }
    }
}
