import RecordStore

/// Says how a storage's file goes from one model version to another, where that cannot be inferred
/// or the program has its own way: see ``CustomSchemaMappingProvider``.
///
/// Given to a storage as ``LocalStorage/migrationMappingProviders``. The first whose versions are
/// those of a step is asked; a step that none has is inferred.
public protocol SchemaMappingProvider: Sendable {
    /// The mapping between two versions. Throws `.mappingModelNotFound` where it has none.
    func cs_createMappingModel(
        from sourceSchema: any DynamicSchema, to destinationSchema: any DynamicSchema,
        storage: any LocalStorage
    ) throws(CoreStoreError) -> (mappingModel: MappingModel, migrationType: MigrationType)
}

/// What is done with the entities of a step.
public struct MappingModel: Sendable {
    /// Nil where all is inferred.
    let mappings: [EntityMapping]?
}

/// Infers a step from its two versions: what a step without a provider gets.
public struct InferredSchemaMappingProvider: SchemaMappingProvider, Hashable {
    public init() {}

    public func cs_createMappingModel(
        from sourceSchema: any DynamicSchema, to destinationSchema: any DynamicSchema,
        storage: any LocalStorage
    ) throws(CoreStoreError) -> (mappingModel: MappingModel, migrationType: MigrationType) {
        (
            MappingModel(mappings: nil),
            .lightweight(
                sourceVersion: sourceSchema.modelVersion,
                destinationVersion: destinationSchema.modelVersion)
        )
    }
}
