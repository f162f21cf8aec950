import RecordStore

extension BaseDataTransaction {
    /// Updates the object with a source's identity, or creates it; nil when the class skips the
    /// source.
    ///
    /// Where several storages have the class, all are looked through: first the one that `into`
    /// names, then the others in the order in which they were added. The first object of one
    /// storage is meant if several there have the identity.
    ///
    /// - Throws: the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``; `.internalError` when the object cannot be looked
    ///   up.
    @discardableResult
    public func importUniqueObject<O: CoreStoreObject & ImportableUniqueObject>(
        _ into: Into<O>, source: O.ImportSource
    ) throws(CoreStoreError) -> O? {
        checkOpen()
        return try CoreStoreError.typing {
            guard O.importableRelationships.isEmpty else {
                return try importRelated(CollectionOfOne(source), into) { source, batch in
                    try batch.addUnique(source, into)
                }.first
            }
            guard let id = try O.uniqueID(from: source, in: self) else { return nil }
            let existing = try existingObject(id, O.self, preferring: into.preferred)
            return try importSource(source, id: id, into: into, existing: existing)
        }
    }

    /// Updates the objects with the sources' identities, and creates those that do not exist.
    ///
    /// Of several sources with one identity the last is used, in the position of the first; a class
    /// with ``ImportableObject/importableRelationships`` imports them one after the other. Texts
    /// are one identity when their UTF-8 bytes are equal. All identities are looked up in one pass,
    /// through an index if the attribute has one, and each finds the object that the import of its
    /// source alone would find.
    ///
    /// - Returns: the objects in the order of the sources, without those that were skipped.
    /// - Throws: the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``. Objects imported before stay, and so does the one
    ///   that was being filled.
    @discardableResult
    public func importUniqueObjects<O: CoreStoreObject & ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S
    ) throws(CoreStoreError) -> [O] where S.Element == O.ImportSource {
        checkOpen()
        return try CoreStoreError.typing {
            guard O.importableRelationships.isEmpty else {
                return try importRelated(sourceArray, into) { try $1.addUnique($0, into) }
            }
            let (ids, sources) = try named(sourceArray, O.self)
            return try importSources(sources, ids, into)
        }
    }

    /// Updates or creates objects after the program has changed their sources.
    ///
    /// - Parameters:
    ///   - into: the class, and the store for new objects.
    ///   - sourceArray: the sources.
    ///   - preProcess: receives the sources by their identities and returns those to import. An
    ///     identity that it leaves out is skipped, one that it adds is ignored. Of texts that Swift
    ///     takes for equal its dictionary has one.
    /// - Returns: the objects in the order of the sources, without those that were skipped.
    /// - Throws: the error of the class or of `preProcess`, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``.
    @discardableResult
    public func importUniqueObjects<O: CoreStoreObject & ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S,
        preProcess: (_ mapping: [O.UniqueIDType: O.ImportSource]) throws -> [O.UniqueIDType: O
            .ImportSource]
    ) throws(CoreStoreError) -> [O] where S.Element == O.ImportSource {
        checkOpen()
        return try CoreStoreError.typing {
            let (ids, sources) = try mapped(try named(sourceArray, O.self), preProcess)
            guard O.importableRelationships.isEmpty else {
                return try importRelated(zip(ids, sources), into) { named, batch in
                    try batch.addUnique(named.1, id: named.0, into)
                }
            }
            return try importSources(sources, ids, into)
        }
    }

    /// Imports sources one after the other, also those with one identity, and returns how many the
    /// class accepts: the parts of a file must not show.
    func importOneByOne<O: CoreStoreObject & ImportableUniqueObject>(
        _ into: Into<O>, _ sourceArray: [O.ImportSource]
    ) throws(CoreStoreError) -> Int {
        checkOpen()
        return try CoreStoreError.typing {
            guard O.importableRelationships.isEmpty else {
                return try importRelated(sourceArray, into, isEachOnce: false) {
                    try $1.addUnique($0, into)
                }.count
            }
            let (ids, sources) = try named(sourceArray, O.self)
            return try importSources(sources, ids, into, mergesRepeats: false).count
        }
    }

    // MARK: Sources

    /// The sources that have identities, with these.
    private func named<O: CoreStoreObject & ImportableUniqueObject, S: Sequence>(
        _ sourceArray: S, _ type: O.Type
    ) throws -> (ids: [O.UniqueIDType], sources: [O.ImportSource])
    where S.Element == O.ImportSource {
        var (ids, sources): ([O.UniqueIDType], [O.ImportSource]) = ([], [])
        ids.reserveCapacity(sourceArray.underestimatedCount)
        sources.reserveCapacity(sourceArray.underestimatedCount)
        for source in sourceArray {
            guard let id = try O.uniqueID(from: source, in: self) else { continue }
            ids.append(id)
            sources.append(source)
        }
        return (ids, sources)
    }

    /// The identities in the order in which they first occur, each with the source that it has
    /// after the program's changes.
    private func mapped<ID: Hashable, Source>(
        _ named: (ids: [ID], sources: [Source]),
        _ preProcess: (_ mapping: [ID: Source]) throws -> [ID: Source]
    ) throws -> (ids: [ID], sources: [Source]) {
        // A dictionary that grows hashes its keys again each time.
        var mapping: [ID: Source] = Dictionary(minimumCapacity: named.ids.count)
        var order: [ID] = []
        order.reserveCapacity(named.ids.count)
        for (id, source) in zip(named.ids, named.sources)
        where mapping.updateValue(source, forKey: id) == nil {
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

    // MARK: Importing

    /// Imports sources by their identities.
    ///
    /// - Parameter mergesRepeats: whether the last one of those with one identity is imported, in
    ///   the position of the first, and the others are not.
    private func importSources<O: CoreStoreObject & ImportableUniqueObject>(
        _ sources: [O.ImportSource], _ ids: [O.UniqueIDType], _ into: Into<O>,
        mergesRepeats: Bool = true
    ) throws -> [O] {
        var known = try existingObjects(ids, O.self, preferring: into.preferred)
        let last = mergesRepeats ? known.lastPositions : []
        let firsts = mergesRepeats ? [:] : known.firstPositions
        // The class may create or delete the object of a later source while it imports one.
        // Counting all is cheaper than counting those of the class.
        var (createdCount, ownCount) = (context.changes.createdCount, context.createdCount(O.self))
        var (renamedIDs, isRenamed) = (RenamedIDs<O>(), false)
        var objects: [O] = []
        objects.reserveCapacity(ids.count)
        for (position, id) in ids.enumerated() {
            var place = position
            if !last.isEmpty {
                guard let latest = last[position] else { continue }
                place = latest
            }
            let first = firsts.isEmpty ? position : firsts[position] ?? position
            var existing = known.objects[first]
            // The class may have deleted it, or given it another identity.
            let isStale = existing.map { $0.change == .deleted || !renamedIDs.hasID(id, $0) }
            if isRenamed || isStale == true {
                existing = try existingObject(id, O.self, preferring: into.preferred)
            } else if existing == nil, context.changes.createdCount != createdCount {
                if context.createdCount(O.self) == ownCount {
                    createdCount = context.changes.createdCount
                } else {
                    existing = try existingObject(id, O.self, preferring: into.preferred)
                }
            }
            let isNew = existing == nil
            let object = try importSource(sources[place], id: id, into: into, existing: existing)
            guard let object else { continue }
            objects.append(object)
            if !firsts.isEmpty { known.objects[first] = object }
            isRenamed = isRenamed || !renamedIDs.hasID(id, object)
            if isNew {
                createdCount += 1
                ownCount += 1
            }
        }
        return objects
    }

    /// Updates an object, or creates one; nil when the class declines the source.
    func importSource<O: CoreStoreObject & ImportableUniqueObject>(
        _ source: O.ImportSource, id: O.UniqueIDType, into: Into<O>, existing: O?
    ) throws -> O? {
        if let existing {
            guard O.shouldUpdate(from: source, in: self) else { return nil }
            try existing.update(from: source, in: self)
            return existing
        }
        guard O.shouldInsert(from: source, in: self) else { return nil }
        try IDColumn<O>(kind(of: into).entity).check(id)
        let object = create(into)
        object.uniqueIDValue = id
        try object.didInsert(from: source, in: self)
        return object
    }
}
