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
        let existing = try fetchOne(
            From<O>(), Where<O>(O.uniqueIDKeyPath, isEqualTo: id))
        return try importSource(source, id: id, into: into, existing: existing)
    }

    /// Changes the objects that sources name, and makes those that there are not.
    ///
    /// Of several sources with one identity the last is used, at the place of the first. All
    /// identities are looked up in one pass.
    ///
    /// - Parameter preProcess: may change the sources by their identities; those that it leaves
    ///   out are not imported.
    @discardableResult
    public func importUniqueObjects<O: CoreStoreObject & ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S,
        preProcess: (_ mapping: [O.UniqueIDType: O.ImportSource]) throws -> [O.UniqueIDType: O
            .ImportSource] = { $0 }
    ) throws -> [O] where S.Element == O.ImportSource {
        var order: [O.UniqueIDType] = []
        var sources: [O.UniqueIDType: O.ImportSource] = [:]
        for source in sourceArray {
            guard let id = try O.uniqueID(from: source, in: self) else { continue }
            if sources.updateValue(source, forKey: id) == nil { order.append(id) }
        }
        sources = try preProcess(sources)
        var existing = try existingObjects(order.filter { sources[$0] != nil }, O.self)
        var objects: [O] = []
        objects.reserveCapacity(order.count)
        for id in order {
            guard let source = sources[id] else { continue }
            let object = try importSource(
                source, id: id, into: into, existing: existing.removeValue(forKey: id))
            if let object { objects.append(object) }
        }
        return objects
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

    /// The objects of these identities, found through the index a thousand at a time.
    private func existingObjects<O: CoreStoreObject & ImportableUniqueObject>(
        _ ids: [O.UniqueIDType], _ type: O.Type
    ) throws -> [O.UniqueIDType: O] {
        var found: [O.UniqueIDType: O] = [:]
        var rest = ids[...]
        while !rest.isEmpty {
            let part = rest.prefix(1000)
            rest = rest.dropFirst(1000)
            let objects = try fetchAll(
                From<O>(), Where<O>(O.uniqueIDKeyPath, isMemberOf: Array(part)))
            for object in objects { found[object.uniqueIDValue] = object }
        }
        return found
    }
}
