// Fetches in a transaction see its own changes; queries see what was committed.

extension BaseDataTransaction: FetchableSource, QueryableSource {
    public func withFetchContext<Result, Failure: Error>(
        _ body: (FetchContext) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        checkOpen()
        return try body(FetchContext(stack, context))
    }

    /// This transaction's instance of the object with this ID; nil when it is gone or cannot be
    /// read. This is the most frequent fetch of a transaction.
    public func fetchExisting<O: DynamicObject>(_ objectID: NSManagedObjectID) -> O? {
        checkOpen()
        return FetchRunner(stack: stack, context: context).existing(objectID) as? O
    }
}
