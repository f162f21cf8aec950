import RecordStore

/// The lists of one relationship that deletions have shortened.
struct ShortenedLists {
    var store: AttachedStore
    var relationshipID: Int
    var owners: [ObjectNumber]
}

extension EditingContext {
    /// Throws for what may not be saved, all of it at once: required values that are nil, rules of
    /// the program, counts of links out of their bounds, and deletions that a deny rule forbids.
    ///
    /// - Parameter found: what is wrong already.
    final func validate(besides found: [Violation] = []) throws(CoreStoreError) {
        var violations = found
        for object in changes.created where object.change.kind == .inserted {
            validate(object, &violations)
        }
        for object in changes.touched where object.change.kind == .updated {
            validate(object, &violations)
        }
        try validateEvicted(&violations)
        validateDenials(sparesNew: true, &violations)
        guard violations.isEmpty else { throw .violated(violations) }
    }

    /// Throws for deletions that a deny rule forbids.
    ///
    /// - Parameter sparesNew: whether rules of objects that no commit has do not hold. They must if
    ///   a commit that is under way may have the objects.
    final func validateDenials(sparesNew: Bool) throws(CoreStoreError) {
        var violations: [Violation] = []
        validateDenials(sparesNew: sparesNew, &violations)
        guard violations.isEmpty else { throw .violated(violations) }
    }

    private func validateDenials(sparesNew: Bool, _ violations: inout [Violation]) {
        for denial in changes.denials where denial.object.change == .deleted {
            let rest = denial.targets.filter { $0.change != .deleted && !hasOwner($0, denial) }
            guard !rest.isEmpty, let raw = denial.object.raw, !sparesNew || wasStored(raw)
            else { continue }
            violations.append(
                Violation(
                    .denied, raw, [denial.relationship.name],
                    "guards the object and denies it while it leads to \(rest.count) object(s)"))
        }
    }

    /// Whether a commit has an object. One that was created and deleted again breaks no rule, as in
    /// Core Data. An unreadable one counts as stored.
    private func wasStored(_ raw: RawObject) -> Bool {
        let isStored = try? readerBefore(for: raw.store)
            .contains(raw.number, in: raw.entity.hierarchy)
        return isStored ?? true
    }

    /// Whether a target was given to another object after the deletion, which cleared its link.
    private func hasOwner(_ target: CoreStoreObject, _ denial: ChangeBuffer.Denial) -> Bool {
        guard let raw = target.raw, let inverse = denial.relationship.inverseID else {
            return false
        }
        // An inverse with many links does not tell: it may have had the others before.
        return linkedObject(of: target, raw, relationshipID: inverse) != nil
    }

    private func validate(_ object: CoreStoreObject, _ violations: inout [Violation]) {
        guard let raw = object.raw else { return }
        if object.isRowLoaded { validateValues(of: object, raw, &violations) }
        if raw.kind.entity.hasLinkBounds { validateCounts(of: object, raw, &violations) }
        if !raw.kind.model.rules.objects.isEmpty { validateWhole(object, raw, &violations) }
    }

    /// Changes of other objects may have shortened the lists of objects that were evicted, and may
    /// break a rule that reads links. Counting links needs no object.
    private func validateEvicted(_ violations: inout [Violation]) throws(CoreStoreError) {
        let isNeeded = accesses.contains { access in
            access.store.hasObjectRules
                || access.store.database.schema.entities.contains(where: \.hasLinkBounds)
        }
        guard isNeeded else { return }
        do throws(StoreError) {
            try flush()
            for kind in [ObjectChangeState.Kind.inserted, .updated] {
                try changes.forEachChanged(kind) { name throws(StoreError) in
                    try validateEvicted(name, &violations)
                }
            }
            try validateShortened(&violations)
        } catch {
            throw CoreStoreError(error)
        }
    }

