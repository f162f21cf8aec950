import RecordStore

/// Telling observers of relationships, of both ends, when links are changed.
extension EditingContext {
    typealias LinkEnd = (object: CoreStoreObject, name: KeyPathString)

    /// Tells the observers of all ends that a change of links has, before any link is changed, and
    /// returns the ends, whose observers are to be told afterwards too. The end that is assigned is
    /// told also when it leads to the same objects as before, like other properties.
    final func tellBeforeLinking(
        _ targets: [CoreStoreObject], _ object: CoreStoreObject, _ raw: RawObject,
        _ relationship: RelationshipLayout
    ) -> [LinkEnd] {
        guard writeObservers != nil, tellsObservers, !hasEnded else { return [] }
        var ends: [LinkEnd] = [(object, relationship.name)]
        do throws(StoreError) {
            if object.change != .deleted {
                ends += try otherEnds(targets, object, raw, relationship)
            }
        } catch {
            fail(error, "links could not be read.")
        }
        var known: Set<Set<AnyHashable>> = []
        ends.removeAll { object, name in
            !object.isObserved || !known.insert([ObjectIdentifier(object), name]).inserted
        }
        for end in ends { tell(.before, of: end.object, end.name) }
        return ends
    }

    /// The ends at other objects: former and new targets, and the owners that new targets had.
    private func otherEnds(
        _ targets: [CoreStoreObject], _ object: CoreStoreObject, _ raw: RawObject,
        _ relationship: RelationshipLayout
    ) throws(StoreError) -> [LinkEnd] {
        let schema = raw.store.database.schema
        guard let inverse = relationship.inverseID.map({ schema.relationship(id: $0) }) else {
            return []
        }
        let hierarchy = schema.knownEntity(tag: relationship.destinationTag).hierarchy
        let old = try linkedNumbers(of: object, raw, relationship)
        let wanted = Set(targets.compactMap { $0.raw?.number })
        var ends: [LinkEnd] = []
        for number in old where !wanted.contains(number) {
            // An observed object is kept by the program, so that none is read for this.
            if let former = registered(number, in: hierarchy, of: raw.store) {
                ends.append((former, inverse.name))
            }
        }
        let had = Set(old)
        for target in targets {
            guard let number = target.raw?.number, !had.contains(number) else { continue }
            ends.append((target, inverse.name))
            if inverse.kind == .toOne, let owner = try self.target(of: target, inverse),
                owner !== object
            {
                ends.append((owner, relationship.name))
            }
        }
        return ends
    }
}
