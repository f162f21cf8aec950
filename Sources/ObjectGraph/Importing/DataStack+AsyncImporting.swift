// The results are objects of the view, and for use where it lives.

extension DataStack.AsyncNamespace {
    private func viewObjects<O: DynamicObject>(_ ids: [NSManagedObjectID]) async -> Carried<[O]> {
        await withCheckedContinuation { continuation in
            base.viewExecutor.run {
                base.deliver()
                continuation.resume(returning: Carried(base.fetchExisting(ids)))
            }
        }
    }

    private func viewObject<O: DynamicObject>(_ id: NSManagedObjectID?) async -> Carried<O?> {
        let objects: Carried<[O]> = await viewObjects([id].compactMap { $0 })
        return Carried(objects.value.first)
    }

    /// Makes an object from a source; nil when the class does not want it.
    ///
    /// - Parameter isolation: where the caller runs.
    @discardableResult
    public func importObject<O: ImportableObject>(
        _ into: Into<O>, source: O.ImportSource,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(CoreStoreError) -> O? {
        let source = Carried(source)
        let id = try await carried { transaction in
            try transaction.importObject(into, source: source.value)?.objectID()
        }
        return await viewObject(id.value).value
    }

    /// Fills an object from a source; throws `.userCancelled` when the object is gone.
    @discardableResult
    public func importObject<O: ImportableObject>(
        _ object: O, source: O.ImportSource,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(CoreStoreError) -> O? {
        let source = Carried(source)
        let id = object.objectID()
        _ = try await carried { transaction in
            guard let object = transaction.fetchExisting(id) as O? else {
                try transaction.cancel()
            }
            try transaction.importObject(object, source: source.value)
        }
        return await viewObject(id).value
    }

    /// Changes the object that a source names, or makes it; nil when the source is left out.
    @discardableResult
    public func importUniqueObject<O: ImportableUniqueObject>(
        _ into: Into<O>, source: O.ImportSource,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(CoreStoreError) -> O? {
        let source = Carried(source)
        let id = try await carried { transaction in
            try transaction.importUniqueObject(into, source: source.value)?.objectID()
        }
        return await viewObject(id.value).value
    }

    /// Changes the objects that sources name, and makes those that there are not; see
    /// ``BaseDataTransaction/importUniqueObjects(_:sourceArray:preProcess:)``.
    @discardableResult
    public func importUniqueObjects<O: ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S,
        isolation: isolated (any Actor)? = #isolation,
        preProcess:
            @escaping @Sendable (_ mapping: [O.UniqueIDType: O.ImportSource]) throws
            -> [O.UniqueIDType: O.ImportSource]
    ) async throws(CoreStoreError) -> [O] where S.Element == O.ImportSource {
        let sources = Carried(Array(sourceArray))
        let ids = try await carried { transaction in
            try transaction.importUniqueObjects(
                into, sourceArray: sources.value, preProcess: preProcess
            ).map { $0.objectID() }
        }
        return await viewObjects(ids.value).value
    }

    /// The same without a chance to change the sources.
    @discardableResult
    public func importUniqueObjects<O: ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(CoreStoreError) -> [O] where S.Element == O.ImportSource {
        let sources = Carried(Array(sourceArray))
        let ids = try await carried { transaction in
            try transaction.importUniqueObjects(into, sourceArray: sources.value).map {
                $0.objectID()
            }
        }
        return await viewObjects(ids.value).value
    }
}
