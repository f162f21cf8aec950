import RecordStore

/// Deletes records by the delete rules without making objects of them.
///
/// Objects that live in the transaction are deleted as objects, and so are those with a link that a
/// deny rule forbids, for which the commit decides whether the rule is broken, and those that are
/// linked with an observed object, whose observers may fetch.
final class BulkDeletion {
    private struct Name: Hashable {
        var hierarchy: HierarchyID
        var number: ObjectNumber
    }

    /// A to-one link that leads to a record that goes.
    private struct Link {
        var byteOffset: Int
        /// The entity that has the relationship.
        var sourceTag: UInt16
        var target: ObjectNumber
    }

    /// The records of one batch.
    private struct Part {
        var deleted: Set<Name> = []
        /// The to-one links that must be cleared, by the records that have them.
        var links: [Name: [Link]] = [:]
        /// The objects whose to-many lists become shorter.
        var owners: Set<Name> = []
        /// Those that are deleted as objects.
        var asObjects: [Name] = []
    }

    private static let partSize = 4096

    private let context: TransactionContext
    private let store: AttachedStore
    private let access: StoreAccess
    private let records: RecordTransaction
    /// All that is to be deleted, in the order in which it was found; cascades append to it.
    private var doomed: [Name] = []
    /// By the tag of an entity: the to-one relationships without an inverse that lead to it.
    private var unmirrored: [UInt16: [RelationshipLayout]] = [:]

    init(_ context: TransactionContext, _ store: AttachedStore) throws(StoreError) {
        self.context = context
        self.store = store
        access = try context.access(to: store)
        records = try context.transaction(for: store)
    }

    /// - Parameter numbers: of records that the transaction's reader has; nothing is pending.
    func delete(_ numbers: [ObjectNumber], in hierarchy: HierarchyID) throws(StoreError) {
        doomed = numbers.sorted().map { Name(hierarchy: hierarchy, number: $0) }
        var position = 0
        while position < doomed.count {
            let end = min(position + Self.partSize, doomed.count)
            let names = doomed[position..<end]
            position = end
            // Deleting one may bring others to life whose links it changes.
            while true {
                let objects = names.compactMap(live).filter { $0.change != .deleted }
                if objects.isEmpty { break }
                try deleteObjects(objects)
            }
            let asObjects = try deleteRecords(names.filter { live($0) == nil })
            var objects: [CoreStoreObject] = []
            for name in asObjects {
                if let object = try object(name) { objects.append(object) }
            }
            try deleteObjects(objects)
            try context.makeRoom()
        }
    }

    private func live(_ name: Name) -> CoreStoreObject? {
        access.registered(name.number, in: name.hierarchy)
    }

    private func object(_ name: Name) throws(StoreError) -> CoreStoreObject? {
        try context.object(name.number, in: name.hierarchy, of: store)
    }

    private func deleteObjects(_ objects: [CoreStoreObject]) throws(StoreError) {
        for object in objects where object.change != .deleted { try context.delete(object) }
        if !objects.isEmpty { try context.flush() }
    }

    /// Deletes one batch of records; returns those that must be deleted as objects. Runs no code of
    /// the program.
    private func deleteRecords(_ names: [Name]) throws(StoreError) -> [Name] {
        var part = Part()
        var batch = RecordBatch()
        let observed = observedNames()
        for name in names where !part.deleted.contains(name) {
            let tag = try records.withRow(name.number, in: name.hierarchy) { $0.entityTag }
            guard let tag else { continue }
            let entity = records.schema.knownEntity(tag: tag)
            guard name.number.rawValue != 0, entity.hierarchy == name.hierarchy else {
                throw ObjectContext.otherEntity(name.number, entity, records)
            }
            var isObject = try isDenied(name, entity)
            if !isObject && !observed.isEmpty {
                isObject = try isLinked(name, entity, with: observed)
            }
            if isObject {
                part.asObjects.append(name)
                continue
            }
            part.deleted.insert(name)
            try addLinks(of: name, entity, to: &part)
            batch.delete(name.number, in: name.hierarchy)
            evicted(tag)?.noteDeletedRecord(name.number, tag: tag)
        }
        for (name, links) in part.links where !part.deleted.contains(name) {
            try clear(links, of: name, in: &batch)
        }
        for name in part.owners where !part.deleted.contains(name) { try noteShorter(name) }
        batch.sort()
        try context.apply(batch, to: store)
        return part.asObjects
    }

    private func evicted(_ tag: UInt16) -> EvictedChanges? {
        access.kind(tag, in: context).evicted
    }

    private func isDenied(_ name: Name, _ entity: EntityLayout) throws(StoreError) -> Bool {
        for relationship in entity.relationships where relationship.deleteRule == .deny {
            if try records.linkCount(relationship, of: name.number) > 0 { return true }
        }
        return false
    }

    /// The objects of the store that the program observes.
    private func observedNames() -> Set<Name> {
        let objects = (context.writeObservers?.objects ?? []).compactMap(\.raw)
        return Set(
            objects.filter { $0.store === store }.map {
                Name(hierarchy: $0.entity.hierarchy, number: $0.number)
            })
    }

