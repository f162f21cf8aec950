import PageStore

/// One version on the way of a file to the program's schema.
package struct MigrationStep: Sendable {
    package var schema: SchemaDescription
    /// Whether stored values may be dropped that the version has no property or entity for.
    package var allowsLoss: Bool

    package init(_ schema: SchemaDescription, allowsLoss: Bool = false) {
        self.schema = schema
        self.allowsLoss = allowsLoss
    }
}

/// By which model versions a file goes from its schema to the program's: given the file's, the
/// versions that follow, of which the last is the program's; nil where there is no way.
package typealias MigrationRoute = (SchemaDescription) -> [MigrationStep]?

/// The steps from the schema of a file to the program's. All are planned before one is taken.
struct MigrationPlan {
    /// Empty where the file can be used as it is.
    let steps: [LayoutPlan]

    /// Throws `schemaMismatch` where there is no way, or a step asks for more than the catalog.
    init(
        from stored: Schema, to wanted: SchemaDescription, by route: MigrationRoute?
    ) throws(StoreError) {
        guard SchemaDifference.needsMigration(from: stored.description, to: wanted) else {
            steps = []
            return
        }
        guard let versions = route.map({ $0(stored.description) }) ?? [MigrationStep(wanted)]
        else {
            throw StoreError(
                .schemaMismatch,
                "the migration chain has no way from the model of the file, "
                    + "“\(stored.description.modelVersion)”, to “\(wanted.modelVersion)”")
        }
        var steps: [LayoutPlan] = []
        var schema = stored
        for version in versions {
            let step = try LayoutPlan(from: schema, to: version)
            if !step.isEmpty { schema = step.schema }
            steps.append(step)
        }
        self.steps = steps.filter { !$0.isEmpty }
    }
}

/// What opening a file would do to it.
package struct MigrationForecast: Sendable {
    /// The model version that the file was written with.
    package var sourceVersion: String
    /// The versions that it would go through; empty where nothing is to be done.
    package var destinationVersions: [String]
}
