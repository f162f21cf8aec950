import RecordStore

/// Reading links between objects.
extension ObjectContext {
    final func linkedObjects(
        of object: CoreStoreObject, _ raw: RawObject, relationshipID: Int
    ) -> [CoreStoreObject] {
        guard let relationship = relationship(relationshipID, raw) else { return [] }
        do throws(StoreError) {
            let target = raw.store.database.schema.knownEntity(tag: relationship.destinationTag)
            let numbers = try linkedNumbers(of: object, raw, relationship)
            return try objects(numbers, in: target.hierarchy, of: raw.kind.store)
        } catch {
            failLinks(error)
            return []
        }
    }

    /// The object that a to-one relationship leads to.
    final func linkedObject(
        of object: CoreStoreObject, _ raw: RawObject, relationshipID: Int
    ) -> CoreStoreObject? {
        guard let relationship = relationship(relationshipID, raw), relationship.kind == .toOne
        else { return nil }
        do throws(StoreError) {
            return try target(of: object, relationship)
        } catch {
            failLinks(error)
            return nil
        }
    }

    /// Links are not kept with an object: without its context they are not known, and none is not
    /// what the store has. The view's objects may outlive their storage, and say what they can.
    private func failLinks(_ error: StoreError) {
        Log.assert(
            !hasEnded || !allowsChanges,
            "the links of an object were read after its transaction had ended: fetch it again")
        failReading(error, "the links of an object could not be read.")
    }

    final func relationship(_ id: Int, _ raw: RawObject) -> RelationshipLayout? {
        let all = raw.store.database.schema.relationships
        return all.indices.contains(id) ? all[id] : nil
    }

    /// The target of a to-one relationship, also of an object that is about to be changed.
    final func target(
        of object: CoreStoreObject, _ relationship: RelationshipLayout
    ) throws(StoreError) -> CoreStoreObject? {
        guard let raw = object.raw, let offset = relationship.byteOffset else { return nil }
        object.loadRow()
        guard let number = object.row.buffer.view.link(at: offset) else { return nil }
        let entity = raw.store.database.schema.knownEntity(tag: relationship.destinationTag)
        return try self.object(number, in: entity.hierarchy, of: raw.store)
    }

    /// The links that the object's row and the context's reader have.
    final func storedLinkedNumbers(
        of object: CoreStoreObject, _ raw: RawObject, _ relationship: RelationshipLayout
    ) throws(StoreError) -> [ObjectNumber] {
        if let offset = relationship.byteOffset {
            object.loadRow()
            return object.row.buffer.view.link(at: offset).map { [$0] } ?? []
        }
        return try reader(for: raw.store).linkedNumbers(relationship, of: raw.number)
    }
}
