import PageStore

/// One version on the way of a file to the program's schema.
package struct MigrationStep: Sendable {
    package var schema: SchemaDescription
    /// Whether stored values may be dropped that the version has no property or entity for.
    package var allowsLoss: Bool
    /// The program's own mappings; nil where everything is inferred.
    package var mappings: [EntityMapping]?
    /// Whether the program names the version before this one, in its migration chain or for a
    /// mapping. It is not older than a file of that version then, whatever the file had before.
    package var isNamed = false
    /// Makes the first value of objects that are older than a property, in place of its default.
    package var initialValues: [PropertyPath: any InitialValue] = [:]

    package init(
        _ schema: SchemaDescription, allowsLoss: Bool = false, mappings: [EntityMapping]? = nil,
        isNamed: Bool = false
    ) {
        self.schema = schema
        self.allowsLoss = allowsLoss
        self.mappings = mappings
        self.isNamed = isNamed
    }
}

/// Makes a value for each object that has none yet.
package protocol InitialValue: Sendable {
    func value() throws(StoreError) -> Value
}

/// By which model versions a file goes from its schema to the program's: given the file's, the
/// versions that follow, of which the last is the program's; nil where there is no way.
package typealias MigrationRoute = (SchemaDescription) -> [MigrationStep]?

/// How much of a migration an opening may do.
package enum MigrationLimit: Int, Comparable, Sendable {
    /// What the catalog alone can follow.
    case layout
    /// Records may be written too.
    case records
    /// And the program's mappings may be called.
    case mappings

    package static func < (left: MigrationLimit, right: MigrationLimit) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What a migration goes by.
struct MigrationTerms {
    var route: MigrationRoute?
    var limit = MigrationLimit.mappings
    /// Whether a way through several versions is refused.
    var isOneStep = false
    /// Models that the program knows to come before its own. Asked for only where a file gets a
    /// model: an opening that changes nothing must not pay for the versions of a chain.
    var earlier: () -> [SchemaDescription] = { [] }
    var control: MigrationControl?
}

/// How a file follows one version.
enum VersionPlan {
    case layout(LayoutPlan)
    case rewrite(RewritePlan)

    /// Throws `schemaMismatch` for a version that only a mapping of the program leads to.
    init(from stored: Schema, to step: MigrationStep) throws(StoreError) {
        let edits = LayoutEdits(from: stored, to: step.schema)
        let isFilled = edits.edits.contains { edit in
            guard case .propertyAdded(let path) = edit else { return false }
            let isLong = edits.attribute(path)?.hasLongDefault == true
            return (isLong || step.initialValues[path] != nil)
                && !edits.edits.contains(.entityAdded(path.entityName))
        }
        if step.mappings == nil, edits.impossible.isEmpty, !isFilled {
            self = .layout(try LayoutPlan(from: stored, to: step))
        } else {
            self = .rewrite(try RewritePlan(from: stored, to: step))
        }
    }

    /// The later schema, by the layout that the file has then.
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
        case .rewrite(let plan): plan.step.mappings == nil ? .records : .mappings
        }
    }

    /// What must not be stored, by the earlier schema; nil where it may be dropped.
    var refusedLoss: StoredLoss? {
        switch self {
        case .layout(let plan): plan.allowsLoss ? nil : plan.loss
        case .rewrite(let plan): plan.loss.isEmpty ? nil : plan.loss
        }
    }
}

/// The steps from the schema of a file to the program's. All are planned before one is taken.
struct MigrationPlan {
    /// Empty where the file can be used as it is.
    let steps: [VersionPlan]
    /// What tells the plan from others.
    let fingerprint: UInt64
    /// Whether the program makes values.
    let callsProgram: Bool
    /// The models that the file goes through, of which the last is the program's.
    let models: [SchemaDescription]
    /// Models that the program knows to come before its own.
    let earlier: [SchemaDescription]
    /// Whether the file's model is noted as an earlier one even where the file has no history. It
    /// is not where the program's only lacks something: the program may be the older one, and the
    /// newer one would be refused ever after.
    let followsStored: Bool

    /// Throws `newerModel` for a program whose model is an earlier one of the file's, and
    /// `schemaMismatch` where there is no way, or a step asks for more than is allowed.
    ///
    /// - Parameter history: the models that the file has had; nil where that is not known.
    init(
        from stored: Schema, to wanted: SchemaDescription, _ history: ModelHistory?,
        _ terms: MigrationTerms
    ) throws(StoreError) {
        guard SchemaDifference.needsMigration(from: stored.description, to: wanted) else {
            (steps, fingerprint, callsProgram, models, earlier) = ([], 0, false, [], [])
            followsStored = false
            return
        }
        let versions = terms.route.map { $0(stored.description) } ?? [MigrationStep(wanted)]
        let isNamed = versions?.first?.isNamed == true
        if !isNamed { try history?.refuse(wanted) }
        followsStored = isNamed || !LayoutEdits(from: stored, to: wanted).onlyRemoves
        guard let versions else {
            throw StoreError(
                .schemaMismatch,
                "the migration chain has no way from the model of the file, "
                    + "“\(stored.description.modelVersion)”, to “\(wanted.modelVersion)”")
        }
        guard versions.count <= 1 || !terms.isOneStep else {
            throw StoreError(
                .schemaMismatch,
                "\(versions.count) steps lead from the model of the file, "
                    + "“\(stored.description.modelVersion)”, to “\(wanted.modelVersion)”, and "
                    + "this opening takes one")
        }
        models = versions.map(\.schema)
        earlier = terms.earlier()
        fingerprint = PlanFingerprint(stored, versions).value
        callsProgram = versions.contains { version in
            !version.initialValues.isEmpty || version.mappings?.contains(where: \.calls) == true
        }
        var steps: [VersionPlan] = []
        var schema = stored
        for version in versions {
            let step = try VersionPlan(from: schema, to: version)
            guard step.limit <= terms.limit else {
                throw Self.refusal(LayoutEdits(from: schema, to: version.schema), version)
            }
            guard !step.isEmpty else { continue }
            schema = step.schema
            steps.append(step)
        }
        self.steps = steps
    }

    private static func refusal(_ edits: LayoutEdits, _ step: MigrationStep) -> StoreError {
        let what = "its objects must be written anew, which this opening does not allow"
        guard step.mappings == nil else {
            return StoreError(
                .schemaMismatch,
                "the program has a mapping to “\(step.schema.modelVersion)”: \(what)")
        }
        var error = LayoutPlan.mismatch(edits.impossible.isEmpty ? edits.edits : edits.impossible)
        error.message += "; \(what)"
        return error
    }
}

/// What opening a file would do to it.
package struct MigrationForecast: Sendable {
    package struct Step: Sendable {
        package var version: String
        package var limit: MigrationLimit
    }

    /// The model version that the file was written with.
    package var sourceVersion: String
    /// The versions that it would go through; empty where nothing is to be done.
    package var steps: [Step]
    /// The room that it would take. A file too large for it is refused by the migration alone.
    package var space: SpaceForecast

    package var destinationVersions: [String] { steps.map(\.version) }
}
