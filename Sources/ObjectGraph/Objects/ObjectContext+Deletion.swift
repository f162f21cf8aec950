import RecordStore

extension ObjectContext {
    /// Deletes an object by the rules of its relationships. Cascades are a list and no recursion:
    /// a chain may be as long as the store.
    ///
    /// - Parameter cascaded: is told what else goes.
    func delete(
        _ object: CoreStoreObject, cascaded: (RawObject) -> Void = { _ in }
    ) throws(StoreError) {
        var open = [Doomed(object: object)]
        var position = 0
        while position < open.count {
            let (next, link) = (open[position].object, open[position].link)
            position += 1
            guard let raw = next.raw, next.state != .deleted else { continue }
            if next !== object { cascaded(raw) }
            // The transaction's own changes are in no commit, and soon in no record.
            if next.state != .stored { next.loadRow() }
            for relationship in raw.kind.entity.relationships
            where relationship.deleteRule != .nullify && relationship.id != link {
                if relationship.deleteRule == .cascade {
                    for target in cascadeTargets(of: next, raw, relationship) {
                        open.append(Doomed(object: target, link: relationship.inverseOfMirror))
                    }
                    continue
                }
                let targets = linkedObjects(of: next, raw, relationshipID: relationship.id)
                guard !targets.isEmpty else { continue }
                denials.append(Denial(object: next, relationship: relationship, targets: targets))
            }
            unlink(next, raw, besides: link)
            if raw.kind.hasUnmirroredSources { deletedTargets.append(next) }
            mark(next)
        }
    }

    /// An object that a deletion takes.
    private struct Doomed {
        var object: CoreStoreObject
        /// The to-one relationship that leads to what took it, and so to nothing any more.
        var link: Int?
    }

    /// What a cascade takes with an object. A mirror names records that are there, and where they
    /// can be of one entity only, none of them is read.
    private func cascadeTargets(
        of owner: CoreStoreObject, _ raw: RawObject, _ relationship: RelationshipLayout
    ) -> [CoreStoreObject] {
        let entity = raw.store.database.schema.knownEntity(tag: relationship.destinationTag)
        guard role == .transaction, relationship.mirrorsToOne, entity.tags.count == 1 else {
            return linkedObjects(of: owner, raw, relationshipID: relationship.id)
        }
        do throws(StoreError) {
            let numbers = try linkedNumbers(of: owner, raw, relationship)
            guard !numbers.isEmpty else { return [] }
            let kind = try access(to: raw.store).kind(entity.tag, in: self)
            return numbers.compactMap { number in
                let known = kind.objects.object(number)
                return known?.state == .deleted ? nil : known ?? make(number, kind)
            }
        } catch {
            fail(error, "the links of an object could not be read.")
            return []
        }
    }

    /// Reads the rows of deleted objects that somebody still has, before the commit that has them
    /// is given up: they keep their last values.
    func keepDeletedRows() {
        for index in removed.indices where !removed[index].isRowLoaded {
            if !isKnownUniquelyReferenced(&removed[index]) { removed[index].loadRow() }
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

extension RelationshipLayout {
    /// Of the mirror of a to-one relationship, that relationship.
    fileprivate var inverseOfMirror: Int? { mirrorsToOne ? inverseID : nil }
}