    /// Whether one of some objects has a link to a record, which its deletion changes.
    private func isLinked(
        _ name: Name, _ entity: EntityLayout, with others: Set<Name>
    ) throws(StoreError) -> Bool {
        for relationship in entity.relationships where relationship.inverseID != nil {
            let destination = records.schema.knownEntity(tag: relationship.destinationTag)
            for number in try records.linkedNumbers(relationship, of: name.number)
            where others.contains(Name(hierarchy: destination.hierarchy, number: number)) {
                return true
            }
        }
        for relationship in unmirroredRelationships(to: entity) {
            let source = records.schema.knownEntity(tag: relationship.sourceTag)
            var isFound = false
            try records.forEachSource(of: relationship, target: name.number) { number in
                let other = Name(hierarchy: source.hierarchy, number: number)
                if others.contains(other) { isFound = true }
            }
            if isFound { return true }
        }
        return false
    }

    /// Adds what a record's deletion changes in others, and appends what it cascades to.
    private func addLinks(
        of name: Name, _ entity: EntityLayout, to part: inout Part
    ) throws(StoreError) {
        let schema = records.schema
        for relationship in entity.relationships {
            let destination = schema.knownEntity(tag: relationship.destinationTag)
            let inverse = relationship.inverseID.map { schema.relationship(id: $0) }
            for number in try records.linkedNumbers(relationship, of: name.number) {
                let other = Name(hierarchy: destination.hierarchy, number: number)
                if relationship.deleteRule == .cascade {
                    doomed.append(other)
                } else if let inverse, let offset = inverse.byteOffset {
                    let link = Link(
                        byteOffset: offset, sourceTag: inverse.sourceTag, target: name.number)
                    part.links[other, default: []].append(link)
                } else if inverse != nil {
                    part.owners.insert(other)
                }
            }
        }
        for relationship in unmirroredRelationships(to: entity) {
            guard let offset = relationship.byteOffset else { continue }
            let source = schema.knownEntity(tag: relationship.sourceTag)
            try records.forEachSource(of: relationship, target: name.number) { number in
                let other = Name(hierarchy: source.hierarchy, number: number)
                let link = Link(
                    byteOffset: offset, sourceTag: source.tag, target: name.number)
                part.links[other, default: []].append(link)
            }
        }
    }

    private func unmirroredRelationships(to entity: EntityLayout) -> [RelationshipLayout] {
        if let known = unmirrored[entity.tag] { return known }
        let found = records.schema.relationships(to: entity).filter {
            $0.inverseID == nil && $0.kind == .toOne
        }
        unmirrored[entity.tag] = found
        return found
    }

    /// Clears to-one links to records that go with the same batch.
    private func clear(
        _ links: [Link], of name: Name, in batch: inout RecordBatch
    ) throws(StoreError) {
        if let object = live(name), object.change != .deleted {
            if let raw = object.raw { try check(links, name, raw.entity.tag) }
            object.loadRow()
            for link in links where object.row.buffer.view.link(at: link.byteOffset) == link.target
            {
                // The program assigned nothing here.
                let assigned = object.assigned
                object.willWrite(UInt16(link.byteOffset))
                object.assigned = assigned
                object.row.buffer.setLink(nil, at: link.byteOffset)
                object.didWrite(UInt16(link.byteOffset))
            }
            return
        }
        let copy = try records.withRow(name.number, in: name.hierarchy) { row throws(StoreError) in
            try RowBuffer(copying: row, of: records.schema.knownEntity(tag: row.entityTag))
        }
        guard let copy else { return }
        defer { copy.deallocate() }
        try check(links, name, copy.view.entityTag)
        var isChanged = false
        for link in links where copy.view.link(at: link.byteOffset) == link.target {
            copy.setLink(nil, at: link.byteOffset)
            isChanged = true
        }
        guard isChanged else { return }
        let tag = copy.view.entityTag
        batch.update(records.schema.knownEntity(tag: tag), name.number, row: copy)
        evicted(tag)?.noteUpdatedRecord(name.number, tag: tag)
    }

    /// A damaged file may have links from records without the property.
    private func check(_ links: [Link], _ name: Name, _ tag: UInt16) throws(StoreError) {
        for link in links {
            let source = records.schema.knownEntity(tag: link.sourceTag)
            guard source.includes(tag) else {
                throw ObjectContext.otherEntity(name.number, source, records)
            }
        }
    }

    /// Notes that a list of an object becomes shorter: the commit validates its count.
    private func noteShorter(_ name: Name) throws(StoreError) {
        if let object = live(name) {
            if object.change != .deleted { context.willChange(object, .changeLinks) }
            return
        }
        let tag = try records.withRow(name.number, in: name.hierarchy) { $0.entityTag }
        if let tag { evicted(tag)?.noteUpdatedRecord(name.number, tag: tag) }
    }
}
