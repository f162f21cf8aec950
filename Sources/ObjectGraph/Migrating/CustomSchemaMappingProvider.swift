import RecordStore

/// The program's own mapping between two model versions: entities that it names are mapped as it
/// defines, all others are inferred.
///
/// ```swift
/// CustomSchemaMappingProvider(
///     from: "V1", to: "V2",
///     entityMappings: [
///         .transformEntity(
///             sourceEntity: "Person", destinationEntity: "Person",
///             transformer: { source, createDestination in
///                 let names = (source["name"] as? String ?? "").split(separator: " ")
///                 let person = createDestination()
///                 person["givenName"] = names.first.map(String.init)
///                 person["familyName"] = names.last.map(String.init)
///             })
///     ])
/// ```
///
/// A step with a provider may drop values and objects that the later version has no property or
/// entity for.
///
/// A closure may finish the step, as a transaction on the later version, after all of its objects
/// have been made:
///
/// ```swift
/// CustomSchemaMappingProvider(from: "V1", to: "V2") { transaction in
///     for person in try transaction.fetchAll(From<V2.Person>()) {
///         person.address = transaction.create(Into<V2.Address>())
///     }
/// }
/// ```
public final class CustomSchemaMappingProvider: SchemaMappingProvider, Hashable {
    /// The version before the step.
    public let sourceVersion: ModelVersion
    /// The version after the step.
    public let destinationVersion: ModelVersion
    /// The mappings of entities; all other entities are inferred.
    public let entityMappings: Set<CustomMapping>
    /// The closure that finishes the step.
    public let finishing: Finishing?
    /// What the mappings do, where they are made of a file; empty for those of the program's code.
    package let content: String

    /// The object that a mapping reads.
    public typealias UnsafeSourceObject = ObjectGraph.UnsafeSourceObject
    /// The object that a mapping fills.
    public typealias UnsafeDestinationObject = ObjectGraph.UnsafeDestinationObject

    /// Finishes a step: a transaction on the objects of the later version, with that version's
    /// classes, which must be a ``CoreStoreSchema``.
    ///
    /// It runs on the migrating thread, after all mappings, and its changes are committed together
    /// with the version: a crash leaves the earlier version, or the later one with all that the
    /// closure did. An error that it throws, a rule of the model that its changes break, and
    /// `cancel()` leave the earlier version. Where the process ended before the commit it is called
    /// again, so it must have no effects but its changes. Neither objects nor their IDs may be
    /// used after the call.
    public typealias Finishing =
        @Sendable (_ transaction: SynchronousDataTransaction) throws -> Void

    /// A provider for one step.
    ///
    /// - Parameters:
    ///   - sourceVersion: the version before the step.
    ///   - destinationVersion: the version after the step.
    ///   - entityMappings: the mappings. An entity is the source of at most one and the
    ///     destination of at most one; otherwise an assertion fails. Mappings of one kind between
    ///     the same entities are equal, whatever closures they have, so that a set has one of them.
    ///   - finishing: a transaction on the objects of the later version, in the commit that gives
    ///     the file that version. The file then has it before a later step begins, so that a
    ///     failure of that step leaves it.
    public required convenience init(
        from sourceVersion: ModelVersion, to destinationVersion: ModelVersion,
        entityMappings: Set<CustomMapping> = [], finishing: Finishing? = nil
    ) {
        self.init(sourceVersion, destinationVersion, entityMappings, finishing, content: "")
    }

    /// A provider whose mappings are made of a file, with what they do as a text.
    package init(
        _ sourceVersion: ModelVersion, _ destinationVersion: ModelVersion,
        _ entityMappings: Set<CustomMapping>, _ finishing: Finishing?, content: String
    ) {
        for (side, names) in [
            ("source", entityMappings.compactMap(\.entityMappingSourceEntity)),
            ("destination", entityMappings.compactMap(\.entityMappingDestinationEntity)),
        ] {
            Log.assert(
                Set(names).count == names.count,
                "two mappings from \(sourceVersion) to \(destinationVersion) have the same "
                    + "\(side) entity")
        }
        self.sourceVersion = sourceVersion
        self.destinationVersion = destinationVersion
        self.entityMappings = entityMappings
        self.finishing = finishing
        self.content = content
    }

    /// The mapping of the objects of one entity.
    ///
    /// Two mappings are equal when their kinds and entities are, whatever their transformers do.
    public enum CustomMapping: Hashable, Sendable {
        /// Makes an object of the later version from one of the earlier version. The second
        /// argument creates it, with its defaults and initial values, and returns the same object
        /// at each call. An object for which it is not called is dropped; an error ends the
        /// migration and leaves the file unchanged. Links are carried over by the library. Both
        /// objects are valid during the call only.
        ///
        /// A transformer may run again for objects that it had before, when a migration was
        /// interrupted, so it must have no effects outside its objects.
        public typealias Transformer =
            @Sendable (
                _ sourceObject: UnsafeSourceObject,
                _ createDestinationObject: () -> UnsafeDestinationObject
            ) throws -> Void

