/// The steps from the schema of a file to the program's. All are planned before the first runs.
struct MigrationPlan {
    /// The steps that change more than the indexes; empty if the file can be used as it is.
    private(set) var steps: [VersionPlan]
    /// The index of each step's version among ``models``.
    private(set) var stepNumbers: [Int]
    /// The versions that the file goes through; the last is the program's.
    private var versions: [MigrationStep]
    /// Identifies the plan: see ``PlanFingerprint``.
    private(set) var fingerprint: UInt64
    /// Whether closures of the program make values.
    private(set) var callsProgram: Bool
    /// Models that the program knows to precede the last one of the plan.
    private(set) var earlier: [SchemaDescription]
    /// Whether the file's model is recorded as an earlier one even if the file has no history.
    /// False if the program's model only removes something: the program may be the older one, and
    /// the newer program would then be refused for good.
    let followsStored: Bool

    /// The models that the file goes through.
    var models: [SchemaDescription] { versions.map(\.schema) }
    /// A step to each version, also to one that differs from the version before by its indexes
    /// alone.
    var forecast: [MigrationForecast.Step] {
        guard !steps.isEmpty else { return [] }
        let limits = Dictionary(uniqueKeysWithValues: zip(stepNumbers, steps.map(\.limit)))
        return models.enumerated().map { number, model in
            MigrationForecast.Step(version: model.modelVersion, limit: limits[number] ?? .layout)
        }
    }
    /// The closure that finishes the last step.
    var finishing: MigrationFinishing? { versions.last?.finishing }
    /// Whether a closure finishes any step.
    var hasFinishing: Bool { versions.contains { $0.finishing != nil } }

    /// Throws `newerModel` if the program's model is an earlier one of the file's, and
    /// `schemaMismatch` if there is no route or a step exceeds the limit.
    ///
    /// - Parameter history: the models that the file has had; nil if unknown.
    init(
        from stored: Schema, to wanted: SchemaDescription, _ history: ModelHistory?,
        _ terms: MigrationTerms
    ) throws(StoreError) {
        guard terms.needsMigration(from: stored.description, to: wanted) else {
            (steps, stepNumbers, versions) = ([], [], [])
            (fingerprint, callsProgram, earlier) = (0, false, [])
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
                "the migration chain has no route from the model of the file, "
                    + "“\(stored.description.modelVersion)”, to “\(wanted.modelVersion)”")
        }
        guard versions.count <= 1 || !terms.isOneStep else {
            throw StoreError(
                .schemaMismatch,
                "\(versions.count) steps lead from the model of the file, "
                    + "“\(stored.description.modelVersion)”, to “\(wanted.modelVersion)”, and "
                    + "this opening takes one")
        }
        self.versions = versions
        earlier = terms.earlier()
        fingerprint = PlanFingerprint(stored, versions).value
        callsProgram = versions.contains(where: \.makesValues)
        (steps, stepNumbers) = ([], [])
        try plan(from: stored, within: terms.limit)
    }

    /// Plans the steps to the versions.
    private mutating func plan(
        from stored: Schema, within limit: MigrationLimit
    ) throws(StoreError) {
        (steps, stepNumbers) = ([], [])
        var schema = stored
        for (number, version) in versions.enumerated() {
            try Self.checkNames(from: schema.description, to: version)
            let step = try VersionPlan(from: schema, to: version)
            guard step.limit <= limit else {
                throw Self.refusal(LayoutEdits(from: schema, to: version.schema), version)
            }
            guard !step.isEmpty else { continue }
            schema = step.schema
            steps.append(step)
            stepNumbers.append(number)
        }
    }

    /// The part up to the first step that a closure finishes; the whole plan if there is none.
    /// After it the file has that step's model, from which the rest is planned anew.
    ///
    /// - Parameter stored: the schema of the file.
    func firstPart(from stored: Schema) throws(StoreError) -> MigrationPlan {
        guard let end = versions.firstIndex(where: { $0.finishing != nil }),
            end + 1 < versions.count
        else { return self }
        var part = self
        part.versions = Array(versions[...end])
        try part.plan(from: stored, within: .mappings)
        part.fingerprint = PlanFingerprint(stored, part.versions).value
        part.callsProgram = part.versions.contains(where: \.makesValues)
        let later = Set(versions[(end + 1)...].map(\.schema.fingerprint))
        part.earlier.removeAll { later.contains($0.fingerprint) }
        return part
    }

    /// Refuses renamings that are not certain, unless mappings say what becomes of the objects.
    /// Recreating the file is no remedy: the program is wrong, and the file may be right.
    private static func checkNames(
        from stored: SchemaDescription, to version: MigrationStep
    ) throws(StoreError) {
        guard version.mappings == nil else { return }
        if let (element, name) = SchemaDifference.unfollowedName(
            from: stored, to: version.schema)
        {
            throw StoreError(
                .invalidArgument,
                "\(element) states the earlier name “\(name)”, and another one of the model is "
                    + "what the file has by that name: name the versions between the two in a "
                    + "migration chain, or state no earlier name")
        }
        let edits = SchemaDifference.edits(from: stored, to: version.schema)
        guard let renaming = edits.first(where: \.isRenaming),
            stored.fingerprint == version.schema.fingerprint
        else { return }
        throw StoreError(
            .invalidArgument,
            "\(renaming), and the model is otherwise the file's: programs of the two models would "
                + "open each other's files and take one's values for the other's; give the entity "
                + "or the property a versionHashModifier")
    }

    private static func refusal(_ edits: LayoutEdits, _ step: MigrationStep) -> StoreError {
        let what = "its objects must be rewritten, which this opening does not allow"
        guard !step.isOfProgram else {
            return StoreError(
                .schemaMismatch,
                "the program has a mapping to “\(step.schema.modelVersion)”: \(what)")
        }
        var error = LayoutPlan.mismatch(edits.impossible.isEmpty ? edits.edits : edits.impossible)
        error.message += "; \(what)"
        return error
    }
}

extension MigrationStep {
    /// Whether closures of the program make values of records.
    fileprivate var makesValues: Bool {
        !initialValues.isEmpty || mappings?.contains(where: \.calls) == true
    }
}
