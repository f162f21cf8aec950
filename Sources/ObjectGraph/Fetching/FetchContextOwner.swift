/// Lends the context that fetches read: a ``DataStack`` its view, a transaction or a ``ReadView``
/// its own.
///
/// A source of the program's own passes the call on to one of these.
public protocol FetchContextOwner: AnyObject {
    /// Runs a closure with the context. A source of the program's own passes the closure on to a
    /// ``DataStack``, a transaction or a ``ReadView``.
    ///
    /// - Parameter body: fetches with the context, on the caller's thread.
    /// - Throws: the error of the closure.
    func withFetchContext<Result, Failure: Error>(
        _ body: (FetchContext) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

/// A context while it is lent to a fetch.
public struct FetchContext {
    let runner: FetchRunner

    init(_ stack: DataStack, _ context: ObjectContext) {
        runner = FetchRunner(stack: stack, context: context)
    }
}
