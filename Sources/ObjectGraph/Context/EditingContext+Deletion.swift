import RecordStore

extension EditingContext {
    /// Deletes an object by the rules of its relationships. Cascades are a list and no recursion:
    /// a chain may be as long as the store.
    ///
    /// - Parameters:
    ///   - survivor: an object to which no cascade goes: its links to what is deleted are cleared.
    ///   - cascaded: is called for every other object that is deleted.
    final func delete(
        _ object: CoreStoreObject, sparing survivor: CoreStoreObject? = nil,
        cascaded: (RawObject) -> Void = { _ in }
    ) throws(StoreError) {
        var open = [PendingDeletion(object: object)]
        var position = 0
        while position < open.count {
            let (next, link) = (open[position].object, open[position].link)
            position += 1
            guard let raw = next.raw, next.change != .deleted else { continue }
            if let survivor { unlink(survivor, from: next, raw, onlyCascades: true) }
            if next !== object { cascaded(raw) }
            // The transaction's own changes are in no commit, and soon in no record.
            if next.change.kind != .stored { next.loadRow() }
            for relationship in raw.kind.entity.relationships
            where relationship.deleteRule != .nullify && relationship.id != link {
                if relationship.deleteRule == .cascade {
                    for target in cascadeTargets(of: next, raw, relationship) {
                        open.append(
                            PendingDeletion(
                                object: target, link: relationship.inverseOfMirror))
                    }
                    continue
                }
                let targets = linkedObjects(of: next, raw, relationshipID: relationship.id)
                guard !targets.isEmpty else { continue }
                changes.deny(
                    ChangeBuffer.Denial(
                        object: next, relationship: relationship, targets: targets))
            }
            // An observer of the links must not link the object again, or no record would be there.
            objectsInDeletion.insert(ObjectIdentifier(next))
            unlink(next, raw, besides: link)
            objectsInDeletion.remove(ObjectIdentifier(next))
            // Unless an observer of the links has deleted it.
            guard next.change != .deleted else { continue }
            changes.delete(next, raw)
        }
    }

    /// Takes an object out of the links of another one.
    ///
    /// - Parameter onlyCascades: whether other links stay.
    final func unlink(
        _ other: CoreStoreObject, from owner: CoreStoreObject, _ raw: RawObject,
        onlyCascades: Bool = false
    ) {
        for relationship in raw.kind.entity.relationships
        where !onlyCascades || relationship.deleteRule == .cascade {
            let linked = linkedObjects(of: owner, raw, relationshipID: relationship.id)
            guard linked.contains(where: { $0 === other }) else { continue }
            setLinkedObjects(
                linked.filter { $0 !== other }, of: owner, raw, relationshipID: relationship.id)
        }
    }

    private struct PendingDeletion {
        var object: CoreStoreObject
        /// The to-one relationship to the object whose deletion cascaded to this one. It needs no
        /// clearing.
        var link: Int?
    }

    /// The objects that a cascade deletes with an owner. A mirror names records that exist, and
    /// where they can be of one entity only, none of them is read.
    private func cascadeTargets(
        of owner: CoreStoreObject, _ raw: RawObject, _ relationship: RelationshipLayout
    ) -> [CoreStoreObject] {
        let entity = raw.store.database.schema.knownEntity(tag: relationship.destinationTag)
        guard relationship.mirrorsToOne, entity.tags.count == 1 else {
            return linkedObjects(of: owner, raw, relationshipID: relationship.id)
        }
        do throws(StoreError) {
            let numbers = try linkedNumbers(of: owner, raw, relationship)
            guard !numbers.isEmpty else { return [] }
            let kind = try access(to: raw.store).kind(entity.tag, in: self)
            return numbers.compactMap { number in
                let known = kind.objects.object(number)
                return known?.change == .deleted ? nil : known ?? make(number, kind)
            }
        } catch {
            fail(error, "the links of an object could not be read.")
            return []
        }
    }
}

extension RelationshipLayout {
    /// Of the mirror of a to-one relationship, that relationship.
    fileprivate var inverseOfMirror: Int? { mirrorsToOne ? inverseID : nil }
}
