extension BaseDataTransaction {
    /// Creates an object from a source; nil when the class declines the source.
    ///
    /// - Throws: the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``. The object that was being filled stays.
    @discardableResult
    public func importObject<O: CoreStoreObject & ImportableObject>(
        _ into: Into<O>, source: O.ImportSource
    ) throws(CoreStoreError) -> O? {
        checkOpen()
        return try CoreStoreError.typing {
            guard !O.importableRelationships.isEmpty else { return try insert(source, into) }
            return try importRelated(CollectionOfOne(source), into) { source, batch in
                try batch.add(source, into)
            }.first
        }
    }

    /// Fills an object of this transaction from a source, unless the class declines the source.
    ///
    /// - Throws: the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``.
    public func importObject<O: CoreStoreObject & ImportableObject>(
        _ object: O, source: O.ImportSource
    ) throws(CoreStoreError) {
        checkOpen()
        try CoreStoreError.typing {
            guard !O.importableRelationships.isEmpty else {
                guard O.shouldInsert(from: source, in: self) else { return }
                return try object.didInsert(from: source, in: self)
            }
            // Nested sources go to the object's storage.
            let into = object.raw.map { Into<O>($0.store.configuration) } ?? Into<O>()
            _ = try importRelated(CollectionOfOne(source), into) { source, batch in
                try batch.add(source, into, object: object)
            }
        }
    }

    /// Creates objects from sources, in their order, without sources that the class declines. It
    /// stops at the first error.
    ///
    /// - Throws: the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``. The objects created before stay.
    @discardableResult
    public func importObjects<O: CoreStoreObject & ImportableObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S
    ) throws(CoreStoreError) -> [O] where S.Element == O.ImportSource {
        checkOpen()
        return try CoreStoreError.typing {
            guard O.importableRelationships.isEmpty else {
                return try importRelated(sourceArray, into) { try $1.add($0, into) }
            }
            var objects: [O] = []
            for source in sourceArray {
                if let object = try insert(source, into) { objects.append(object) }
            }
            return objects
        }
    }

    private func insert<O: CoreStoreObject & ImportableObject>(
        _ source: O.ImportSource, _ into: Into<O>
    ) throws -> O? {
        guard O.shouldInsert(from: source, in: self) else { return nil }
        let object = create(into)
        try object.didInsert(from: source, in: self)
        return object
    }

    // MARK: Related objects

    /// Runs imports that belong together: a source may name an object by its unique ID that a later
    /// import of the closure creates.
    ///
    /// Links to objects that do not exist yet are kept in memory until the closure ends, and set
    /// then. Each import outside of such a closure is a pass of its own; a closure inside another
    /// one belongs to the outer pass.
    ///
    /// - Throws: the error of the closure; an error whose ``CoreStoreError/storeError`` is
    ///   `notFound` when a source named an object that does not exist at the end.
    public func importRelatedObjects<Result>(
        _ imports: () throws -> Result
    ) throws(CoreStoreError) -> Result {
        checkOpen()
        return try CoreStoreError.typing { try inImportPass { _ in try imports() } }
    }

    func inImportPass<Result>(_ imports: (ImportPass) throws -> Result) throws -> Result {
        if let importPass { return try imports(importPass) }
        let pass = ImportPass(self)
        importPass = pass
        defer { importPass = nil }
        let result = try imports(pass)
        try pass.finish()
        return result
    }

    /// Imports sources of a class with relationships, and returns the objects of those that it
    /// accepts.
    ///
    /// - Parameter isEachOnce: whether an object of several sources is returned once.
    func importRelated<O: CoreStoreObject & ImportableObject, S: Sequence>(
        _ sources: S, _ into: Into<O>, isEachOnce: Bool = true,
        add: (S.Element, ImportBatch) throws -> Int?
    ) throws -> [O] {
        try inImportPass { pass in
            var objects: [O] = []
            var seen: Set<ObjectIdentifier> = []
            var (batch, numbers): (ImportBatch, [Int]) = (ImportBatch(pass, into), [])
            func run() throws {
                try batch.run()
                for case let object as O in numbers.lazy.compactMap({ batch.imported($0) })
                where !isEachOnce || seen.insert(ObjectIdentifier(object)).inserted {
                    objects.append(object)
                }
                (batch, numbers) = (ImportBatch(pass, into), [])
            }
            for source in sources {
                if let number = try add(source, batch) { numbers.append(number) }
                if batch.count >= importBatchCount { try run() }
            }
            try run()
            return objects
        }
    }
}
