import PageStore

/// Carries out a ``RewritePlan`` by the union schema: records first, then links.
struct RecordMover {
    private let plan: RewritePlan
    private let run: MigrationRun
    private let control: MigrationControl?
    private let permission: LinkPermission

    private var lineage: SchemaLineage { plan.lineage }
    private var schema: Schema { plan.both }

    /// - Parameter run: uses the union schema.
    init(_ plan: RewritePlan, _ run: MigrationRun, _ control: MigrationControl?) {
        self.plan = plan
        self.run = run
        self.control = control
        permission = LinkPermission(plan.lineage, plan.both, plan.step)
    }

    /// Returns how the records were rewritten.
    func move() throws(StoreError) -> [EntityRewrite] {
        // The counters of the earlier hierarchies must not change until all records have their
        // numbers.
        let numbers = try NumberMaps(lineage, schema) { hierarchy throws(StoreError) in
            try run.catalog.lastNumber(hierarchy, of: run.editor)
        }
        let links = LinkRewrite.all(lineage, schema, numbers)
        let hierarchies = plan.rewrites(numbers)
        let tags = (hierarchies.map(\.hierarchy) + owners(of: links)).flatMap { hierarchy in
            schema.knownEntity(tag: hierarchy.rootTag).tags
        }
        let rewrites = hierarchies.flatMap(\.entities)
        // The owners of links that a ``ToOneBuild`` reads again.
        let linked = rewrites.filter { !$0.links.isEmpty }
        let passed = LayoutPreparation(plan.last.without(rewrites), run).passedTags
        let clearings = try clearings(after: rewrites)
        run.progress.expect(
            try run.recordCount(tags + linked.map(\.source.tag) + passed)
                + clearings.reduce(0) { $0 + $1.recordCount })
        try write(hierarchies, numbers)
        try run.perform { () throws(StoreError) in
            for (name, last) in numbers.lastNumbers {
                guard let root = schema.entity(named: name) else { continue }
                try run.catalog.setCounter(
                    Catalog.numberKey(root.hierarchy), last, in: run.editor)
            }
            try run.catalog.addMoves(numbers.moves(), in: run.editor)
        }
        let going = schema.entities.filter { lineage.after[$0.name] == nil }
        for link in links {
            try LinkRewriter(
                link, run, schema, going: Set(going.map(\.tag)), permission
            ).rewrite()
        }
        for clearing in clearings { try clear(clearing) }
        return rewrites
    }

    private func owners(of links: [LinkRewrite]) -> [HierarchyID] {
        links.flatMap { link in
            let owners = schema.knownEntity(tag: link.source.sourceTag).hierarchy
            return (link.isForward ? [owners] : []) + (link.derived != nil ? [owners] : [])
        }
    }

    // MARK: Records

    /// Writes the records, and then the trees of the to-one links that they are given.
    private func write(
        _ hierarchies: [(hierarchy: HierarchyID, entities: [EntityRewrite])],
        _ numbers: NumberMaps
    ) throws(StoreError) {
        let builds = plan.newToOnes(of: hierarchies).map { ToOneBuild($0, $1, run) }
        // A tree that is not maintained stays empty until it is built, so a resumed run chooses it
        // again. One that became empty while it was maintained has no links, and is built as well.
        var due: Set<String> = []
        for build in builds { due.formUnion(try build.emptyTrees()) }
        try run.withoutMaintaining(due) { () throws(StoreError) in
            for (hierarchy, entities) in hierarchies { try write(hierarchy, entities, numbers) }
        }
        for build in builds { try build.perform(due) }
    }

    private func write(
        _ hierarchy: HierarchyID, _ entities: [EntityRewrite], _ numbers: NumberMaps
    ) throws(StoreError) {
        let byTag = Dictionary(entities.map { ($0.source.tag, $0) }) { first, _ in first }
        let maps = Dictionary(
            entities.map { entity in
                let name = entity.destination.name
                return (entity.source.tag, numbers.map(from: name, to: name))
            }
        ) { first, _ in first }
        let changesRecords = entities.contains { $0.isInPlace && $0.isNeeded }
        try RecordRewrite(run, hierarchy).visit(changesRecords: changesRecords) {
            batch, number, row throws(StoreError) in
            run.progress.count()
            guard let entity = byTag[row.entityTag], entity.isNeeded else { return false }
            // The program's mapping may take long, so that a program cancels between two objects.
            if entity.isMapped { try run.progress.report() }
            guard let changed = try entity.row(number, row, run.transaction, control) else {
                guard entity.isInPlace else { return false }
                batch.delete(number, in: hierarchy)
                return true
            }
            defer { changed.deallocate() }
            if entity.isInPlace {
                batch.update(entity.destination, number, row: changed)
            } else if let later = try maps[row.entityTag]?.later(number) {
                batch.insert(entity.destination, later, row: changed)
            } else {
                throw .corrupt(nil, "object \(number.rawValue) has no number to be moved to")
            }
            return true
        }
    }

    // MARK: Links

    /// A pass over the owners of a to-one, whose links may lead to objects that the later version
    /// lacks.
    private struct Clearing {
        let relationship: RelationshipLayout
        /// Whether the pass is left out if every object is still in its place.
        let mayBeLeftOut: Bool
        let permission: LinkPermission?
        /// How many records it is expected to read.
        let recordCount: Int
    }