        /// The entity's objects are dropped.
        case deleteEntity(sourceEntity: EntityName)
        /// The entity begins without objects.
        case insertEntity(destinationEntity: EntityName)
        /// The entity has another name, and is otherwise equal.
        case copyEntity(sourceEntity: EntityName, destinationEntity: EntityName)
        /// The program makes each object.
        case transformEntity(
            sourceEntity: EntityName, destinationEntity: EntityName, transformer: Transformer)

        /// Drops the entity's objects.
        public static func deleteEntity(_ sourceEntity: EntityName) -> CustomMapping {
            .deleteEntity(sourceEntity: sourceEntity)
        }

        /// An entity that begins without objects.
        public static func insertEntity(_ destinationEntity: EntityName) -> CustomMapping {
            .insertEntity(destinationEntity: destinationEntity)
        }

        /// Copies each attribute that both versions have, under its name or its earlier one.
        public static let inferredTransformation: Transformer = { source, createDestination in
            let destination = createDestination()
            destination.enumerateAttributes { attribute, sourceAttribute in
                guard let sourceAttribute else { return }
                // A required attribute that had no value keeps its default.
                guard let value = source.value(sourceAttribute.name),
                    value != .null || attribute.isOptional
                else { return }
                destination.set(value, attribute.name)
            }
        }

        var entityMappingSourceEntity: EntityName? {
            switch self {
            case .deleteEntity(let source), .copyEntity(let source, _),
                .transformEntity(let source, _, _):
                source
            case .insertEntity: nil
            }
        }

        var entityMappingDestinationEntity: EntityName? {
            switch self {
            case .insertEntity(let destination), .copyEntity(_, let destination),
                .transformEntity(_, let destination, _):
                destination
            case .deleteEntity: nil
            }
        }

        public static func == (left: CustomMapping, right: CustomMapping) -> Bool {
            left.kind == right.kind
                && left.entityMappingSourceEntity == right.entityMappingSourceEntity
                && left.entityMappingDestinationEntity == right.entityMappingDestinationEntity
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(kind)
            hasher.combine(entityMappingSourceEntity)
            hasher.combine(entityMappingDestinationEntity)
        }

        private var kind: Int {
            switch self {
            case .deleteEntity: 0
            case .insertEntity: 1
            case .copyEntity: 2
            case .transformEntity: 3
            }
        }

        fileprivate var mapping: EntityMapping {
            switch self {
            case .deleteEntity(let source): .delete(source)
            case .insertEntity(let destination): .insert(destination)
            case .copyEntity(let source, let destination): .copy(from: source, to: destination)
            case .transformEntity(let source, let destination, let transformer):
                .transform(from: source, to: destination) { record, create in
                    try Self.run(transformer, record, create)
                }
            }
        }

        private static func run(
            _ transformer: Transformer, _ record: SourceRecord,
            _ create: @escaping () throws(StoreError) -> DestinationRecord
        ) throws {
            let faults = MappingFaults()
            let source = UnsafeSourceObject(record, faults)
            try transformer(source) {
                do throws(StoreError) {
                    return UnsafeDestinationObject(try create(), faults)
                } catch {
                    faults.add(error)
                    return UnsafeDestinationObject(nil, faults)
                }
            }
            try faults.rethrow()
        }
    }

    // MARK: SchemaMappingProvider

    /// The mapping of this provider.
    ///
    /// - Throws: `.mappingModelNotFound` for versions that are not its own.
    public func cs_createMappingModel(
        from sourceSchema: any DynamicSchema, to destinationSchema: any DynamicSchema,
        storage: any LocalStorage
    ) throws(CoreStoreError) -> (mappingModel: MappingModel, migrationType: MigrationType) {
        guard sourceSchema.modelVersion == sourceVersion,
            destinationSchema.modelVersion == destinationVersion
        else {
            throw .mappingModelNotFound(
                localStoreURL: storage.fileURL,
                NSError: StoreFailure.nsError(
                    .modelMismatch,
                    "the mapping leads from “\(sourceVersion)” to “\(destinationVersion)”, not "
                        + "from “\(sourceSchema.modelVersion)” to "
                        + "“\(destinationSchema.modelVersion)”"),
                targetModelVersion: destinationSchema.modelVersion)
        }
        return (
            model,
            .heavyweight(sourceVersion: sourceVersion, destinationVersion: destinationVersion)
        )
    }

    var model: MappingModel {
        MappingModel(mappings: entityMappings.map(\.mapping))
    }

    // MARK: Hashable

    public static func == (
        left: CustomSchemaMappingProvider, right: CustomSchemaMappingProvider
    ) -> Bool {
        left.sourceVersion == right.sourceVersion
            && left.destinationVersion == right.destinationVersion
            && left.entityMappings == right.entityMappings
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(sourceVersion)
        hasher.combine(destinationVersion)
        hasher.combine(entityMappings)
    }
}
