import RecordStore

/// A store that a context reads together with changes that it handed over.
class EditedAccess: StoreAccess {
    final var editor: RecordEditor

    init(_ store: AttachedStore, editor: RecordEditor, _ evicted: EvictedTable) {
        self.editor = editor
        super.init(store, editor, evicted: evicted)
    }
}

/// An editing context that hands its changes to record editors, so that fetches find them by the
/// same indexes and links as all else: to those of the write transactions in
/// ``TransactionContext``, to private ones in ``UnsafeContext``.
class RecordingContext: EditingContext {
    /// All of the context's accesses, as what they are.
    var editedAccesses: [EditedAccess] { [] }

    /// Called before changes are handed over; an error refuses the commit.
    func willFlush() throws(StoreError) {}

    // MARK: Flushing

    /// Hands pending changes to the record editors, so that fetches see them.
    override final func flush() throws(StoreError) {
        try flushChanges()
        guard changes.hasDeletedTargets else { return }
        try clearSources()
        try flushChanges()
    }

    private func flushChanges() throws(StoreError) {
        guard changes.isFlushNeeded else { return }
        defer { changes.didFlush() }
        do throws(StoreError) {
            try willFlush()
            _ = changes.measure()
            for access in editedAccesses {
                let batch = try changes.batch(for: access.store) { list, raw throws(StoreError) in
                    try remainingTargets(of: list, raw)
                }
                try access.editor.apply(batch)
                changes.reuse(batch)
            }
        } catch {
            // A batch that is applied in part leaves trees that only a rollback mends, also
            // when the program ignores the error of its fetch.
            refuseCommit(error)
            // An earlier failure is the cause: an object that could not be created is in no store.
            throw failure ?? error
        }
    }

    /// Without an inverse, deleting the targets did not remove them from the list.
    private func remainingTargets(
        of list: LinkOverlay.List, _ raw: RawObject
    ) throws(StoreError) -> [ObjectNumber] {
        guard list.relationship.inverseID == nil else {
            return list.targets.numbers
        }
        let reader = try reader(for: raw.store)
        let entity = reader.schema.knownEntity(tag: list.relationship.destinationTag)
        var targets: [ObjectNumber] = []
        for number in list.targets.numbers {
            let known = registered(number, in: entity.hierarchy, of: raw.store)
            if known?.change == .deleted { continue }
            let isStored = try reader.contains(number, in: entity.hierarchy)
            if known?.change.kind == .inserted || isStored { targets.append(number) }
        }
        return targets
    }

    /// Clears to-one links to deleted objects that no inverse mirrors, or leads them to the
    /// survivor of a unique conflict. Called when all else is flushed, so that the write
    /// transaction knows every link.
    private func clearSources() throws(StoreError) {
        for target in changes.takeDeletedTargets() {
            guard let raw = target.raw else { continue }
            let reader = try reader(for: raw.store)
            let heir = try changes.replacements[raw.name].flatMap {
                number throws(StoreError) in
                try object(number, in: raw.entity.hierarchy, of: raw.store)?.raw
            }
            for relationship in reader.schema.relationships(to: raw.entity)
            where relationship.inverseID == nil && relationship.kind == .toOne {
                guard let field = relationship.field else { continue }
                // Of two subentities, one may be none that the link can lead to.
                let destination = reader.schema.knownEntity(tag: relationship.destinationTag)
                let survivor = heir.flatMap {
                    destination.tags.contains($0.entity.tag) ? $0.number : nil
                }
                var sources: [ObjectNumber] = []
                try reader.forEachSource(of: relationship, target: raw.number) {
                    sources.append($0)
                }
                let entity = reader.schema.knownEntity(tag: relationship.sourceTag)
                for number in sources {
                    let source = try object(number, in: entity.hierarchy, of: raw.store)
                    guard let source, let sourceRaw = source.raw else { continue }
                    try check(relationship, sourceRaw)
                    source.loadRow()
                    guard source.row.buffer.view.link(at: field.byteOffset) == raw.number else {
                        continue
                    }
                    let assigned = source.assigned
                    source.willWrite(UInt16(field.byteOffset))
                    // The program assigned nothing here. But with the survivor of a conflict the
                    // object may have the unique values of another one.
                    if survivor == nil { source.assigned = assigned }
                    source.row.buffer.setLink(survivor, at: field.byteOffset)
                    source.didWrite(UInt16(field.byteOffset))
                }
            }
        }
    }
}
