// The results are objects of the view, and for use where it lives.

extension DataStack.AsyncNamespace {
    private func viewObjects<O: DynamicObject>(
        _ ids: [NSManagedObjectID]
    ) async -> UncheckedTransfer<[O]> {
        await withCheckedContinuation { continuation in
            base.viewExecutor.run {
                base.deliver()
                continuation.resume(returning: UncheckedTransfer(base.fetchExisting(ids)))
            }
        }
    }

    private func viewObject<O: DynamicObject>(
        _ id: NSManagedObjectID?
    ) async -> UncheckedTransfer<O?> {
        let objects: UncheckedTransfer<[O]> = await viewObjects([id].compactMap { $0 })
        return UncheckedTransfer(objects.value.first)
    }

    /// Creates an object from a source in a transaction of its own; nil when the class declines the
    /// source.
    ///
    /// - Parameters:
    ///   - into: the class, and the store for the new object.
    ///   - source: the source.
    ///   - isolation: the actor to return to; the caller's own.
    /// - Returns: an object of the view, for use where the view lives.
    /// - Throws: the error of the class or of the commit.
    @discardableResult
    public func importObject<O: ImportableObject>(
        _ into: Into<O>, source: O.ImportSource,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(CoreStoreError) -> O? {
        let source = UncheckedTransfer(source)
        let id = try await carried { transaction in
            try transaction.importObject(into, source: source.value)?.objectID()
        }
        return await viewObject(id.value).value
    }

    /// Fills an object from a source in a transaction of its own.
    ///
    /// - Returns: the object of the view, for use where the view lives; nil when it was deleted
    ///   meanwhile.
    /// - Throws: `.userCancelled` when the object is gone; the error of the class or of the commit.
    @discardableResult
    public func importObject<O: ImportableObject>(
        _ object: O, source: O.ImportSource,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(CoreStoreError) -> O? {
        let source = UncheckedTransfer(source)
        let id = object.objectID()
        _ = try await carried { transaction in
            guard let object = transaction.fetchExisting(id) as O? else {
                try transaction.cancel()
            }
            try transaction.importObject(object, source: source.value)
        }
        return await viewObject(id).value
    }

    /// Updates the object with a source's identity, or creates it, in a transaction of its own; nil
    /// when the class skips the source.
    ///
    /// - Returns: an object of the view, for use where the view lives.
    /// - Throws: the error of the class or of the commit.
    @discardableResult
    public func importUniqueObject<O: ImportableUniqueObject>(
        _ into: Into<O>, source: O.ImportSource,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(CoreStoreError) -> O? {
        let source = UncheckedTransfer(source)
        let id = try await carried { transaction in
            try transaction.importUniqueObject(into, source: source.value)?.objectID()
        }
        return await viewObject(id.value).value
    }

    /// Updates the objects with the sources' identities, and creates those that do not exist, in a
    /// transaction of its own; see `importUniqueObjects(_:sourceArray:preProcess:)` of
    /// ``BaseDataTransaction``.
    ///
    /// - Returns: objects of the view, for use where the view lives.
    /// - Throws: the error of the class or of the commit.
    @discardableResult
    public func importUniqueObjects<O: ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S,
        isolation: isolated (any Actor)? = #isolation,
        preProcess:
            @escaping @Sendable (_ mapping: [O.UniqueIDType: O.ImportSource]) throws
            -> [O.UniqueIDType: O.ImportSource]
    ) async throws(CoreStoreError) -> [O] where S.Element == O.ImportSource {
        let sources = UncheckedTransfer(Array(sourceArray))
        let ids = try await carried { transaction in
            try transaction.importUniqueObjects(
                into, sourceArray: sources.value, preProcess: preProcess
            ).map { $0.objectID() }
        }
        return await viewObjects(ids.value).value
    }

    /// Updates the objects with the sources' identities, and creates those that do not exist, in a
    /// transaction of its own.
    ///
    /// - Returns: objects of the view, for use where the view lives.
    /// - Throws: the error of the class or of the commit.
    @discardableResult
    public func importUniqueObjects<O: ImportableUniqueObject, S: Sequence>(
        _ into: Into<O>, sourceArray: S,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(CoreStoreError) -> [O] where S.Element == O.ImportSource {
        let sources = UncheckedTransfer(Array(sourceArray))
        let ids = try await carried { transaction in
            try transaction.importUniqueObjects(into, sourceArray: sources.value).map {
                $0.objectID()
            }
        }
        return await viewObjects(ids.value).value
    }
}
