import PageStore

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
    var forecast: [PlannedMigration.Step] {
        guard !steps.isEmpty else { return [] }
        let limits = Dictionary(uniqueKeysWithValues: zip(stepNumbers, steps.map(\.limit)))
        return models.enumerated().map { number, model in
            PlannedMigration.Step(version: model.modelVersion, limit: limits[number] ?? .layout)
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
        let edits = LayoutEdits(from: stored, to: wanted)
        guard terms.needsMigration(edits.all, from: stored.description) else {
            if stored.description.modelVersion != wanted.modelVersion {
                try NameCheck.refuseExchange(
                    from: stored.description, through: terms.route?(stored.description) ?? [])
            }
            (steps, stepNumbers, versions) = ([], [], [])
            (fingerprint, callsProgram, earlier) = (0, false, [])
            followsStored = false
            return
        }
        let versions = terms.route.map { $0(stored.description) } ?? [MigrationStep(wanted)]
        let isNamed = versions?.first?.isNamed == true
        if !isNamed { try history?.refuse(wanted) }
        followsStored = isNamed || !edits.onlyRemoves
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
        if let empty = versions.dropLast().first(where: \.schema.entities.isEmpty) {
            throw StoreError(
                .invalidArgument,
                "“\(empty.schema.modelVersion)”, which the route to “\(wanted.modelVersion)” "
                    + "passes, has no entity for this file: all objects would be lost there")
        }
        self.versions = versions
        earlier = terms.earlier()
        for model in earlier where model.fingerprint == wanted.fingerprint {
            try NameCheck.refuseExchange(from: model, through: terms.route?(model) ?? [])
        }
        fingerprint = PlanFingerprint(stored, versions).value
        callsProgram = versions.contains(where: \.makesValues)
        (steps, stepNumbers) = ([], [])
        let known = versions.first?.schema == wanted ? edits : nil
        try plan(from: stored, within: terms.limit, known: known)
    }

    /// Plans the steps to the versions.
    ///
    /// - Parameter known: the differences of the first version from the file's schema.
    private mutating func plan(
        from stored: Schema, within limit: MigrationLimit, known: LayoutEdits? = nil
    ) throws(StoreError) {
        (steps, stepNumbers) = ([], [])
        var schema = stored
        for (number, version) in versions.enumerated() {
            try NameCheck(from: schema.description, to: version).refuse()
            let known = number == 0 ? known : nil
            let edits = known ?? LayoutEdits(from: schema, to: version.schema)
            let step = try VersionPlan(from: schema, to: version, edits)
            guard step.limit <= limit else { throw Self.refusal(edits, version) }
            guard !step.isEmpty else {
                // A later step is compared with what this version states.
                schema = try schema.stating(version.schema)
                continue
            }
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

extension Schema {
    /// This schema with the earlier names that another one states, which is its equal but for
    /// indexes.
    fileprivate func stating(_ other: SchemaDescription) throws(StoreError) -> Schema {
        func names<Element>(
            _ elements: [Element], _ name: (Element) -> String, _ previous: (Element) -> String?
        ) -> [String: String] {
            Dictionary(
                elements.compactMap { element in previous(element).map { (name(element), $0) } }
            ) { first, _ in first }
        }
        var stated = description
        let later = Dictionary(other.entities.map { ($0.name, $0) }) { first, _ in first }
        for (index, entity) in stated.entities.enumerated() {
            guard let later = later[entity.name] else { continue }
            stated.entities[index].previousName = later.previousName
            let attributes = names(later.attributes, \.name, \.previousName)
            for (number, attribute) in entity.attributes.enumerated() {
                stated.entities[index].attributes[number].previousName = attributes[attribute.name]
            }
            let links = names(later.relationships, \.name, \.previousName)
            for (number, link) in entity.relationships.enumerated() {
                stated.entities[index].relationships[number].previousName = links[link.name]
            }
        }
        let layout = storedLayout ?? StoredLayout(declaredBy: self)
        return try Schema(stated, layout: layout.bytes, page: PageID(0))
    }
}

extension MigrationStep {
    /// Whether closures of the program make values of records.
    fileprivate var makesValues: Bool {
        !initialValues.isEmpty || mappings?.contains(where: \.calls) == true
    }
}
