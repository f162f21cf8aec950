// The initialisers of `@Field.Relationship`, by the shape of the property: an initial value makes
// no sense for any of them, because a new object has no links.

extension FieldContainer.Relationship where V: FieldRelationshipToOneType {
    /// A to-one relationship.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        deleteRule: @autoclosure () -> DeleteRule = .nullify,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    FieldTerms(
                        O.self, keyPath(), versionHashModifier(), previousVersionKeyPath(),
                        affectedByKeyPaths),
                    .toOne, minCount: 0, maxCount: 0, deleteRule(), inverseName: nil))
    }

    /// A to-one relationship whose other side is the inverse, which declares none itself.
    @inlinable
    public init<B: CoreStoreObject, I: FieldRelationshipType>(
        _ keyPath: @autoclosure () -> KeyPathString,
        inverse:
            @autoclosure () -> KeyPath<
                V.DestinationObjectType, FieldContainer<B>.Relationship<I>
            >,
        deleteRule: @autoclosure () -> DeleteRule = .nullify,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    FieldTerms(
                        O.self, keyPath(), versionHashModifier(), previousVersionKeyPath(),
                        affectedByKeyPaths),
                    .toOne, minCount: 0, maxCount: 0, deleteRule(),
                    inverseName: Self.name(of: inverse())))
    }
}

extension FieldContainer.Relationship where V: FieldRelationshipToManyOrderedType {
    /// A to-many relationship that keeps the program's order; an object is in it once.
    ///
    /// - Parameter minCount: how many objects a commit asks for at least where there are any: an
    ///   empty list is always allowed.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        minCount: @autoclosure () -> Int = 0,
        maxCount: @autoclosure () -> Int = 0,
        deleteRule: @autoclosure () -> DeleteRule = .nullify,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    FieldTerms(
                        O.self, keyPath(), versionHashModifier(), previousVersionKeyPath(),
                        affectedByKeyPaths),
                    .ordered, minCount: minCount(), maxCount: maxCount(), deleteRule(),
                    inverseName: nil))
    }

    /// A to-many relationship that keeps the program's order, and whose other side is the inverse,
    /// which declares none itself; an object is in it once.
    ///
    /// - Parameter minCount: how many objects a commit asks for at least where there are any: an
    ///   empty list is always allowed.
    @inlinable
    public init<B: CoreStoreObject, I: FieldRelationshipType>(
        _ keyPath: @autoclosure () -> KeyPathString,
        minCount: @autoclosure () -> Int = 0,
        maxCount: @autoclosure () -> Int = 0,
        inverse:
            @autoclosure () -> KeyPath<
                V.DestinationObjectType, FieldContainer<B>.Relationship<I>
            >,
        deleteRule: @autoclosure () -> DeleteRule = .nullify,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    FieldTerms(
                        O.self, keyPath(), versionHashModifier(), previousVersionKeyPath(),
                        affectedByKeyPaths),
                    .ordered, minCount: minCount(), maxCount: maxCount(), deleteRule(),
                    inverseName: Self.name(of: inverse())))
    }
}

extension FieldContainer.Relationship where V: FieldRelationshipToManyUnorderedType {
    /// A to-many relationship without order.
    ///
    /// - Parameter minCount: how many objects a commit asks for at least where there are any: an
    ///   empty list is always allowed.
    @inlinable
    public init(
        _ keyPath: @autoclosure () -> KeyPathString,
        minCount: @autoclosure () -> Int = 0,
        maxCount: @autoclosure () -> Int = 0,
        deleteRule: @autoclosure () -> DeleteRule = .nullify,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    FieldTerms(
                        O.self, keyPath(), versionHashModifier(), previousVersionKeyPath(),
                        affectedByKeyPaths),
                    .unordered, minCount: minCount(), maxCount: maxCount(), deleteRule(),
                    inverseName: nil))
    }

    /// A to-many relationship without order whose other side is the inverse, which declares none
    /// itself.
    ///
    /// - Parameter minCount: how many objects a commit asks for at least where there are any: an
    ///   empty list is always allowed.
    @inlinable
    public init<B: CoreStoreObject, I: FieldRelationshipType>(
        _ keyPath: @autoclosure () -> KeyPathString,
        minCount: @autoclosure () -> Int = 0,
        maxCount: @autoclosure () -> Int = 0,
        inverse:
            @autoclosure () -> KeyPath<
                V.DestinationObjectType, FieldContainer<B>.Relationship<I>
            >,
        deleteRule: @autoclosure () -> DeleteRule = .nullify,
        versionHashModifier: @autoclosure () -> String? = nil,
        previousVersionKeyPath: @autoclosure () -> String? = nil,
        affectedByKeyPaths: @autoclosure @escaping () -> Set<KeyPathString> = []
    ) {
        self.init(
            slot: FieldPlan.next()
                ?? Self.declare(
                    FieldTerms(
                        O.self, keyPath(), versionHashModifier(), previousVersionKeyPath(),
                        affectedByKeyPaths),
                    .unordered, minCount: minCount(), maxCount: maxCount(), deleteRule(),
                    inverseName: Self.name(of: inverse())))
    }
}
