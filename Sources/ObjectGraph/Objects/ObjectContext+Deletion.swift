import RecordStore

extension ObjectContext {
    /// Deletes an object by the rules of its relationships. Cascades are a list and no recursion:
    /// a chain may be as long as the store.
    ///
    /// - Parameter cascaded: is told what else goes.
    func delete(
        _ object: CoreStoreObject, cascaded: (RawObject) -> Void = { _ in }
    ) throws(StoreError) {
        var open = [object]
        var position = 0
        while position < open.count {
            let next = open[position]
            position += 1
            guard let raw = next.raw, next.state != .deleted else { continue }
            if next !== object { cascaded(raw) }
            next.loadRow()
            for relationship in raw.kind.entity.relationships
            where relationship.deleteRule != .nullify {
                let targets = linkedObjects(of: next, raw, relationshipID: relationship.id)
                guard !targets.isEmpty else { continue }
                if relationship.deleteRule == .cascade {
                    open += targets
                } else {
                    denials.append(
                        Denial(object: next, relationship: relationship, targets: targets))
                }
            }
            unlink(next, raw)
            if raw.kind.hasUnmirroredSources { deletedTargets.append(next) }
            mark(next)
        }
    }

    /// Moves an object among the deleted ones. One that was never stored is simply forgotten.
    private func mark(_ object: CoreStoreObject) {
        if object.state != .inserted { removed.append(object) }
        if object.isRecorded { unflushedDeletions.append(object) }
        if let raw = object.raw { raw.kind.released.forget(raw.number) }
        object.state = .deleted
        object.isPending = false
        object.isOpen = false
    }

    /// Clears to-one links to deleted objects that no inverse mirrors, or leads them to what took
    /// the object's place. Called when all else is flushed, so that the record transaction knows
    /// every link.
    func clearSources() throws(StoreError) {
        let targets = deletedTargets
        deletedTargets = []
        for target in targets {
            guard let raw = target.raw else { continue }
            let replacement = replacements[raw.name]
            let reader = try reader(for: raw.store)
            for relationship in reader.schema.relationships(to: raw.entity)
            where relationship.inverseID == nil && relationship.kind == .toOne {
                guard let field = relationship.field else { continue }
                var sources: [ObjectNumber] = []
                try reader.forEachSource(of: relationship, target: raw.number) {
                    sources.append($0)
                }
                let entity = reader.schema.knownEntity(tag: relationship.sourceTag)
                for number in sources {
                    let source = try object(number, in: entity.hierarchy, of: raw.store)
                    guard let source else { continue }
                    // The program assigned nothing here.
                    let assigned = source.assigned
                    source.willWrite(UInt16(field.byteOffset))
                    source.assigned = assigned
                    source.row.buffer.setLink(replacement, at: field.byteOffset)
                }
            }
        }
    }
}
