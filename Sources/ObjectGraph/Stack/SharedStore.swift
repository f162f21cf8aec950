import Primitives
import RecordStore

/// A file that this process has open for writing, for all stacks that added it: they share its
/// engine, the order of their transactions, and what each of them commits.
///
/// The first stack opens the file and the last one to leave closes it. A stack is entered before
/// it reads for the first time, so that it misses no commit.
final class SharedStore: Sendable {
    /// A stack that has the store.
    struct User: Sendable {
        let store: AttachedStore
        let link: WeakLink<DataStack>
        let steps: CommitSteps
        let viewSteps: ViewSteps
    }

    private struct State {
        /// Openings that have not entered their stack yet, and stacks.
        var useCount = 1
        var users: [User] = []
        /// The number of the last commit that a transaction staged; 0 before the first.
        var staged: UInt64 = 0
    }

    let database: RecordDatabase
    /// How much memory the engine keeps pages in: by the options of the stack that opened it.
    let cacheBudget: CacheBudget
    /// The lock that the stacks' own have joined.
    let writerLock: WriterLock
    /// The file's identity while stacks open or close it.
    fileprivate let key: String
    private let state = Mutex(State())

    fileprivate init(
        _ database: RecordDatabase, _ cacheBudget: CacheBudget, _ writerLock: WriterLock,
        _ key: String
    ) {
        self.database = database
        self.cacheBudget = cacheBudget
        self.writerLock = writerLock
        self.key = key
    }

    /// The other stacks that have the store.
    func others(than stack: CommitSteps) -> [User] {
        state.withLock { state in
            state.users.count < 2 ? [] : state.users.filter { $0.steps !== stack }
        }
    }

    /// The stack that has these steps. It may have added the file again before the storage that it
    /// took out was closed.
    func user(of stack: CommitSteps) -> User? {
        state.withLock { state in
            state.users.last { $0.steps === stack && !$0.store.isDetached }
        }
    }

    /// Whether another stack uses what transactions record of their changes.
    func areChangesNeeded(besides stack: CommitSteps) -> Bool {
        others(than: stack).contains { $0.steps.areChangesNeeded }
    }

    /// Notes a staged commit, and returns the number of the one before.
    func exchangeStaged(_ number: UInt64) -> UInt64 {
        state.withLock { state in
            defer { state.staged = number }
            return state.staged
        }
    }

    func enter(_ user: User) { state.withLock { $0.users.append(user) } }

    /// Ends the use of one stack; the last one closes the file.
    func leave(_ store: AttachedStore) throws(StoreError) {
        // False where the last reference to a stack goes while the same thread opens the path.
        let isFirst = SharedStores.begin(key)
        defer { if isFirst { SharedStores.end(key) } }
        let isLast = state.withLock { state in
            state.users.removeAll { $0.store === store }
            state.useCount -= 1
            return state.useCount == 0
        }
        guard isLast else { return }
        defer { SharedStores.forget(self) }
        try database.close()
    }

    /// False when the last stack has left.
    fileprivate func use() -> Bool {
        state.withLock { state in
            guard state.useCount > 0 else { return false }
            state.useCount += 1
            return true
        }
    }
}

/// The files that this process has open for writing, by what names them for the system.
enum SharedStores {
    private static let stores = Mutex<[FileIdentity: SharedStore]>([:])
    /// The paths that are being opened or closed, each with its thread.
    private static let busy = Mutex<[String: ObjectIdentifier]>([:])
    private static let condition = NSCondition()

    /// The store at a path: the one that another stack has open, if it has it open for the same
    /// model, else the one that the closure opens.
    ///
    /// Throws `alreadyOpen` when it is open for another model. The caller enters its stack, or
    /// leaves.
    static func open(
        _ path: String, in files: any FileSystem, _ model: SchemaDescription,
        _ cacheBudget: CacheBudget, _ writerLock: WriterLock,
        _ body: () throws(CoreStoreError) -> RecordDatabase
    ) throws(CoreStoreError) -> SharedStore {
        try withPath(path, in: files, model) { key, known throws(CoreStoreError) in
            if let known, known.use() { return known }
            let database = try body()
            let store = SharedStore(database, cacheBudget, writerLock, key)
            stores.withLock { $0[database.fileIdentity] = store }
            return store
        }
    }

    /// Runs work on a path when no thread opens or closes it, and none begins to meanwhile.
    ///
    /// - Returns: nil where a stack has the store open, for the same model.
    static func alone<Result>(
        _ path: String, in files: any FileSystem, _ model: SchemaDescription,
        _ work: () throws(CoreStoreError) -> Result
    ) throws(CoreStoreError) -> Result? {
        try withPath(path, in: files, model) { _, known throws(CoreStoreError) in
            known == nil ? try work() : nil
        }
    }

    /// - Parameter body: has the path's name among those that are opened and closed, and the store
    ///   that a stack has open there.
    private static func withPath<Result>(
        _ path: String, in files: any FileSystem, _ model: SchemaDescription,
        _ body: (_ key: String, _ known: SharedStore?) throws(CoreStoreError) -> Result
    ) throws(CoreStoreError) -> Result {
        let key = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard begin(key) else {
            throw .failure(.misuse, "a store was opened while the same thread opens it: \(path)")
        }
        defer { end(key) }
        let identity = (try? files.identity(path)) ?? nil
        let known = identity.flatMap { identity in stores.withLock { $0[identity] } }
        if let known { try check(known, model, path) }
        return try body(key, known)
    }

    private static func check(
        _ store: SharedStore, _ model: SchemaDescription, _ path: String
    ) throws(CoreStoreError) {
        do throws(StoreError) {
            guard let difference = try store.database.difference(to: model) else { return }
            throw StoreError(
                .alreadyOpen,
                "another stack has the store open as \(store.database.path), with another model: "
                    + difference, path: path)
        } catch {
            throw CoreStoreError(error)
        }
    }

    fileprivate static func forget(_ store: SharedStore) {
        let identity = store.database.fileIdentity
        stores.withLock { stores in
            if stores[identity] === store { stores[identity] = nil }
        }
    }

    /// Waits until no other thread opens or closes a path. False when the caller's own does.
    fileprivate static func begin(_ key: String) -> Bool {
        let thread = ObjectIdentifier(Thread.current)
        condition.lock()
        defer { condition.unlock() }
        while let holder = busy.withLock({ $0[key] }) {
            if holder == thread { return false }
            condition.wait()
        }
        busy.withLock { $0[key] = thread }
        return true
    }

    fileprivate static func end(_ key: String) {
        condition.lock()
        busy.withLock { $0[key] = nil }
        condition.broadcast()
        condition.unlock()
    }
}
