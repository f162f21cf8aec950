import RecordStore

/// One commit of a stack's storages, for reading on any thread; see
/// ``DataStack/beginRead(name:fileID:line:)``.
///
/// A view shows the newest commits of the moment when it was begun, and never moves. It waits for
/// no transaction, and none waits for it. Any number of threads may fetch from one view at once and
/// use the same objects of it; the objects are read-only.
///
/// The commits stay pinned until the view and all of its objects are released. Until then their
/// space in the files is not used again: ``DataStack/statistics`` names the pins, and
/// ``EngineOptions/snapshotAgeMax`` limits their age.
public final class ReadView: FetchableSource, QueryableSource, @unchecked Sendable {
    private let stack: DataStack
    private let context: ReadContext

    /// Takes a use of the context over.
    init(_ stack: DataStack, _ context: ReadContext) {
        self.stack = stack
        self.context = context
    }

    deinit { context.endUse() }

    public func withFetchContext<Result, Failure: Error>(
        _ body: (FetchContext) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(FetchContext(stack, context))
    }
}

extension DataStack {
    /// Begins a view of the newest commits, for any thread or actor:
    ///
    /// ```swift
    /// let view = try dataStack.beginRead()
    /// let people = try view.fetchAll(From<Person>().where(\.$age > 30))
    /// ```
    ///
    /// - Parameter name: what ``DataStack/statistics`` calls the view; nil for the caller's file
    ///   and line.
    public func beginRead(
        name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) throws(CoreStoreError) -> ReadView {
        do throws(StoreError) {
            let place = PinPlace(name: name, fileID: fileID, line: line)
            return ReadView(self, try ReadContext(of: self, stores, place))
        } catch {
            let failure = CoreStoreError(error)
            Log.error(failure, "a read view could not be begun.")
            throw failure
        }
    }

    /// Runs a closure with a view of the newest commits, which ends with it. Objects that leave the
    /// closure keep their commit until they are released.
    ///
    /// - Throws: what the closure throws; the program's own errors are wrapped in `.userError`.
    public func read<Result>(
        name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        _ task: (ReadView) throws -> Result
    ) throws(CoreStoreError) -> Result {
        let view = try beginRead(name: name, fileID: fileID, line: line)
        do {
            return try task(view)
        } catch {
            throw CoreStoreError(thrown: error)
        }
    }

    /// The same for a closure that awaits. It runs where the caller does.
    public func read<Result>(
        name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        isolation: isolated (any Actor)? = #isolation,
        _ task: (ReadView) async throws -> Result
    ) async throws(CoreStoreError) -> Result {
        let view = try beginRead(name: name, fileID: fileID, line: line)
        do {
            return try await task(view)
        } catch {
            throw CoreStoreError(thrown: error)
        }
    }

    // MARK: Objects by their IDs

    /// The stack's instance of an object; nil when it is gone.
    ///
    /// Any thread may ask. Where the view lives this is the view's object; elsewhere it is one of a
    /// ``ReadView`` of the newest commit, and stays as it is.
    public func fetchExisting<O: DynamicObject>(_ objectID: NSManagedObjectID) -> O? {
        guard viewExecutor.isCurrent else {
            return try? beginRead(name: "fetchExisting").fetchExisting(objectID)
        }
        let view = lockView(isCurrent: true)
        defer { viewLock.unlock() }
        return FetchRunner(stack: self, context: view).existing(objectID) as? O
    }

    /// The same for several, in order, without those that are gone.
    public func fetchExisting<O: DynamicObject, S: Sequence>(
        _ objectIDs: S
    ) -> [O] where S.Element == NSManagedObjectID {
        let ids = Array(objectIDs)
        guard viewExecutor.isCurrent else {
            return (try? beginRead(name: "fetchExisting").fetchExisting(ids)) ?? []
        }
        return withFetchContext { context in
            ids.compactMap { context.runner.existing($0) as? O }
        }
    }
}
