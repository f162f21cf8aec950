import PageStore

/// One version on a file's route to the program's schema.
package struct MigrationStep: Sendable {
    package var schema: SchemaDescription
    /// The stored data that may be dropped if the version has no entity or property for it.
    package var allowedLoss: LossPermission
    /// The program's own mappings; nil if everything is inferred. The initializer sorts them: a
    /// program may keep them in a set, whose order differs in each process, and a process that
    /// resumes a migration must have an equal plan.
    package var mappings: [EntityMapping]?
    /// The content of mappings that come from a file, which may change without the program: an
    /// interrupted migration is not gone on with by another content.
    package var mappingContent = ""
    /// Whether the program names the version before this one, in its migration chain or in a
    /// mapping. Such a program is not older than a file of that version, whatever the file's
    /// history.
    package var isNamed = false
    /// Provide the values of new properties for existing objects, instead of the defaults.
    package var initialValues: [PropertyPath: any InitialValue] = [:]
    /// Those of optional properties: only objects that a mapping makes begin with them. Existing
    /// objects have nil.
    package var optionalInitialValues: [PropertyPath: any InitialValue] = [:]
    /// Changes the migrated records in the commit that gives the file the version. The version then
    /// becomes the file's before a later step begins.
    package var finishing: MigrationFinishing?

    package init(
        _ schema: SchemaDescription, allowedLoss: LossPermission = .none,
        mappings: [EntityMapping]? = nil, isNamed: Bool = false
    ) {
        self.schema = schema
        self.allowedLoss = allowedLoss
        self.mappings = mappings?.sorted { $0.words < $1.words }
        self.isNamed = isNamed
    }

    /// Whether the program's own code takes part in the step.
    var isOfProgram: Bool { mappings != nil || finishing != nil }

    /// With mappings any loss is permitted: the program has decided about all data.
    var droppedLoss: LossPermission { mappings == nil ? allowedLoss : .all }
}

/// Changes the records of a later model through the transaction, before that is committed together
/// with the model. The database is for looking things up only; it must not begin a transaction.
package typealias MigrationFinishing = @Sendable (RecordDatabase, RecordTransaction) throws -> Void

/// Makes a value for each object that has none yet.
package protocol InitialValue: Sendable {
    func value() throws(StoreError) -> Value
}

/// Chooses the model versions from a file's schema to the program's: given the file's, returns the
/// versions that follow in order, the last of which is the program's; nil if there is no route.
package typealias MigrationRoute = (SchemaDescription) -> [MigrationStep]?

/// The most that an opening may do to migrate a file.
package enum MigrationLimit: Int, Comparable, Sendable {
    /// Changes of the catalog, with few records written: see ``LayoutPlan``.
    case layout
    /// Records may be rewritten too.
    case records
    /// The program's mappings may be called too.
    case mappings

    package static func < (left: MigrationLimit, right: MigrationLimit) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The conditions of a migration.
struct MigrationTerms {
    var route: MigrationRoute?
    var limit = MigrationLimit.mappings
    /// Whether a route through several versions is refused.
    var isOneStep = false
    /// Whether a read-only opening may read a file of an earlier model as it is.
    var readsEarlierModel = true
    /// The path of a new file into which the store is written before anything changes it.
    var backup: String?
    /// Models that the program knows to precede its own. Evaluated only if the file gets a new
    /// model: an opening that changes nothing must not pay for the versions of a chain.
    var earlier: () -> [SchemaDescription] = { [] }
    var control: MigrationControl?
    /// A plan that was made before, with this route.
    var planned: PlannedMigration?

    /// Whether a file must be migrated to a schema. One whose model differs by indexes alone is
    /// not: opening builds and drops them. The exception is a new unique constraint with a mapping
    /// or a closure on the route; a mapping may change or drop the objects that break the
    /// constraint.
    func needsMigration(
        from stored: SchemaDescription, to wanted: SchemaDescription
    ) -> Bool {
        needsMigration(SchemaDifference.edits(from: stored, to: wanted), from: stored)
    }

    /// - Parameter edits: all differences of a schema from the file's.
    func needsMigration(_ edits: [SchemaEdit], from stored: SchemaDescription) -> Bool {
        if edits.contains(where: \.needsMigration) { return true }
        let addsConstraint = edits.contains { edit in
            if case .constraintAdded = edit { true } else { false }
        }
        return addsConstraint && route?(stored)?.contains(where: \.isOfProgram) == true
    }
}

/// How a file is migrated to one version.
enum VersionPlan {
    case layout(LayoutPlan)
    case rewrite(RewritePlan)

    /// Throws `schemaMismatch` if only a mapping could reach the version and the step has none.
    ///
    /// - Parameter edits: the differences of the step's schema from the earlier one.
    init(
        from stored: Schema, to step: MigrationStep, _ edits: LayoutEdits
    ) throws(StoreError) {
        let isFilled = edits.edits.contains { edit in
            guard case .propertyAdded(let path) = edit else { return false }
            let isLong = edits.attribute(path)?.hasLongDefault == true
            return (isLong || step.initialValues[path] != nil)
                && !edits.edits.contains(.entityAdded(path.entityName))
        }
        if !step.isOfProgram, edits.impossible.isEmpty, !isFilled {
            self = .layout(try LayoutPlan(from: stored, to: step, edits))
        } else {
            self = .rewrite(try RewritePlan(from: stored, to: step))
        }
    }

    /// The later schema, with the layout that the file then has.
    var schema: Schema {
        switch self {
        case .layout(let plan): plan.schema
        case .rewrite(let plan): plan.last.schema
        }
    }

    var isEmpty: Bool {
        if case .layout(let plan) = self { plan.isEmpty } else { false }
    }

    var limit: MigrationLimit {
        switch self {
        case .layout: .layout
        case .rewrite(let plan): plan.step.isOfProgram ? .mappings : .records
        }
    }

    /// The data, by the earlier schema, that must not be stored because the step would drop it
    /// without permission; nil if there is none.
    var refusedLoss: StoredLoss? {
        switch self {
        case .layout(let plan):
            plan.allowedLoss == .all ? nil : plan.loss.without(plan.allowedLoss)
        case .rewrite(let plan): plan.loss.isEmpty ? nil : plan.loss
        }
    }
}

/// The effect of opening a file on it.
package struct MigrationForecast: Sendable {
    /// The model version that the file was written with.
    package var sourceVersion: String
    /// The versions that it would go through; empty if no migration is needed.
    package var steps: [PlannedMigration.Step]
    /// The space that it would need. Only the migration itself refuses a file that has too little.
    package var space: SpaceForecast

    package var destinationVersions: [String] { steps.map(\.version) }
}
