import PageStore

/// Writes the links of ``LinkRewrite``, after all records are written.
struct LinkRewriter {
    private let link: LinkRewrite
    private let run: MigrationRun
    private let schema: Schema
    /// The entity tags allowed at the two ends of the later relationship.
    private let kinds: (owners: Set<UInt16>, targets: Set<UInt16>)
    private let going: Set<UInt16>
    private let permission: LinkPermission
    /// Whether every link that the later version cannot hold may be dropped.
    private let allowsLoss: Bool

    /// - Parameter going: the tags of entities whose objects are removed at the end.
    init(
        _ link: LinkRewrite, _ run: MigrationRun, _ schema: Schema, going: Set<UInt16>,
        _ permission: LinkPermission
    ) {
        let kinds = link.destination.kinds(in: schema)
        self.kinds = (kinds.owners.subtracting(going), kinds.targets.subtracting(going))
        self.going = going
        self.link = link
        self.run = run
        self.schema = schema
        self.permission = permission
        let sides = [link.source, link.destination].flatMap { side in
            [side] + (side.inverseID.map { [schema.relationship(id: $0)] } ?? [])
        }
        allowsLoss = sides.contains { permission.allows($0) }
    }

    func rewrite() throws(StoreError) {
        if link.isBuilt(in: schema) { return try build() }
        if link.isForward { try visit(writeForward) }
        if let inverse = link.derived { try writeBackward(inverse) }
    }

    private func hierarchy(_ tag: UInt16) -> HierarchyID {
        schema.knownEntity(tag: tag).hierarchy
    }

    // MARK: Reading

    /// Calls the body for every owner that still exists and has links, with later numbers.
    private func visit(
        _ body: (inout RecordBatch, ObjectNumber, [ObjectNumber]) throws(StoreError) -> Void
    ) throws(StoreError) {
        let source = hierarchy(link.source.sourceTag)
        let owners = hierarchy(link.destination.sourceTag)
        // Links in records are changed in hierarchies that were copied before.
        try RecordRewrite(run, source).visit(changesRecords: false) {
            batch, number, row throws(StoreError) in
            run.progress.count()
            guard link.ownerTags.contains(row.entityTag),
                let owner = try link.owners.later(number)
            else { return false }
            let entity = schema.knownEntity(tag: row.entityTag)
            let targets = try targets(of: number, entity)
            guard !targets.isEmpty else { return false }
            guard try isThere(owner, in: owners, kinds.owners) else {
                try refuseLoss(of: owner, entity)
                return false
            }
            try body(&batch, owner, targets)
            return true
        }
    }

    /// The later numbers of an owner's targets, in their order.
    ///
    /// - Parameter entity: the owner's.
    private func targets(
        of owner: ObjectNumber, _ entity: EntityLayout
    ) throws(StoreError) -> [ObjectNumber] {
        let kind = schema.knownEntity(tag: link.destination.destinationTag)
        var targets: [ObjectNumber] = []
        for number in try run.transaction.linkedNumbers(link.source, of: owner) {
            if let target = try link.targets.later(number),
                try isThere(target, in: kind.hierarchy, kinds.targets)
            {
                targets.append(target)
            } else if try !mayLose(number, of: entity) {
                throw try refusal(owner, number)
            }
        }
        return targets
    }

    /// Whether an owner's link may be dropped: the permission may name either of its sides.
    ///
    /// - Parameter target: by its earlier number.
    private func mayLose(
        _ target: ObjectNumber, of entity: EntityLayout
    ) throws(StoreError) -> Bool {
        if allowsLoss || permission.allows(link.source.name, of: entity) { return true }
        let targets = hierarchy(link.source.destinationTag)
        let tag = try run.transaction.withRow(target, in: targets) { $0.entityTag }
        guard let tag else { return false }
        let inverse = link.source.inverseID.map { schema.relationship(id: $0) }
        return permission.allows(target: tag)
            || inverse.map { permission.allows($0.name, of: schema.knownEntity(tag: tag)) } ?? false
    }

    /// - Parameter target: by its earlier number.
    private func refusal(
        _ owner: ObjectNumber, _ target: ObjectNumber
    ) throws(StoreError) -> StoreError {
        LossCheck.refusal(
            "object \(owner.rawValue) is linked by \(name) to object \(target.rawValue), which the "
                + "later model does not allow",
            isLoss: try run.transaction.contains(
                target, in: hierarchy(link.source.destinationTag)))
    }

    /// The later relationship, by the entity that declares it.
    private var name: String {
        "\(schema.knownEntity(tag: link.destination.sourceTag).name).\(link.destination.name)"
    }

    /// Throws `schemaMismatch` if an object with links is still there, but of an entity that the
    /// inverse does not allow.
    ///
    /// - Parameter entity: that of the object in the earlier version.
    private func refuseLoss(
        of owner: ObjectNumber, _ entity: EntityLayout
    ) throws(StoreError) {
        guard !allowsLoss, !permission.allows(link.source.name, of: entity) else { return }
        let hierarchy = hierarchy(link.destination.sourceTag)
        let tag = try run.transaction.withRow(owner, in: hierarchy) { $0.entityTag }
        guard let tag, !kinds.owners.contains(tag), !going.contains(tag),
            !permission.allows(link.destination.name, of: schema.knownEntity(tag: tag))
        else { return }
        throw LossCheck.refusal(
            "\(schema.knownEntity(tag: tag).name) \(owner.rawValue) has links of \(name), "
                + "which the later model does not allow")
    }

