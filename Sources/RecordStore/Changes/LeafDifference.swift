import PageStore

extension ChangeSet {
    /// The difference between two commits of a store, found by comparing the leaves that were
    /// written in between: for commits whose changes were not recorded, such as those of other
    /// processes. Unknown if the two have different schemas.
    ///
    /// Exact for records. For links it contains the owners whose links differ, and may contain
    /// owners whose links changed back. Costs one comparison for each leaf of records and links,
    /// and reads those that were written.
    package static func between(
        _ before: RecordSnapshot, _ after: RecordSnapshot
    ) throws(StoreError) -> ChangeSet {
        guard before.commitNumber < after.commitNumber else {
            return before.commitNumber == after.commitNumber ? ChangeSet() : .unknown
        }
        guard before.schema === after.schema, let old = before.view as? Snapshot,
            let new = after.view as? Snapshot
        else { return .unknown }
        let comparison = LeafDifference(
            before: before, after: after, old: old, new: new,
            written: try new.changedPages(since: old))
        var set = ChangeSet()
        for root in after.schema.entities where root.superentityTag == nil {
            set.set(try comparison.records(in: root.hierarchy), in: root.hierarchy)
        }
        for relationship in after.schema.relationships where !relationship.mirrorsToOne {
            guard before.trees.links(relationship) == after.trees.links(relationship) else {
                return .unknown
            }
            try comparison.addOwners(of: relationship, to: &set)
        }
        return set
    }
}

/// Two commits of a store, and the pages that were written in between.
private struct LeafDifference {
    let before: RecordSnapshot
    let after: RecordSnapshot
    let old: Snapshot
    let new: Snapshot
    let written: ChangedPages

    // MARK: Records

    /// Nil if there are too many changes, or if the hierarchy has another tree.
    func records(in hierarchy: HierarchyID) throws(StoreError) -> ChangeSet.Records? {
        let tree = after.trees.records(hierarchy)
        guard tree == before.trees.records(hierarchy) else { return nil }
        var (came, changed, went) = (NumberSet(), NumberSet(), NumberSet())
        var isSmall = true
        try new.forEachEntry(written: written, in: tree, since: old) {
            key, earlier, later throws(StoreError) in
            guard key.count == 8 else {
                throw .corrupt(nil, "a record's key is not an object number")
            }
            let number = key.bigEndianUInt64(at: 0)
            guard number <= NumberSet.numberMax else {
                isSmall = false
                return false
            }
            switch (earlier, later) {
            case (nil, _): came.append(number)
            case (_, nil): went.append(number)
            case (let earlier?, let later?):
                let isSame = try isSame(earlier, later, ObjectNumber(number), hierarchy)
                if !isSame { changed.append(number) }
            }
            let size = came.sizeInBytes + changed.sizeInBytes + went.sizeInBytes
            isSmall = size <= ChangeSet.sizeInBytesMax
            return isSmall
        }
        return isSmall ? ChangeSet.Records(inserted: came, updated: changed, deleted: went) : nil
    }

    /// Whether two records of a number have equal values. Equal bytes may name different blobs,
    /// because freed page IDs are reused.
    private func isSame(
        _ earlier: ByteView, _ later: ByteView, _ number: ObjectNumber, _ hierarchy: HierarchyID
    ) throws(StoreError) -> Bool {
        guard earlier == later else { return false }
        return try after.withCheckedRow(later, number, hierarchy) { row throws(StoreError) in
            let entity = after.schema.knownEntity(tag: row.entityTag)
            guard entity.hasBlob(row) else { return true }
            for offset in entity.variableOffsets
            where row.isBlob(at: offset) && !row.isNull(at: offset) {
                let blob = try BlobName.read(row.heapBytes(at: offset))
                guard written.contains(blob.page) else { continue }
                if try old.readBlob(blob) != new.readBlob(blob) { return false }
            }
            return true
        }
    }

    // MARK: Links

    func addOwners(
        of relationship: RelationshipLayout, to set: inout ChangeSet
    ) throws(StoreError) {
        let schema = after.schema
        let (firsts, seconds) = (NumberNotes(), NumberNotes())
        var last: UInt64?
        try new.forEachEntry(
            written: written, in: after.trees.links(relationship), since: old
        ) { key, earlier, later throws(StoreError) in
            guard key.count == 16 else {
                throw .corrupt(nil, "a link of \(relationship.name) is not two numbers")
            }
            if let earlier, let later, earlier == later { return true }
            let first = key.bigEndianUInt64(at: 0)
            if first != last { firsts.note(ObjectNumber(first)) }
            last = first
            if relationship.kind == .toOne {
                seconds.note(ObjectNumber(key.bigEndianUInt64(at: 8)))
            }
            return true
        }
        guard last != nil else { return }
        let source = schema.knownEntity(tag: relationship.sourceTag).hierarchy
        guard relationship.kind == .toOne else {
            // The first number is the owner, the second the target or the order key.
            // Those of objects that came or went are left out.
            let known = set.records(in: source)
            let owners = firsts.settled().all.map { owners in
                known.map { owners.subtracting($0.inserted).subtracting($0.deleted) } ?? owners
            }
            return set.add(try others(owners, relationship), of: relationship.id, in: source)
        }
        // The first number is the target, the second the owner.
        set.add(seconds.settled().all, of: relationship.id, in: source)
        guard let inverse = relationship.inverseID, schema.relationship(id: inverse).mirrorsToOne
        else { return }
        let destination = schema.knownEntity(tag: relationship.destinationTag).hierarchy
        set.add(firsts.settled().all, of: inverse, in: destination)
    }

    /// The owners whose links differ in targets or order. Order keys alone may have changed.
    private func others(
        _ owners: NumberSet?, _ relationship: RelationshipLayout
    ) throws(StoreError) -> NumberSet? {
        guard let owners, relationship.kind == .toManyOrdered else { return owners }
        var others = NumberSet()
        for owner in owners {
            let links = try before.linkedNumbers(relationship, of: owner)
            if links != (try after.linkedNumbers(relationship, of: owner)) {
                others.append(owner.rawValue)
            }
        }
        return others
    }
}
