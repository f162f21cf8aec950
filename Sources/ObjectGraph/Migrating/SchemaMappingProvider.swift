import RecordStore

/// Defines how a storage's file goes from one model version to another, where that cannot be
/// inferred or the program makes the objects itself; see ``CustomSchemaMappingProvider``.
///
/// A storage has providers as ``LocalStorage/migrationMappingProviders``. A step uses the first
/// ``CustomSchemaMappingProvider`` of its two versions, or the first that a product beside the
/// library reads from a file, and is inferred where there is none.
public protocol SchemaMappingProvider: Sendable {
    /// The mapping between two versions.
    ///
    /// - Throws: `.mappingModelNotFound` where the provider has none.
    func cs_createMappingModel(
        from sourceSchema: any DynamicSchema, to destinationSchema: any DynamicSchema,
        storage: any LocalStorage
    ) throws(CoreStoreError) -> (mappingModel: MappingModel, migrationType: MigrationType)
}

/// A provider whose mappings are those of a custom one, which it makes of a file.
package protocol CustomMappingSource: SchemaMappingProvider {
    var customProvider: CustomSchemaMappingProvider { get }
}

/// The mappings of one step.
public struct MappingModel: Sendable {
    /// Nil where all is inferred.
    let mappings: [EntityMapping]?
}

/// Infers a step from its two versions, as a step without a provider is.
public struct InferredSchemaMappingProvider: SchemaMappingProvider, Hashable {
    /// A provider that infers every step.
    public init() {}

    /// An empty mapping: the step is inferred.
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
