import PageStore

/// A plan of a file's migration, for the opening that follows: it need not read the file's model
/// and compare it with the program's again, which takes longer than changing a catalog.
package struct PlannedMigration: Sendable {
    package struct Step: Sendable {
        package var version: String
        package var limit: MigrationLimit
    }

    /// The file's schema.
    let stored: Schema
    let plan: MigrationPlan
    private let wanted: SchemaDescription
    /// The saved form of the file's schema.
    private let text: [UInt8]?
    private let basis: Basis

    /// The model version that the file was written with.
    package var sourceVersion: String { stored.description.modelVersion }
    /// The versions that it would go through; empty if no migration is needed.
    package var steps: [Step] { plan.forecast }

    /// What a plan follows from besides the schema's text.
    private struct Basis: Equatable {
        var layout: [UInt8]
        var history: [UInt8]?

        init(_ catalog: Catalog, _ view: PageView) throws(StoreError) {
            layout = try catalog.layout(view)
            history = try catalog.entry(Catalog.historyKey, of: view)
        }
    }

    init(
        _ plan: MigrationPlan, from stored: Schema, to wanted: SchemaDescription,
        _ catalog: Catalog, _ view: PageView
    ) throws(StoreError) {
        self.stored = stored
        self.plan = plan
        self.wanted = wanted
        text = try catalog.schemaText(view)
        basis = try Basis(catalog, view)
    }

    /// Whether planning anew would give this plan: another process may have changed the file. The
    /// terms must have the plan's route.
    ///
    /// - Parameter text: the saved form of the file's schema.
    func isFor(
        _ catalog: Catalog, _ view: PageView, of text: [UInt8]?, to declared: SchemaDescription,
        _ terms: MigrationTerms
    ) throws(StoreError) -> Bool {
        // It was made without limits. A schema of a later version is reported before the rest.
        guard !plan.models.isEmpty, terms.limit == .mappings, !terms.isOneStep, text == self.text,
            wanted == declared
        else { return false }
        return try basis == Basis(catalog, view)
    }
}
