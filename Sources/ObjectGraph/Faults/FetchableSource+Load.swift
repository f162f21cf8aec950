// The throwing forms of fetchExisting, which gives nil for what is gone, and for what cannot be
// read.
extension FetchableSource {
    /// This source's instance of an object with its values loaded; nil when it is gone.
    /// `fetchExisting(_:)` also returns nil for an object that cannot be read.
    ///
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``.
    public func loadExisting<O: DynamicObject>(_ object: O) throws(CoreStoreError) -> O? {
        try loadExisting(object.objectID())
    }

    /// This source's instance of the object with this ID, with its values loaded; nil when it is
    /// gone.
    ///
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``.
    public func loadExisting<O: DynamicObject>(
        _ objectID: NSManagedObjectID
    ) throws(CoreStoreError) -> O? {
        // As fetchExisting: from anywhere.
        if let stack = self as? DataStack, !stack.viewExecutor.isCurrent {
            return try stack.read { view throws(CoreStoreError) in try view.loadExisting(objectID) }
        }
        return try withFetchContext { context throws(CoreStoreError) in
            try context.runner.loadExisting(objectID)
        } as? O
    }

    /// This source's instance of the object with this typed ID, with its values loaded; nil when it
    /// is gone.
    ///
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``.
    public func loadExisting<O: CoreStoreObject>(_ id: ObjectID<O>) throws(CoreStoreError) -> O? {
        try loadExisting(id.rawID)
    }
}