    /// The owner of a list without an inverse is not changed by the deletion of a member.
    private func validateShortened(_ violations: inout [Violation]) throws(StoreError) {
        for lists in takeShortenedLists() {
            let access = try self.access(to: lists.store)
            let schema = access.reader.schema
            let relationship = schema.relationship(id: lists.relationshipID)
            let hierarchy = schema.knownEntity(tag: relationship.sourceTag).hierarchy
            for owner in lists.owners {
                let tag = try access.reader.withRow(owner, in: hierarchy) { $0.entityTag }
                guard let tag else { continue }
                let kind = access.kind(tag, in: self)
                guard !isChanged(owner, kind) else { continue }
                let count = try access.reader.linkCount(relationship, of: owner)
                validate(count, relationship, RawObject(kind: kind, number: owner), &violations)
            }
        }
    }

    /// Whether an object is validated with what the transaction changed.
    private func isChanged(_ number: ObjectNumber, _ kind: ObjectKind) -> Bool {
        if let known = kind.objects.object(number), known.change.kind != .stored { return true }
        guard let evicted = kind.evicted else { return false }
        return evicted.created(number) != nil || evicted.updated(number) != nil
    }

    private func validateEvicted(
        _ name: ChangeBuffer.ChangedName, _ violations: inout [Violation]
    ) throws(StoreError) {
        let entity = name.store.database.schema.knownEntity(tag: name.tag)
        let hasRules = name.store.classes[name.tag]?.rules.objects.isEmpty == false
        guard entity.hasLinkBounds || hasRules else { return }
        let known = registered(name.number, in: entity.hierarchy, of: name.store)
        guard known?.isListed != true else { return }
        let access = try self.access(to: name.store)
        let raw = RawObject(kind: access.kind(name.tag, in: self), number: name.number)
        for relationship in entity.relationships where relationship.isBounded {
            let count = try access.reader.linkCount(relationship, of: name.number)
            validate(count, relationship, raw, &violations)
        }
        guard hasRules else { return }
        let object = try self.object(name.number, in: entity.hierarchy, access)
        if let object { validateWhole(object, raw, &violations) }
    }

    private func validateValues(
        of object: CoreStoreObject, _ raw: RawObject, _ violations: inout [Violation]
    ) {
        let row = object.row.buffer.view
        for offset in raw.kind.entity.requiredOffsets where row.isNull(at: offset) {
            let field = raw.entity.fields.first { $0.byteOffset == offset }
            violations.append(
                Violation(.required, raw, [field?.name ?? ""], "is required, and it is nil"))
        }
        for rule in raw.kind.model.rules.properties {
            guard let fault = rule.fault(object.row, rule.byteOffset) else { continue }
            violations.append(Violation(rule.kind, raw, [rule.name], fault))
        }
    }

    private func validateWhole(
        _ object: CoreStoreObject, _ raw: RawObject, _ violations: inout [Violation]
    ) {
        for fault in raw.kind.model.rules.objects {
            guard let fault = fault(object) else { continue }
            violations.append(Violation(.custom, raw, [], fault))
        }
    }

    /// Relationships are optional: a least count holds for lists that are not empty.
    private func validateCounts(
        of object: CoreStoreObject, _ raw: RawObject, _ violations: inout [Violation]
    ) {
        for relationship in raw.entity.relationships where relationship.isBounded {
            let count = linkedObjects(of: object, raw, relationshipID: relationship.id).count
            validate(count, relationship, raw, &violations)
        }
    }

    private func validate(
        _ count: Int, _ relationship: RelationshipLayout, _ raw: RawObject,
        _ violations: inout [Violation]
    ) {
        let isTooFew = count > 0 && count < relationship.minCount
        let isTooMany = relationship.maxCount > 0 && count > relationship.maxCount
        guard isTooFew || isTooMany else { return }
        violations.append(
            Violation(
                .count, raw, [relationship.name],
                "leads to \(count) object(s); it takes \(relationship.minCount) to "
                    + (relationship.maxCount > 0 ? "\(relationship.maxCount)" : "any number")))
    }
}

extension RelationshipLayout {
    fileprivate var isBounded: Bool { minCount > 0 || maxCount > 0 }
}
