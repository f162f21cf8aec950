import PageStore

/// Turns a batch into edits of trees: records, secondary indexes, to-one indexes and link pairs.
struct BatchApplier {
    private let transaction: RecordEditor
    private let linker: LinkApplier
    private let schema: Schema
    private let blobSizeMin: Int
    private let plans: EntityPlans
    /// Lookups of stored records, by the tag of the hierarchy's root.
    private var storedRows: [RowLookup?]
    /// The root tags of the hierarchies that lists without an inverse lead to. Only their deletions
    /// are collected in `deleted`.
    private let listedTags: Set<UInt16>
    private var deleted: [UInt16: [ObjectNumber: ObjectNumber?]] = [:]
    /// Objects whose new entries in unique indexes may have the same columns as another object's.
    private(set) var conflictCandidates: [HierarchyID: [ObjectNumber]] = [:]

    init(_ transaction: RecordEditor, _ plans: EntityPlans) {
        self.transaction = transaction
        linker = LinkApplier(transaction)
        schema = transaction.schema
        self.plans = plans
        storedRows = Array(repeating: nil, count: schema.tagMax + 1)
        listedTags = schema.listedHierarchies
        // A larger value becomes a blob, so that records stay short to scan.
        blobSizeMin = transaction.view.pageSizeInBytes / 4
    }

    mutating func apply(_ batch: borrowing RecordBatch) throws(StoreError) {
        if let (entity, number) = batch.overfull {
            throw StoreError(
                .tooLarge,
                "a value of \(entity.name) \(number) is too long: each takes less than 1 GiB, and "
                    + "those of one object less than 2 GiB")
        }
        for change in batch.changes {
            switch change.kind {
            case .insertion: try insert(plan(change.tag), change.number, batch.row(change))
            case .update: try update(plan(change.tag), change.number, batch.row(change))
            case .replacement: replace(plan(change.tag), change.number, batch.row(change))
            case .deletion:
                try delete(change.number, HierarchyID(rootTag: change.tag))
                if listedTags.contains(change.tag) {
                    let other = batch.replacement(change)
                    deleted[change.tag, default: [:]][change.number] = .some(other)
                }
            }
        }
        for (index, numbers) in try plans.applyTrees(to: transaction) {
            let hierarchy = schema.knownEntity(tag: index.entityTag).hierarchy
            conflictCandidates[hierarchy, default: []] += numbers
        }
        for change in batch.linkChanges { try linker.apply(change) }
        try linker.removeLinks(to: deleted)
    }

    // MARK: One record

    private func plan(_ tag: UInt16) -> EntityPlan { plans.plan(tag, transaction) }

    private mutating func insert(
        _ plan: EntityPlan, _ number: ObjectNumber, _ bytes: ByteView
    ) throws(StoreError) {
        let row = RowView(checked: bytes)
        for index in plan.indexes {
            try index.add(row, number, transaction, isRemoval: false)
        }
        for link in plan.links {
            if let target = row.link(at: link.byteOffset) {
                link.edits.insert(target.rawValue, number.rawValue)
                link.notes?.note(number, target, isRemoval: false)
            }
        }
        plan.notes?.inserted.note(number)
        plan.countChange += 1
        plan.insertedMax = max(plan.insertedMax, number.rawValue)
        guard hasLarge(bytes, plan.entity) else {
            plan.records.insert(number.rawValue, lending: bytes)
            return
        }
        let moved = try movingBlobs(bytes, plan.entity, old: nil)
        moved.withView { plan.records.insert(number.rawValue, value: $0) }
    }

    private mutating func update(
        _ plan: EntityPlan, _ number: ObjectNumber, _ bytes: ByteView
    ) throws(StoreError) {
        let found: Void? = try storedRows(plan.entity.hierarchy).withRow(number) {
            before throws(StoreError) in
            try update(plan, number, before, bytes)
        }
        guard found != nil else {
            throw StoreError(
                .notFound, "object \(number.rawValue) was changed and is not in the store")
        }
    }

    private func update(
        _ plan: EntityPlan, _ number: ObjectNumber, _ before: RowView, _ bytes: ByteView
    ) throws(StoreError) {
        let entity = plan.entity
        let after = RowView(checked: bytes)
        // The old blobs, which keys may need, are deleted only below.
        for index in plan.indexes where index.differs(before, after) {
            try index.add(before, number, transaction, isRemoval: true)
            try index.add(after, number, transaction, isRemoval: false)
        }
        for link in plan.links {
            let (old, new) = (before.link(at: link.byteOffset), after.link(at: link.byteOffset))
            guard old != new else { continue }
            if let old { link.edits.remove(old.rawValue, number.rawValue) }
            if let new { link.edits.insert(new.rawValue, number.rawValue) }
            if let notes = link.notes {
                if let old { notes.note(number, old, isRemoval: true) }
                if let new { notes.note(number, new, isRemoval: false) }
            }
        }
        let hasOld = entity.variableOffsets.contains { before.isBlob(at: $0) }
        guard hasOld || hasLarge(bytes, entity) else {
            if let notes = plan.notes, !(before.bytes == bytes) { notes.updated.note(number) }
            plan.records.insert(number.rawValue, lending: bytes)
            return
        }
        let moved = try movingBlobs(bytes, entity, old: before)
        moved.withView { stored in
            if let notes = plan.notes, !(before.bytes == stored) { notes.updated.note(number) }
            plan.records.insert(number.rawValue, value: stored)
        }
    }

