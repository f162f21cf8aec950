import PageStore

/// The changes of one commit or of several consecutive ones: object numbers without values, which
/// are read from the snapshots before and after.
///
/// The set of one commit is exact, except that owners of a relationship with very many changes may
/// have their old links again. A joined set contains all differences, and may contain objects that
/// changed back.
package struct ChangeSet: Sendable, Equatable {
    /// Beyond this size of the numbers, a set records only that something changed.
    package static let sizeInBytesMax = 1 << 20

    /// The records of a hierarchy that were inserted, updated or deleted; the sets are disjoint.
    package struct Records: Sendable, Equatable {
        package let inserted: NumberSet
        /// Records whose bytes differ from those before.
        package let updated: NumberSet
        package let deleted: NumberSet

        package init(
            inserted: NumberSet = NumberSet(), updated: NumberSet = NumberSet(),
            deleted: NumberSet = NumberSet()
        ) {
            self.inserted = inserted
            self.updated = updated
            self.deleted = deleted
        }

        package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

        package var sizeInBytes: Int {
            inserted.sizeInBytes + updated.sizeInBytes + deleted.sizeInBytes
        }
    }

    struct Owners: Sendable, Equatable {
        /// The hierarchy of the owners.
        var hierarchy: HierarchyID
        /// Nil if there are too many.
        var numbers: NumberSet?
    }

    /// By hierarchy; nil if it has too many changes. There is no entry without changes.
    private var records: [HierarchyID: Records?] = [:]
    /// By relationship ID.
    private var owners: [Int: Owners] = [:]
    /// Whether anything may have changed.
    package private(set) var isUnknown = false

    package init() {}

    /// The set of a commit whose changes were not recorded.
    package static var unknown: ChangeSet {
        var set = ChangeSet()
        set.isUnknown = true
        return set
    }

    package var isEmpty: Bool { !isUnknown && records.isEmpty && owners.isEmpty }

    /// The changed records of a hierarchy; nil if any of them may have changed.
    package func records(in hierarchy: HierarchyID) -> Records? {
        isUnknown ? nil : records[hierarchy, default: Records()]
    }

    /// The objects, existing before and after, whose links of a relationship changed in targets or
    /// order. Each side of a relationship has its own owners. Nil if any may have changed.
    package func owners(of relationship: RelationshipLayout) -> NumberSet? {
        if isUnknown { return nil }
        guard let found = owners[relationship.id] else { return NumberSet() }
        return found.numbers
    }

    // MARK: Making

    /// - Parameter changed: nil if they are not known.
    package mutating func set(_ changed: Records?, in hierarchy: HierarchyID) {
        if let changed, changed.isEmpty { return }
        let isSmall = changed.map { $0.sizeInBytes <= Self.sizeInBytesMax } ?? false
        records.updateValue(isSmall ? changed : nil, forKey: hierarchy)
    }

    /// Adds owners of a relationship, after the records of their hierarchy were set.
    /// - Parameter numbers: may include inserted and deleted objects, which are left out; nil if
    ///   they are not known.
    package mutating func add(
        _ numbers: NumberSet?, of relationship: Int, in hierarchy: HierarchyID
    ) {
        var known = owners[relationship] ?? Owners(hierarchy: hierarchy, numbers: NumberSet())
        if let numbers, let others = known.numbers {
            known.numbers = others.union(numbers)
        } else {
            known.numbers = nil
        }
        set(known, of: relationship)
    }

    private mutating func set(_ changed: Owners, of relationship: Int) {
        var changed = changed
        if let numbers = changed.numbers, let known = records[changed.hierarchy] ?? nil {
            changed.numbers = numbers.subtracting(known.inserted).subtracting(known.deleted)
        }
        if let size = changed.numbers?.sizeInBytes, size > Self.sizeInBytesMax {
            changed.numbers = nil
        }
        let isEmpty = changed.numbers?.isEmpty ?? false
        owners[relationship] = isEmpty ? nil : changed
    }

    // MARK: Joining

    /// Adds the changes of the commits that follow directly.
    package mutating func join(_ later: ChangeSet) {
        guard !isUnknown, !later.isUnknown else {
            self = .unknown
            return
        }
        for (hierarchy, changed) in later.records {
            guard let known = records[hierarchy] else {
                records.updateValue(changed, forKey: hierarchy)
                continue
            }
            records[hierarchy] = nil
            if let known, let changed {
                set(known.joined(with: changed), in: hierarchy)
            } else {
                set(nil, in: hierarchy)
            }
        }
        let known = owners
        owners = later.owners
        for (relationship, changed) in later.owners { set(changed, of: relationship) }
        for (relationship, changed) in known {
            add(changed.numbers, of: relationship, in: changed.hierarchy)
        }
    }
}

extension ChangeSet.Records {
    /// A number that was deleted and inserted again counts as an updated record.
    fileprivate func joined(with later: ChangeSet.Records) -> ChangeSet.Records {
        let came = inserted.subtracting(later.deleted)
            .union(later.inserted.subtracting(deleted))
        let went = deleted.subtracting(later.inserted)
            .union(later.deleted.subtracting(inserted))
        let changed = updated.union(later.updated)
            .union(deleted.intersection(later.inserted))
        return ChangeSet.Records(
            inserted: came, updated: changed.subtracting(came).subtracting(went),
            deleted: went)
    }
}