    private func isThere(
        _ number: ObjectNumber, in hierarchy: HierarchyID, _ tags: Set<UInt16>
    ) throws(StoreError) -> Bool {
        try run.transaction.withRow(number, in: hierarchy) { tags.contains($0.entityTag) } ?? false
    }

    // MARK: Building

    /// Turns a to-one into a list without an order, in one pass: pairs are collected from the
    /// records, which have them in the order of the owners, and sorted for the other direction.
    private func build() throws(StoreError) {
        try run.performLong { () throws(StoreError) in
            true
        } _: { () throws(StoreError) in
            let (transaction, relationship) = (try run.transaction, link.destination)
            let inverse = relationship.inverseID.map { schema.relationship(id: $0) }
            for side in [relationship, inverse].compactMap({ $0 }) {
                try transaction.checkOwn(transaction.trees.links(side))
            }
            // A migration in one transaction may be small enough for the log.
            var forward = try AscendingPairs(
                transaction.editor, tree: transaction.trees.links(relationship),
                isFinal: run.isChunked)
            var backward = SortedPairs(transaction.editor, isFinal: run.isChunked)
            try forEachPair { owner, target throws(StoreError) in
                try forward.insert(owner, target)
                if inverse != nil { try backward.insert(target, owner) }
            }
            try forward.finish()
            if let inverse { try backward.write(to: transaction.trees.links(inverse)) }
        }
    }

    /// Calls the body for every pair of objects that still exist and that the earlier to-one
    /// links, with later numbers, in the order of the owners.
    private func forEachPair(
        _ body: (ObjectNumber, ObjectNumber) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let offset = link.source.field?.byteOffset else { return }
        let sources = hierarchy(link.source.sourceTag)
        let owners = try ObjectSet(hierarchy(link.destination.sourceTag), kinds.owners, run)
        let targets = try ObjectSet(hierarchy(link.destination.destinationTag), kinds.targets, run)
        let cursor = try run.transaction.recordCursor(sources, isScan: true)
        while try cursor.next() {
            try run.count()
            run.progress.count()
            let row = try cursor.row()
            guard link.ownerTags.contains(row.entityTag), let number = row.link(at: offset),
                let owner = try link.owners.later(cursor.number)
            else { continue }
            let entity = schema.knownEntity(tag: row.entityTag)
            guard let target = try link.targets.later(number), try targets.contains(target) else {
                guard try mayLose(number, of: entity) else {
                    throw try refusal(cursor.number, number)
                }
                continue
            }
            guard try owners.contains(owner) else {
                try refuseLoss(of: owner, entity)
                continue
            }
            try body(owner, target)
        }
    }

    // MARK: Writing

    private func writeForward(
        _ batch: inout RecordBatch, _ owner: ObjectNumber, _ targets: [ObjectNumber]
    ) throws(StoreError) {
        let relationship = link.destination
        guard relationship.kind == .toOne else {
            batch.setLinks(relationship, owner: owner, targets)
            return
        }
        guard targets.count == 1 else {
            throw StoreError(
                .invalidArgument,
                "\(relationship.name) is a to-one now, and object \(owner.rawValue) has links to "
                    + "\(targets.count)")
        }
        try setLink(relationship, owner, targets[0], &batch)
    }

    /// The inverse is new: its links are derived from the side that existed.
    private func writeBackward(_ inverse: RelationshipLayout) throws(StoreError) {
        guard inverse.kind == .toOne else {
            try visit { batch, owner, targets in
                for target in targets { batch.addLink(inverse, owner: target, target: owner) }
            }
            return
        }
        var owners: [ObjectNumber: ObjectNumber] = [:]
        try visit { batch, owner, targets throws(StoreError) in
            // Rows do not show the links of the current batch yet, so its owners are remembered
            // here.
            if batch.isEmpty { owners.removeAll(keepingCapacity: true) }
            for target in targets {
                if let other = owners.updateValue(owner, forKey: target), other != owner {
                    throw conflict(inverse, target, other, owner)
                }
                try setLink(inverse, target, owner, &batch)
            }
        }
    }

    private func setLink(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber, _ target: ObjectNumber,
        _ batch: inout RecordBatch
    ) throws(StoreError) {
        guard let field = relationship.field else { return }
        let hierarchy = hierarchy(relationship.sourceTag)
        let changed = try run.transaction.withRow(owner, in: hierarchy) { row throws(StoreError) in
            if let other = row.link(at: field.byteOffset), other != target {
                throw conflict(relationship, owner, other, target)
            }
            let entity = schema.knownEntity(tag: row.entityTag)
            let changed = try RowBuffer(copying: row, of: entity)
            changed.setLink(target, at: field.byteOffset)
            return (entity, changed)
        }
        guard let (entity, row) = changed else { return }
        batch.update(entity, owner, row: row)
        row.deallocate()
    }

    private func conflict(
        _ relationship: RelationshipLayout, _ object: ObjectNumber, _ first: ObjectNumber,
        _ second: ObjectNumber
    ) -> StoreError {
        StoreError(
            .invalidArgument,
            "\(relationship.name) of object \(object.rawValue) would lead to two objects, "
                + "\(first.rawValue) and \(second.rawValue)")
    }
}
