import RecordStore

/// One step on its way to the observers of the view.
final class Delivery {
    /// The effect of a step on an object.
    enum Fate: Equatable {
        case none, updated, deleted
    }

    let step: CommitStep
    let stack: DataStack
    /// Whether all are told, also of what is equal.
    let isRefresh: Bool
    /// The commits that the view showed before.
    private let before: [ObjectIdentifier: RecordSnapshot]
    /// By hierarchy, the owners whose to-many links changed; nil where they are not known.
    private var linkOwners: [HierarchyKey: [NumberSet]?] = [:]

    private struct HierarchyKey: Hashable {
        var store: ObjectIdentifier
        var hierarchy: HierarchyID
    }

    init(_ step: CommitStep, _ stack: DataStack, _ view: StackView) {
        self.step = step
        self.stack = stack
        isRefresh = step.origin == .maintenance && step.hasUnknownPart
        var before: [ObjectIdentifier: RecordSnapshot] = [:]
        for part in step.parts {
            before[ObjectIdentifier(part.store)] = view.shownSnapshot(of: part.store)
        }
        self.before = before
    }

    var sourceIdentifier: Any? { step.sourceIdentifier?.value }

    /// A store's state before and after; nil when the step does not move it: the view may show a
    /// commit before the commit's own step comes.
    func readers(
        of store: AttachedStore
    ) -> (before: RecordSnapshot, after: RecordSnapshot, content: CommitStep.Content)? {
        guard let part = step.parts.first(where: { $0.store === store }),
            let before = before[ObjectIdentifier(store)],
            part.snapshot.commitNumber >= before.commitNumber
        else { return nil }
        let content = part.content(since: before.commitNumber)
        if part.snapshot.commitNumber == before.commitNumber {
            guard case .unknown = content else { return nil }
        }
        return (before, part.snapshot, content)
    }

    /// The effect of the step on an object, and the names of the changed properties, those of a
    /// subentity included.
    ///
    /// - Parameter entity: the object's, or one above it.
    func fate(
        of number: ObjectNumber, _ entity: EntityLayout, in store: AttachedStore
    ) throws(StoreError) -> (fate: Fate, names: Set<KeyPathString>) {
        guard let (before, after, content) = readers(of: store) else { return (.none, []) }
        var isLoose = true
        if case .changes(let changes) = content, let known = changes.records(in: entity.hierarchy) {
            if known.deleted.contains(number) { return (.deleted, []) }
            isLoose = known.updated.contains(number) || known.inserted.contains(number)
            if !isLoose && !mayHaveOtherLinks(number, entity.hierarchy, store, changes) {
                return (.none, [])
            }
        }
        if isLoose, try !after.contains(number, in: entity.hierarchy) {
            let was = try before.contains(number, in: entity.hierarchy)
            return (was ? .deleted : .none, [])
        }
        if isLoose, try !before.contains(number, in: entity.hierarchy) {
            let names = try after.entity(of: number, in: entity.hierarchy)?.propertyNames
            return (.updated, names ?? [])
        }
        let names = try RecordDifference(before, after).names(of: number, in: entity.hierarchy)
        return (names.isEmpty && !isRefresh ? .none : .updated, names)
    }

    /// Whether to-many links of an object may differ. All relationships of its hierarchy are asked,
    /// because a number is of one object there.
    private func mayHaveOtherLinks(
        _ number: ObjectNumber, _ hierarchy: HierarchyID, _ store: AttachedStore,
        _ changes: ChangeSet
    ) -> Bool {
        let key = HierarchyKey(store: ObjectIdentifier(store), hierarchy: hierarchy)
        let owners: [NumberSet]?
        if let known = linkOwners[key] {
            owners = known
        } else {
            owners = Self.linkOwners(hierarchy, store.database.schema, changes)
            linkOwners.updateValue(owners, forKey: key)
        }
        return owners?.contains { $0.contains(number) } ?? true
    }

    private static func linkOwners(
        _ hierarchy: HierarchyID, _ schema: Schema, _ changes: ChangeSet
    ) -> [NumberSet]? {
        var found: [NumberSet] = []
        for relationship in schema.relationships
        where relationship.kind != .toOne
            && schema.knownEntity(tag: relationship.sourceTag).hierarchy == hierarchy
        {
            guard let owners = changes.owners(of: relationship) else { return nil }
            if !owners.isEmpty { found.append(owners) }
        }
        return found
    }

    /// The state of a store after the step; nil when the step has none.
    func readerAfter(_ store: AttachedStore) -> RecordSnapshot? {
        step.parts.first { $0.store === store }?.snapshot
    }
}

extension CommitStep {
    var hasUnknownPart: Bool {
        parts.contains { part in
            if case .unknown = part.content { true } else { false }
        }
    }
}

/// The properties of a record that differ between two commits.
struct RecordDifference {
    private let before: RecordReader
    private let after: RecordReader

    init(_ before: RecordReader, _ after: RecordReader) {
        self.before = before
        self.after = after
    }

    /// Empty for a record that one of the commits does not have.
    func names(
        of number: ObjectNumber, in hierarchy: HierarchyID
    ) throws(StoreError) -> Set<KeyPathString> {
        let found = try before.withRow(number, in: hierarchy) { old throws(StoreError) in
            try after.withRow(number, in: hierarchy) { new throws(StoreError) in
                let entity = after.schema.knownEntity(tag: new.entityTag)
                return (entity, try self.names(entity, old, new))
            }
        }
        guard case (let entity, var names)?? = found else { return [] }
        for relationship in entity.relationships where relationship.kind != .toOne {
            let links = try before.linkedNumbers(relationship, of: number)
            if links != (try after.linkedNumbers(relationship, of: number)) {
                names.insert(relationship.name)
            }
        }
        return names
    }

    private func names(
        _ entity: EntityLayout, _ old: RowView, _ new: RowView
    ) throws(StoreError) -> Set<KeyPathString> {
        if try after.hasSameValues(new, as: old, of: before) { return [] }
        var names: Set<KeyPathString> = []
        for field in entity.fields {
            let isSame: Bool
            if case .link = field.content {
                isSame = old.link(at: field.byteOffset) == new.link(at: field.byteOffset)
            } else {
                isSame = try before.value(field, of: old) == after.value(field, of: new)
            }
            if !isSame { names.insert(field.name) }
        }
        return names
    }
}
