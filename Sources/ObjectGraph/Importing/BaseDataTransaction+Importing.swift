import RecordStore

extension BaseDataTransaction {
    /// Makes an object from a source; nil when the class does not want it.
    @discardableResult
    public func importObject<O: CoreStoreObject & ImportableObject>(
        _ into: Into<O>, source: O.ImportSource
    ) throws -> O? {
        guard O.shouldInsert(from: source, in: self) else { return nil }
        let object = create(into)
        try object.didInsert(from: source, in: self)
        return object
    }

    /// Fills an object of this transaction from a source.
    public func importObject<O: CoreStoreObject & ImportableObject>(
        _ object: O, source: O.ImportSource
    ) throws {
        guard O.shouldInsert(from: source, in: self) else { return }
        try object.didInsert(from: source, in: self)
    }

    /// Makes objects from sources, in their order; sources that the class does not want are left
    /// out. Stops at the first error.
    @discardableResult
    public func importObjects<O: CoreStoreObject & ImportableObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S
    ) throws -> [O] where S.Element == O.ImportSource {
        var objects: [O] = []
        for source in sourceArray {
            if let object = try importObject(into, source: source) { objects.append(object) }
        }
        return objects
    }

    /// Changes the object that a source names, or makes it; nil when the source is left out.
    @discardableResult
    public func importUniqueObject<O: CoreStoreObject & ImportableUniqueObject>(
        _ into: Into<O>, source: O.ImportSource
    ) throws -> O? {
        guard let id = try O.uniqueID(from: source, in: self) else { return nil }
        let existing = try existingObject(id, O.self)
        return try importSource(source, id: id, into: into, existing: existing)
    }

    /// Changes the objects that sources name, and makes those that there are not.
    ///
    /// Of several sources with one identity the last is used, at the place of the first. Texts are
    /// one identity when their UTF-8 bytes are equal. All identities are looked up in one pass.
    @discardableResult
    public func importUniqueObjects<O: CoreStoreObject & ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S
    ) throws -> [O] where S.Element == O.ImportSource {
        let named = try named(sourceArray, O.self)
        // By the values of the store: texts that Swift takes for equal may be two of its keys.
        var places: [Value: Int] = Dictionary(minimumCapacity: named.count)
        var (ids, sources): ([O.UniqueIDType], [O.ImportSource]) = ([], [])
        ids.reserveCapacity(named.count)
        sources.reserveCapacity(named.count)
        for (id, source) in named {
            let value = ValueBridge.value(id)
            if let place = places[value] {
                sources[place] = source
            } else {
                places[value] = ids.count
                ids.append(id)
                sources.append(source)
            }
        }
        return try importSources(sources, ids, into)
    }

    /// The same with sources that the program may change.
    ///
    /// - Parameter preProcess: may change the sources by their identities; those that it leaves
    ///   out are not imported. Its dictionary has one source of texts that Swift takes for equal.
    @discardableResult
    public func importUniqueObjects<O: CoreStoreObject & ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S,
        preProcess: (_ mapping: [O.UniqueIDType: O.ImportSource]) throws -> [O.UniqueIDType: O
            .ImportSource]
    ) throws -> [O] where S.Element == O.ImportSource {
        let (ids, sources) = try mapped(try named(sourceArray, O.self), preProcess)
        return try importSources(sources, ids, into)
    }

    private func named<O: CoreStoreObject & ImportableUniqueObject, S: Sequence>(
        _ sourceArray: S, _ type: O.Type
    ) throws -> [(id: O.UniqueIDType, source: O.ImportSource)] where S.Element == O.ImportSource {
        var named: [(id: O.UniqueIDType, source: O.ImportSource)] = []
        named.reserveCapacity(sourceArray.underestimatedCount)
        for source in sourceArray {
            guard let id = try O.uniqueID(from: source, in: self) else { continue }
            named.append((id, source))
        }
        return named
    }

    /// Imports sources whose identities differ.
    private func importSources<O: CoreStoreObject & ImportableUniqueObject>(
        _ sources: [O.ImportSource], _ ids: [O.UniqueIDType], _ into: Into<O>
    ) throws -> [O] {
        let existing = try existingObjects(ids, O.self)
        // What the class does with a source may make, or delete, the object of a later one.
        // Counting all is cheaper than counting those of the class.
        var (createdCount, ownCount) = (context.changes.createdCount, context.createdCount(O.self))
        var objects: [O] = []
        objects.reserveCapacity(ids.count)
        for (position, id) in ids.enumerated() {
            var known = existing[position]
            if known?.change == .deleted { known = nil }
            if known == nil, context.changes.createdCount != createdCount {
                if context.createdCount(O.self) == ownCount {
                    createdCount = context.changes.createdCount
                } else {
                    known = try existingObject(id, O.self)
                }
            }
            let isNew = known == nil
            let object = try importSource(
                sources[position], id: id, into: into, existing: known)
            guard let object else { continue }
            objects.append(object)
            if isNew {
                createdCount += 1
                ownCount += 1
            }
        }
        return objects
    }

    private func existingObject<O: CoreStoreObject & ImportableUniqueObject>(
        _ id: O.UniqueIDType, _ type: O.Type
    ) throws -> O? {
        try fetchOne(From<O>(), Where<O>(O.uniqueIDKeyPath, isEqualTo: id))
    }

    /// The identities in the order in which they first occur, each with the source that it has
    /// after the program's changes.
    private func mapped<ID: Hashable, Source>(
        _ named: [(id: ID, source: Source)],
        _ preProcess: (_ mapping: [ID: Source]) throws -> [ID: Source]
    ) throws -> (ids: [ID], sources: [Source]) {
        // A dictionary that grows hashes its keys again each time.
        var mapping: [ID: Source] = Dictionary(minimumCapacity: named.count)
        var order: [ID] = []
        order.reserveCapacity(named.count)
        for (id, source) in named where mapping.updateValue(source, forKey: id) == nil {
            order.append(id)
        }
        mapping = try preProcess(mapping)
        var (ids, sources): ([ID], [Source]) = ([], [])
        ids.reserveCapacity(order.count)
        sources.reserveCapacity(order.count)
        for id in order {
            guard let source = mapping[id] else { continue }
            ids.append(id)
            sources.append(source)
        }
        return (ids, sources)
    }

    private func importSource<O: CoreStoreObject & ImportableUniqueObject>(
        _ source: O.ImportSource, id: O.UniqueIDType, into: Into<O>, existing: O?
    ) throws -> O? {
        if let existing {
            guard O.shouldUpdate(from: source, in: self) else { return nil }
            try existing.update(from: source, in: self)
            return existing
        }
        guard O.shouldInsert(from: source, in: self) else { return nil }
        let object = create(into)
        object.uniqueIDValue = id
        try object.didInsert(from: source, in: self)
        return object
    }

    /// For each identity its object, nil where there is none.
    private func existingObjects<O: CoreStoreObject & ImportableUniqueObject>(
        _ ids: [O.UniqueIDType], _ type: O.Type
    ) throws -> [O?] {
        let runner = FetchRunner(stack: stack, context: context)
        var found = [O?](repeating: nil, count: ids.count)
        // A part at a time, so that a long import takes no more memory for its keys.
        for start in stride(from: 0, to: ids.count, by: 10_000) {
            let part = Array(ids[start..<min(start + 10_000, ids.count)])
            let values = part.map { ValueBridge.value($0) }
            let matches = try runner.objects(type, where: O.uniqueIDKeyPath, isOneOf: values)
            for (position, object) in try matches ?? scannedObjects(part, type) {
                found[start + position] = object
            }
        }
        return found
    }

    /// The same by a fetch, where no index finds the identities.
    private func scannedObjects<O: CoreStoreObject & ImportableUniqueObject>(
        _ ids: [O.UniqueIDType], _ type: O.Type
    ) throws -> [(position: Int, object: O)] {
        let objects = try fetchAll(From<O>(), Where<O>(O.uniqueIDKeyPath, isMemberOf: ids))
        let values = ids.map { ValueBridge.value($0) }
        let positions = Dictionary(zip(values, ids.indices)) { first, _ in first }
        return objects.compactMap { object in
            positions[ValueBridge.value(object.uniqueIDValue)].map { ($0, object) }
        }
    }
}
