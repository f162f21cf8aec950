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
    private let basis: Basis

    /// The model version that the file was written with.
    package var sourceVersion: String { stored.description.modelVersion }
    /// The versions that it would go through; empty if no migration is needed.
    package var steps: [Step] { plan.forecast }

    /// All of a file that a plan follows from. Another process may change it before the opening.
    private struct Basis: Equatable {
        var text: [UInt8]?
        var layout: [UInt8]
        var history: [UInt8]?

        init(_ catalog: Catalog, _ view: PageView, text: [UInt8]?) throws(StoreError) {
            self.text = text
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
        basis = try Basis(catalog, view, text: catalog.schemaText(view))
    }

    /// Whether planning anew would give this plan. The terms must have its route.
    ///
    /// - Parameter text: the saved form of the file's schema.
    func isFor(
        _ catalog: Catalog, _ view: PageView, of text: [UInt8]?, to declared: SchemaDescription,
        _ terms: MigrationTerms
    ) throws(StoreError) -> Bool {
        // It was made without limits.
        guard !plan.models.isEmpty, terms.limit == .mappings, !terms.isOneStep else {
            return false
        }
        return try basis == Basis(catalog, view, text: text) && wanted == declared
    }
}
