import PageStore

/// Records the changes of a transaction while its batches are applied.
final class ChangeNotes {
    /// The records of one hierarchy.
    final class Records {
        let inserted = NumberNotes()
        let updated = NumberNotes()
        let deleted = NumberNotes()
    }

    /// By the tag of the hierarchy's root, and by relationship ID.
    private var records: [Records?]
    private var links: [LinkNotes?]
    /// Whether the changes are unknown, because a batch was applied only in part.
    private var isUnknown = false

    init(_ schema: Schema) {
        records = Array(repeating: nil, count: schema.tagMax + 1)
        links = Array(repeating: nil, count: schema.relationships.count)
    }

    func records(in hierarchy: HierarchyID) -> Records {
        let tag = Int(hierarchy.rootTag)
        if let known = records[tag] { return known }
        let notes = Records()
        records[tag] = notes
        return notes
    }

    func links(_ relationship: RelationshipLayout) -> LinkNotes {
        if let known = links[relationship.id] { return known }
        let notes = LinkNotes()
        links[relationship.id] = notes
        return notes
    }

    func forget() { isUnknown = true }

    // MARK: The set

    /// The change set of all notes. Requires that the states before and after are still readable.
    func changeSet(_ transaction: RecordEditor) -> ChangeSet {
        guard !isUnknown else { return .unknown }
        do throws(StoreError) {
            var set = ChangeSet()
            for root in transaction.schema.entities {
                guard let notes = records[Int(root.tag)] else { continue }
                set.set(try changed(notes, root.hierarchy, transaction), in: root.hierarchy)
            }
            for relationship in transaction.schema.relationships {
                try addOwners(of: relationship, transaction, to: &set)
            }
            return set
        } catch {
            return .unknown
        }
    }

    private func changed(
        _ notes: Records, _ hierarchy: HierarchyID, _ transaction: RecordEditor
    ) throws(StoreError) -> ChangeSet.Records? {
        let (inserted, _) = notes.inserted.settled()
        let (updated, again) = notes.updated.settled()
        let (deleted, _) = notes.deleted.settled()
        guard let inserted, let updated, let deleted else { return nil }
        let updatedAlone = updated.subtracting(inserted).subtracting(deleted)
        let (before, after) = (try transaction.before, transaction)
        var (came, changed, went) = (NumberSet(), NumberSet(), NumberSet())
        // Updates that may have cancelled each other, and objects that were inserted and deleted.
        let doubtful = again.intersection(updatedAlone)
            .union(inserted.intersection(deleted))
        for number in doubtful {
            let wasThere = try before.contains(number, in: hierarchy)
            switch (wasThere, try after.contains(number, in: hierarchy)) {
            case (true, false): went.append(number.rawValue)
            case (false, true): came.append(number.rawValue)
            case (false, false): continue
            case (true, true):
                let isSame = try after.hasSameRow(number, in: hierarchy, as: before)
                if !isSame { changed.append(number.rawValue) }
            }
        }
        return ChangeSet.Records(
            inserted: inserted.subtracting(deleted).union(came),
            updated: updatedAlone.subtracting(doubtful).union(changed),
            deleted: deleted.subtracting(inserted).union(went))
    }

    private func addOwners(
        of relationship: RelationshipLayout, _ transaction: RecordEditor,
        to set: inout ChangeSet
    ) throws(StoreError) {
        guard let notes = links[relationship.id] else { return }
        let schema = transaction.schema
        let source = schema.knownEntity(tag: relationship.sourceTag).hierarchy
        notes.settle()
        var owners = notes.owners
        if let known = owners, let reordered = notes.reorderedOwners {
            let before = try transaction.before
            var others = NumberSet()
            for owner in reordered.subtracting(known) {
                let links = try before.linkedNumbers(relationship, of: owner)
                if links != (try transaction.linkedNumbers(relationship, of: owner)) {
                    others.append(owner.rawValue)
                }
            }
            owners = known.union(others)
        } else {
            owners = nil
        }
        set.add(owners, of: relationship.id, in: source)
        guard let inverse = relationship.inverseID, schema.relationship(id: inverse).mirrorsToOne
        else { return }
        let destination = schema.knownEntity(tag: relationship.destinationTag).hierarchy
        set.add(notes.targets, of: inverse, in: destination)
    }
}

