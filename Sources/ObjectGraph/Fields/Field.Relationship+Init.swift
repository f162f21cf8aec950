// The initialisers of `@Field.Relationship`, by the shape of the property: an initial value makes
// no sense for any of them, because a new object has no links.

extension FieldContainer.Relationship where V: FieldRelationshipToOneType {
    /// A to-one relationship without an inverse.
    ///
    /// - Parameters:
    ///   - keyPath: the name in the store, which stays when the Swift property is renamed.
    ///   - deleteRule: the fate of the objects that a deleted object leads to.
    ///   - versionHashModifier: makes the model another one though nothing else differs.
    ///   - previousVersionKeyPath: the name in the model version before.
    ///   - affectedByKeyPaths: properties whose change changes this one, evaluated when the schema
    ///     is complete.
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

    /// A to-one relationship with an inverse, which both sides keep inside a transaction.
    ///
    /// - Parameters:
    ///   - keyPath: the name in the store, which stays when the Swift property is renamed.
    ///   - inverse: the relationship that leads back, which declares no inverse itself.
    ///   - deleteRule: the fate of the objects that a deleted object leads to.
    ///   - versionHashModifier: makes the model another one though nothing else differs.
    ///   - previousVersionKeyPath: the name in the model version before.
    ///   - affectedByKeyPaths: properties whose change changes this one, evaluated when the schema
    ///     is complete.
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
    /// A to-many relationship that keeps the program's order. An object is in it at most once.
    ///
    /// - Parameters:
    ///   - keyPath: the name in the store, which stays when the Swift property is renamed.
    ///   - minCount: the least number of objects that a commit accepts; an empty list is always
    ///     accepted.
    ///   - maxCount: the greatest number of objects that a commit accepts; zero for no limit.
    ///   - deleteRule: the fate of the objects that a deleted object leads to.
    ///   - versionHashModifier: makes the model another one though nothing else differs.
    ///   - previousVersionKeyPath: the name in the model version before.
    ///   - affectedByKeyPaths: properties whose change changes this one, evaluated when the schema
    ///     is complete.
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

    /// A to-many relationship with an inverse that keeps the program's order. An object is in it at
    /// most once.
    ///
    /// - Parameters:
    ///   - keyPath: the name in the store, which stays when the Swift property is renamed.
    ///   - minCount: the least number of objects that a commit accepts; an empty list is always
    ///     accepted.
    ///   - maxCount: the greatest number of objects that a commit accepts; zero for no limit.
    ///   - inverse: the relationship that leads back, which declares no inverse itself.
    ///   - deleteRule: the fate of the objects that a deleted object leads to.
    ///   - versionHashModifier: makes the model another one though nothing else differs.
    ///   - previousVersionKeyPath: the name in the model version before.
    ///   - affectedByKeyPaths: properties whose change changes this one, evaluated when the schema
    ///     is complete.
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
    /// - Parameters:
    ///   - keyPath: the name in the store, which stays when the Swift property is renamed.
    ///   - minCount: the least number of objects that a commit accepts; an empty list is always
    ///     accepted.
    ///   - maxCount: the greatest number of objects that a commit accepts; zero for no limit.
    ///   - deleteRule: the fate of the objects that a deleted object leads to.
    ///   - versionHashModifier: makes the model another one though nothing else differs.
    ///   - previousVersionKeyPath: the name in the model version before.
    ///   - affectedByKeyPaths: properties whose change changes this one, evaluated when the schema
    ///     is complete.
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

    /// A to-many relationship with an inverse and without order.
    ///
    /// - Parameters:
    ///   - keyPath: the name in the store, which stays when the Swift property is renamed.
    ///   - minCount: the least number of objects that a commit accepts; an empty list is always
    ///     accepted.
    ///   - maxCount: the greatest number of objects that a commit accepts; zero for no limit.
    ///   - inverse: the relationship that leads back, which declares no inverse itself.
    ///   - deleteRule: the fate of the objects that a deleted object leads to.
    ///   - versionHashModifier: makes the model another one though nothing else differs.
    ///   - previousVersionKeyPath: the name in the model version before.
    ///   - affectedByKeyPaths: properties whose change changes this one, evaluated when the schema
    ///     is complete.
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