    private func replace(_ plan: EntityPlan, _ number: ObjectNumber, _ bytes: ByteView) {
        plan.notes?.updated.note(number)
        plan.records.insert(number.rawValue, lending: bytes)
    }

    private mutating func delete(
        _ number: ObjectNumber, _ hierarchy: HierarchyID
    ) throws(StoreError) {
        // An ordered inverse of a to-one stores pairs of its own, which are removed too.
        var orderedOwners: [(id: Int, target: ObjectNumber)] = []
        let found = try storedRows(hierarchy).withRow(number) { row throws(StoreError) in
            let plan = plan(row.entityTag)
            for index in plan.indexes {
                try index.add(row, number, transaction, isRemoval: true)
            }
            for link in plan.links {
                guard let target = row.link(at: link.byteOffset) else { continue }
                link.edits.remove(target.rawValue, number.rawValue)
                link.notes?.note(number, target, isRemoval: true)
                if let inverse = link.inverseWithEdges { orderedOwners.append((inverse, target)) }
            }
            for offset in plan.entity.variableOffsets
            where row.isBlob(at: offset) && !row.isNull(at: offset) {
                try transaction.deleteBlob(BlobName.read(row.heapBytes(at: offset)))
            }
            return plan
        }
        guard let plan = found else { return }
        plan.records.remove(number.rawValue)
        plan.notes?.deleted.note(number)
        plan.countChange -= 1
        for (id, target) in orderedOwners {
            try linker.apply(.remove(schema.relationship(id: id), target, number))
        }
        for relationship in plan.entity.relationships where relationship.hasEdges {
            try linker.apply(.set(relationship, number, []))
        }
    }

    private mutating func storedRows(_ hierarchy: HierarchyID) -> RowLookup {
        if let known = storedRows[Int(hierarchy.rootTag)] { return known }
        let rows = transaction.rowLookup(hierarchy)
        storedRows[Int(hierarchy.rootTag)] = rows
        return rows
    }

    // MARK: Blobs

    /// Moves large values to blobs, and deletes blobs of the old record that are not kept.
    private func movingBlobs(
        _ bytes: ByteView, _ entity: EntityLayout, old: RowView?
    ) throws(StoreError) -> [UInt8] {
        var row = RowBuffer(copying: bytes)
        defer { row.deallocate() }
        for offset in entity.variableOffsets {
            try moveBlob(&row, at: offset, old: old)
        }
        return row.compacted(
            variableOffsets: entity.variableOffsets, fixedSize: entity.fixedSize)
    }

    private func hasLarge(_ bytes: ByteView, _ entity: EntityLayout) -> Bool {
        for offset in entity.variableOffsets
        where Int(bytes.uint32(at: offset + 4) & 0x7FFF_FFFF) > blobSizeMin { return true }
        return false
    }

    private func moveBlob(
        _ row: inout RowBuffer, at offset: Int, old: RowView?
    ) throws(StoreError) {
        let content = row.view.heapBytes(at: offset)
        var kept: BlobID?
        if let old, old.isBlob(at: offset), !old.isNull(at: offset) {
            kept = try BlobName.read(old.heapBytes(at: offset))
        }
        let isLarge = !row.view.isNull(at: offset) && content.count > blobSizeMin
        if row.view.isBlob(at: offset) {
            let named = try BlobName.read(content)
            if transaction.takeCopy(named) { return }
            // A value that was never loaded still has the stored record's blob name.
            guard let kept, kept.page == named.page, kept.sizeInBytes == named.sizeInBytes else {
                throw StoreError(.invalidArgument, "a row names a blob that is not its own")
            }
            return
        }
        if let blob = kept {
            if isLarge, blob.sizeInBytes == UInt64(content.count) {
                let stored = try transaction.view.readBlob(blob)
                let isSame = stored.withView { $0 == content }
                if isSame {
                    BlobName.bytes(blob).withView { row.set($0, isBlob: true, at: offset) }
                    return
                }
            }
            try transaction.deleteBlob(blob)
        }
        guard isLarge else { return }
        let blob = try transaction.createBlob(content)
        BlobName.bytes(blob).withView { row.set($0, isBlob: true, at: offset) }
    }
}
