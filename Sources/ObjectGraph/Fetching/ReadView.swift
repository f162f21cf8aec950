import RecordStore

/// One commit of a stack's storages, for reading on any thread; see
/// ``DataStack/beginRead(name:fileID:line:)``.
///
/// A view shows the newest commits of the moment when it was begun, and never moves. It waits for
/// no transaction, and none waits for it. Any number of threads may fetch from one view at once and
/// share its objects, which are read-only.
///
/// The commits stay pinned until the view and all of its objects are released. Until then their
/// space in the files is not reused: ``DataStack/statistics`` names the pins, and
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
    /// - Parameters:
    ///   - name: the view's name in ``DataStack/statistics``; nil for the caller's file and line.
    ///   - fileID: the file that is named without a name.
    ///   - line: the line that is named without a name.
    /// - Throws: `.internalError` when a store cannot be read, or has failed.
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
    /// - Parameters:
    ///   - name: the view's name in ``DataStack/statistics``; nil for the caller's file and line.
    ///   - fileID: the file that is named without a name.
    ///   - line: the line that is named without a name.
    ///   - task: reads from the view, on the caller's thread.
    /// - Throws: the errors of ``beginRead(name:fileID:line:)`` and of the closure; those of the
    ///   program's own types are wrapped in `.userError`.
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

    /// Runs an asynchronous closure with a view of the newest commits, which ends with it. The
    /// closure runs in the caller's isolation.
    ///
    /// - Parameters:
    ///   - name: the view's name in ``DataStack/statistics``; nil for the caller's file and line.
    ///   - fileID: the file that is named without a name.
    ///   - line: the line that is named without a name.
    ///   - isolation: the actor that the closure runs on; the caller's own.
    ///   - task: reads from the view.
    /// - Throws: the errors of ``beginRead(name:fileID:line:)`` and of the closure; those of the
    ///   program's own types are wrapped in `.userError`.
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

    /// The stack's instance of the object with this ID; nil when it is gone or cannot be read.
    ///
    /// It can be called on any thread. Where the view lives the result is the view's object;
    /// elsewhere it is an object of a ``ReadView`` of the newest commit, and never changes.
    public func fetchExisting<O: DynamicObject>(_ objectID: NSManagedObjectID) -> O? {
        guard viewExecutor.isCurrent else {
            return try? beginRead(name: "fetchExisting").fetchExisting(objectID)
        }
        let view = lockView(isCurrent: true)
        defer { viewLock.unlock() }
        return FetchRunner(stack: self, context: view).existing(objectID) as? O
    }

    /// The stack's instances of the objects with these IDs, in order, without those that are gone.
    /// As the form for one ID, it can be called on any thread.
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