/// Collects object numbers, most of which are consecutive.
final class NumberNotes {
    private var numbers = NumberSet()
    /// The current run, which `numbers` lacks and which ends with the largest number so far; empty
    /// if its start exceeds its end. Two numbers instead of a range, because these are accessed
    /// without a check for exclusivity.
    private var runStart: UInt64 = 1
    private var runEnd: UInt64 = 0
    private var unsorted: [UInt64] = []
    /// The numbers that were noted more than once.
    private var repeated = NumberSet()
    private var isTooLarge = false

    func note(_ number: ObjectNumber) {
        if number.rawValue == runEnd &+ 1, number.rawValue <= NumberSet.numberMax {
            runEnd = number.rawValue
        } else {
            noteApart(number.rawValue)
        }
    }

    /// Notes a number that does not continue the run.
    private func noteApart(_ number: UInt64) {
        guard number <= NumberSet.numberMax else {
            isTooLarge = true
            return
        }
        if number <= runEnd {
            unsorted.append(number)
        } else {
            endRun()
            (runStart, runEnd) = (number, number)
        }
        if numbers.sizeInBytes + unsorted.count * 8 > 2 * ChangeSet.sizeInBytesMax { shrink() }
    }

    private func endRun() {
        guard runStart <= runEnd else { return }
        numbers.append(runStart...runEnd)
        runStart = runEnd + 1
    }

    private func shrink() {
        if !isTooLarge { sort() }
        // Sorted numbers may also grow to twice the limit; otherwise each further number would sort
        // again.
        isTooLarge = isTooLarge || numbers.sizeInBytes > ChangeSet.sizeInBytesMax
        if isTooLarge { (numbers, unsorted, repeated) = (NumberSet(), [], NumberSet()) }
    }

    private func sort() {
        endRun()
        guard !unsorted.isEmpty else { return }
        let others = NumberSet(unsorted)
        var twice: [UInt64] = []
        if others.count < unsorted.count {
            unsorted.sort()
            for (number, next) in zip(unsorted, unsorted.dropFirst()) where number == next {
                twice.append(number)
            }
        }
        repeated = repeated.union(NumberSet(twice)).union(numbers.intersection(others))
        numbers = numbers.union(others)
        unsorted = []
    }

    /// All numbers, or nil if there are too many, and those that were noted more than once.
    func settled() -> (all: NumberSet?, again: NumberSet) {
        if !isTooLarge { sort() }
        return (isTooLarge ? nil : numbers, repeated)
    }
}

/// Collects changed links of one relationship.
final class LinkNotes {
    private struct Change {
        var owner: UInt64
        var target: UInt64
        /// Plus one for an added link, minus one for a removed one.
        var sum: Int
    }

    /// So many changes are kept one by one; when they are merged into the sets, changes that a
    /// later one would cancel remain.
    private static let changeCountMax = 32_768

    private var changes: [Change] = []
    private let reordered = NumberNotes()
    /// The owners and targets of changed links, after ``settle()``; nil if there are too many.
    private(set) var owners: NumberSet? = NumberSet()
    private(set) var targets: NumberSet? = NumberSet()

    func note(_ owner: ObjectNumber, _ target: ObjectNumber, isRemoval: Bool) {
        changes.append(
            Change(
                owner: owner.rawValue, target: target.rawValue, sum: isRemoval ? -1 : 1))
        if changes.count >= Self.changeCountMax { settle() }
    }

    /// Notes that an owner's links may be in another order.
    func noteOrder(_ owner: ObjectNumber) { reordered.note(owner) }

    /// Nil if there are too many.
    var reorderedOwners: NumberSet? { reordered.settled().all }

    func settle() {
        changes.sort { ($0.owner, $0.target) < ($1.owner, $1.target) }
        var (changedOwners, changedTargets): ([UInt64], [UInt64]) = ([], [])
        var index = 0
        while index < changes.count {
            var change = changes[index]
            index += 1
            while index < changes.count, changes[index].owner == change.owner,
                changes[index].target == change.target
            {
                change.sum += changes[index].sum
                index += 1
            }
            guard change.sum != 0 else { continue }
            changedOwners.append(change.owner)
            changedTargets.append(change.target)
        }
        changes.removeAll(keepingCapacity: true)
        Self.add(changedOwners, to: &owners)
        Self.add(changedTargets, to: &targets)
    }

    private static func add(_ numbers: [UInt64], to set: inout NumberSet?) {
        guard let known = set else { return }
        guard numbers.allSatisfy({ $0 <= NumberSet.numberMax }) else {
            set = nil
            return
        }
        let all = known.union(NumberSet(numbers))
        set = all.sizeInBytes > ChangeSet.sizeInBytesMax ? nil : all
    }
}