    /// There are none if no entity is removed, none has a mapper, and no relationship is narrower.
    /// Hierarchies that are not linked with any that changes are skipped: their dangling links
    /// existed before.
    private func clearings(after rewrites: [EntityRewrite]) throws(StoreError) -> [Clearing] {
        let isPaired = lineage.stored.entities.allSatisfy { lineage.pairs.later[$0.name] != nil }
        let isComplete = isPaired && lineage.pairs.mappers.isEmpty
        let touched = try TouchedTrees([.rewrite(plan)])
        var clearings: [Clearing] = []
        for entity in lineage.wanted.entities {
            for description in entity.relationships where description.kind == .toOne {
                let path = PropertyPath(entity.name, description.name)
                guard let owner = schema.entity(named: entity.name),
                    let relationship = owner.relationship(named: description.name),
                    touched.contains(owner.hierarchy)
                else { continue }
                let paths = [path] + (lineage.after.inverse(of: path).map { [$0] } ?? [])
                let isNarrower = paths.contains { self.isNarrower($0) }
                guard !isComplete || isNarrower else { continue }
                // Objects of removed entities are there only where their loss is permitted. An
                // owner that the inverse does not allow counts as kept.
                let leadsToKept = paths.contains { self.isNarrower($0, among: lineage.isPaired) }
                clearings.append(
                    Clearing(
                        relationship: relationship, mayBeLeftOut: isPaired && !isNarrower,
                        permission: leadsToKept ? permission : nil,
                        recordCount: try recordCount(of: owner.hierarchy, after: rewrites)))
            }
        }
        return clearings
    }

    /// How many records a hierarchy has at most once all are written.
    private func recordCount(
        of hierarchy: HierarchyID, after rewrites: [EntityRewrite]
    ) throws(StoreError) -> Int {
        let moved = rewrites.filter { !$0.isInPlace && $0.destination.hierarchy == hierarchy }
        guard moved.isEmpty else { return try run.recordCount(moved.map(\.source.tag)) }
        return try run.recordCount(Array(schema.knownEntity(tag: hierarchy.rootTag).tags))
    }

    private func clear(_ clearing: Clearing) throws(StoreError) {
        try run.clearDanglingLinks(
            clearing.relationship, of: schema, within: clearing.permission
        ) { () throws(StoreError) in
            guard clearing.mayBeLeftOut, try hasAllRecords() else { return true }
            run.progress.count(clearing.recordCount)
            return false
        }
    }

    /// Whether every object of the file is still in its place.
    private func hasAllRecords() throws(StoreError) -> Bool {
        guard lineage.movedRoots.before.isEmpty else { return false }
        for entity in lineage.stored.entities {
            guard let tag = schema.entity(named: lineage.bothName(entity.name))?.tag,
                try run.hasAllRecords(tag)
            else { return false }
        }
        return true
    }

    /// Whether a relationship allows fewer entities at one of its ends than the earlier one.
    private func isNarrower(
        _ path: PropertyPath, among isCounted: (String) -> Bool = { _ in true }
    ) -> Bool {
        let (before, after) = (lineage.before, lineage.after)
        return lineage.pairedKinds(of: path.entityName).contains { name in
            guard let earlier = lineage.source(ofRelationship: path, in: name) else { return false }
            if before.allows(owner: name, of: earlier), !after.allows(owner: name, of: path) {
                return true
            }
            return lineage.renamed.entities.contains { entity in
                isCounted(entity.name)
                    && before.allows(target: entity.name, of: earlier)
                    && !after.allows(target: entity.name, of: path)
            }
        }
    }
}

extension RewritePlan {
    /// The records that are written, by their hierarchy in the union schema.
    func rewrites(
        _ numbers: NumberMaps
    ) -> [(hierarchy: HierarchyID, entities: [EntityRewrite])] {
        let entities = lineage.stored.entities.compactMap {
            EntityRewrite($0.name, lineage, both, numbers, step)
        }
        return Dictionary(grouping: entities, by: \.source.hierarchy)
            .filter { $0.value.contains(where: \.isNeeded) }
            .sorted { $0.key.rootTag < $1.key.rootTag }
            .map { ($0.key, $0.value) }
    }

    /// The to-one relationships that records are given links of, by the hierarchy of their owners
    /// in the union schema.
    func newToOnes(
        of hierarchies: [(hierarchy: HierarchyID, entities: [EntityRewrite])]
    ) -> [(hierarchy: HierarchyID, relationships: [RelationshipLayout])] {
        var ids: Set<Int> = []
        for entity in hierarchies.flatMap(\.entities) {
            for link in entity.links {
                if case .link(let id) = link.field.content { ids.insert(id) }
            }
        }
        let relationships = ids.sorted().map { both.relationship(id: $0) }
        return Dictionary(grouping: relationships) { relationship in
            both.knownEntity(tag: relationship.sourceTag).hierarchy
        }
        .sorted { $0.key.rootTag < $1.key.rootTag }
        .map { ($0.key, $0.value) }
    }
}
