import RecordStore

/// A class and the entity that its objects are stored as.
public class DynamicEntity: Hashable, @unchecked Sendable {
    /// The class.
    public let type: CoreStoreObject.Type
    /// The entity's name in the store.
    public let entityName: EntityName
    /// Whether no object is of this entity itself: it only serves as the parent of others.
    public let isAbstract: Bool
    /// A modifier that makes the entity another one though nothing else differs.
    public let versionHashModifier: String?
    /// The entity's name in the model version before, where that was another one.
    public let previousName: EntityName?
    /// The names of the columns of each index.
    public let indexes: [[KeyPathString]]
    /// The names of the properties of each unique constraint.
    public let uniqueConstraints: [[KeyPathString]]
    /// The policy for conflicts of each unique constraint.
    public let conflictPolicies: [UniqueConflictPolicy]
    /// The rules that commits check for objects of the entity.
    let rules: [ValidationRule]

    init(
        type: CoreStoreObject.Type, entityName: EntityName, isAbstract: Bool,
        versionHashModifier: String?, previousName: EntityName?, indexes: [[KeyPathString]],
        uniqueConstraints: [[KeyPathString]], conflictPolicies: [UniqueConflictPolicy],
        rules: [ValidationRule]
    ) {
        Log.assert(
            conflictPolicies.count <= uniqueConstraints.count,
            "\(entityName) has more conflict policies than unique constraints")
        self.type = type
        self.entityName = entityName
        self.isAbstract = isAbstract
        self.versionHashModifier = versionHashModifier
        self.previousName = previousName
        self.indexes = indexes
        self.uniqueConstraints = uniqueConstraints
        self.conflictPolicies = uniqueConstraints.indices.map { index in
            index < conflictPolicies.count ? conflictPolicies[index] : .transactionWins
        }
        self.rules = rules
    }

    public static func == (left: DynamicEntity, right: DynamicEntity) -> Bool {
        left.type == right.type && left.entityName == right.entityName
            && left.isAbstract == right.isAbstract
            && left.versionHashModifier == right.versionHashModifier
            && left.previousName == right.previousName
            && left.indexes == right.indexes && left.uniqueConstraints == right.uniqueConstraints
            && left.conflictPolicies == right.conflictPolicies
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type))
        hasher.combine(entityName)
    }
}

/// Declares a class as an entity of a ``CoreStoreSchema``.
///
/// ```swift
/// Entity<Person>("Person", indexes: [[\.$age]], uniqueConstraints: [[\.$email]])
/// ```
public final class Entity<O: CoreStoreObject>: DynamicEntity, @unchecked Sendable {
    /// Declares a class as an entity.
    ///
    /// - Parameters:
    ///   - entityName: the name in the store.
    ///   - isAbstract: whether no object is of this entity itself.
    ///   - versionHashModifier: makes the model another one though nothing else differs.
    ///   - previousName: the name in the model version before, where that was another one; objects
    ///     of that entity become those of this one.
    ///   - indexes: the properties of each index, in order; conditions and sorts use them.
    ///   - uniqueConstraints: properties of which no two objects have all the same values; only
    ///     the root of a hierarchy of entities may have some. A transaction that makes a second
    ///     object with the same values changes the first instead.
    ///   - conflictPolicies: the policy of each unique constraint, in its order;
    ///     ``UniqueConflictPolicy/transactionWins`` for those that have none.
    ///   - validations: the rules that commits check for inserted and updated objects. Neither
    ///     these nor the policies are stored.
    public init(
        _ entityName: EntityName, isAbstract: Bool = false, versionHashModifier: String? = nil,
        previousName: EntityName? = nil, indexes: [[PartialKeyPath<O>]] = [],
        uniqueConstraints: [[PartialKeyPath<O>]] = [],
        conflictPolicies: [UniqueConflictPolicy] = [], validations: [Validation<O>] = []
    ) {
        super.init(
            type: O.self, entityName: entityName, isAbstract: isAbstract,
            versionHashModifier: versionHashModifier, previousName: previousName,
            indexes: Self.names(indexes),
            uniqueConstraints: Self.names(uniqueConstraints),
            conflictPolicies: conflictPolicies, rules: validations.map(\.rule))
    }

    /// Declares a class, given as an argument, as an entity.
    ///
    /// - Parameters:
    ///   - type: the class.
    ///   - entityName: the name in the store.
    ///   - isAbstract: whether no object is of this entity itself.
    ///   - versionHashModifier: makes the model another one though nothing else differs.
    ///   - previousName: the name that the entity has in files of earlier models.
    ///   - indexes: the properties of each index, in order; conditions and sorts use them.
    ///   - uniqueConstraints: properties of which no two objects have all the same values.
    ///   - conflictPolicies: the policy of each unique constraint, in its order.
    ///   - validations: the rules that commits check for inserted and updated objects.
    public convenience init(
        _ type: O.Type, _ entityName: EntityName, isAbstract: Bool = false,
        versionHashModifier: String? = nil, previousName: EntityName? = nil,
        indexes: [[PartialKeyPath<O>]] = [],
        uniqueConstraints: [[PartialKeyPath<O>]] = [],
        conflictPolicies: [UniqueConflictPolicy] = [], validations: [Validation<O>] = []
    ) {
        self.init(
            entityName, isAbstract: isAbstract, versionHashModifier: versionHashModifier,
            previousName: previousName, indexes: indexes, uniqueConstraints: uniqueConstraints,
            conflictPolicies: conflictPolicies, validations: validations)
    }

    private static func names(_ keyPaths: [[PartialKeyPath<O>]]) -> [[KeyPathString]] {
        guard !keyPaths.isEmpty else { return [] }
        let meta = ClassMeta.object(O.self)
        return keyPaths.map { columns in
            columns.map { column in
                guard let field = meta[keyPath: column] as? any AnyKeyPathStringConvertible else {
                    Log.abort("an index of \(O.self) names something that is no @Field: use \\.$x")
                }
                return field.cs_keyPathString
            }
        }
    }
}
