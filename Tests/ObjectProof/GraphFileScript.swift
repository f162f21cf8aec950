import Foundation
import ObjectGraph
import PageStore
import Primitives
import Proof
import TestSupport

/// A script on a store in a file: transactions of every durability, maintenance, copies, held read
/// views and a following stack of another process. It records the promises of each call.
final class GraphFileScript {
    static let path = "/store.trellis"
    static let policies: [UniqueConflictPolicy] = [.transactionWins, .storeWins, .replace, .error]

    private struct Held {
        var view: ReadView
        var graph: GraphStack
        var state: GraphModel
        var name: String
    }

    let files: LockingFiles
    private let policy: UniqueConflictPolicy
    private let effectCount: () -> Int
    /// Whether calls may fail because the files do.
    private let mayFail: Bool
    private var editor: GraphEditor?
    private var follower: GraphStack?
    /// The state that the follower has shown.
    private var followed = 0
    private var held: [Held] = []
    private var random: SeededRandom
    private(set) var history: GraphHistory
    private(set) var names: GraphNames
    /// The steps done, in order.
    var trace: [String] { past + (editor?.trace ?? []) }
    private var past: [String] = []
    private(set) var commitCount = 0
    private(set) var followedCount = 0
    private(set) var errors: [CoreStoreError] = []

    init(
        _ files: any FileSystem, policy: UniqueConflictPolicy, seed: UInt64,
        history: GraphHistory = GraphHistory(), names: GraphNames = GraphNames(),
        mayFail: Bool = false, effectCount: @escaping () -> Int = { 0 }
    ) throws {
        self.files = LockingFiles(files)
        self.policy = policy
        self.history = history
        self.names = names
        self.mayFail = mayFail
        self.effectCount = effectCount
        random = SeededRandom(seed: seed)
        try open()
        self.history.openedAt = effectCount()
    }

    static func storage(
        _ files: any FileSystem, path: String = path, isReadOnly: Bool = false,
        schedule: (any Schedule)? = nil
    ) -> LocalStore {
        var options = EngineOptions()
        options.pageSizeInBytes = 4096
        options.cacheSizeInBytes = 128 << 10
        options.isReadOnly = isReadOnly
        return LocalStore(
            fileURL: URL(fileURLWithPath: path), files: files, engineOptions: options,
            schedule: schedule)
    }

    var isOpen: Bool { editor != nil }
    var currentNames: GraphNames { editor?.graph.names ?? names }

    private func note(_ text: String) {
        if let editor { editor.note(text) } else { past.append(text) }
    }

    // MARK: Opening and closing

    private func open() throws {
        try attempt("open") {
            let graph = try GraphStack(
                Self.storage(files), policy: policy, names: names)
            let editor = GraphEditor(graph, seed: random.next())
            editor.blobBytesMax = 9000
            self.editor = editor
        }
    }

    /// The promise of closing is its return.
    private func close() throws {
        guard let editor else { return }
        held.removeAll { $0.graph === editor.graph }
        past = trace
        self.editor = nil
        names = editor.graph.names
        try attempt("close") {
            try editor.graph.stack.close()
            history.noteDurable(at: effectCount())
        }
    }

    /// Runs a call that may fail where files do, with a typed error that tells of the store.
    /// Returns whether it did what it should.
    @discardableResult
    private func attempt(_ name: String, _ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return true
        } catch {
            let failure = try Self.typed(error)
            guard mayFail else { throw ProofFailure("\(name): \(failure)") }
            try require(failure, name)
            return false
        }
    }

    private func require(_ failure: CoreStoreError, _ name: String) throws {
        guard let error = failure.storeError else {
            throw ProofFailure("\(name) failed without an error of the store: \(failure)")
        }
        // The proof's own faults name no file.
        let isOwn = error.message.contains("the proof lets this call fail")
        guard isOwn || error.path != nil || error.page != nil || error.byteOffset != nil else {
            throw ProofFailure("\(name) failed without saying where: \(failure)")
        }
        note("\(name) fails: \(error.code)")
        errors.append(failure)
    }

    /// The error that the library reports; throws what the proof itself has found.
    static func typed(_ error: any Error) throws -> CoreStoreError {
        guard let failure = error as? CoreStoreError else { throw error }
        if case .userError(let inner) = failure { return try typed(inner) }
        return failure
    }

    // MARK: Steps

    func step() throws {
        guard let editor else { return }
        let errorCount = errors.count
        switch random.below(30) {
        case 0..<6: try commit(.durable)
        case 6..<11: try commit(.relaxed)
        case 11: try commit(.bulk)
        case 12: try commit(.grouped(maxDelay: .milliseconds(1)))
        case 13, 14: try commitUnsafely()
        case 15: try cancel(editor)
        case 16..<18: try care("checkpoint") { try editor.graph.stack.checkpoint() }
        case 18: try care("vacuum") { _ = try editor.graph.stack.vacuum() }
        case 19..<21: try backUp()
        case 21: try reopen()
        case 22..<24: try look(editor)
        case 24..<27: try follow(editor)
        case 27: try race(editor)
        default: try checkHeld()
        }
        guard errors.count > errorCount else { return }
        // After an error a program may go on, and after some it must open the store anew.
        if isUncertain || random.below(3) == 0 { try reopen() }
    }

    func finish() throws {
        guard let editor else { return }
        try look(editor)
        try follow(editor)
        try checkHeld()
        try endFollowing()
        try close()
    }

    private var isUncertain: Bool {
        errors.last?.storeError.map { [.commitUncertain, .poisoned].contains($0.code) } ?? false
    }

    private func reopen() throws {
        note("reopen")
        let errorCount = errors.count
        try close()
        if !errors.isEmpty { try endFollowing() }
        try open()
        guard mayFail, !errors.isEmpty, let editor else { return }
        // After an error a commit may be there or not, and relaxed ones may be lost with a failed
        // file.
        try attempt("look after an error") {
            let found = try editor.graph.stack.read { try editor.graph.graph($0) }
            guard let index = history.index(of: found, in: history.rangeAtEnd) else {
                try editor.graph.stack.read { try GraphStack.throwFault($0) }
                throw ProofFailure(
                    "a state is shown that may not be there:\n"
                        + found.difference(from: history.last))
            }
            history.truncate(to: index)
        }
        // Without an answer the script cannot continue on the store.
        if errors.count > errorCount { try close() }
    }

    // MARK: Transactions

    private func change(
        _ transaction: BaseDataTransaction, _ editor: GraphEditor, _ state: inout GraphModel,
        codes: Bool
    ) throws -> Bool {
        var denials: GraphModel.Denials = []
        for _ in 0...random.below(6) {
            _ = try editor.edit(transaction, &state, &denials, mates: true, codes: codes)
        }
        if random.below(5) == 0 {
            try editor.graph.check(transaction, state, "a transaction")
        }
        var isRefused = false
        if codes, random.below(4) == 0 {
            isRefused = try editor.contend(
                transaction, &state, &denials, stored: history.last)
        }
        return isRefused || state.isDenied(denials, before: history.last)
    }

    private func commit(_ durability: Durability) throws {
        guard let editor else { return }
        note("commit \(durability)")
        var (state, isRefused) = (history.last, false)
        let start = effectCount()
        do {
            try editor.graph.stack.perform(
                synchronous: { transaction in
                    isRefused = try change(transaction, editor, &state, codes: true)
                }, durability: durability)
            guard !isRefused else { throw ProofFailure("a commit passed that breaks a rule") }
            acknowledge(state, start, durability)
        } catch {
            try fail(error, state, start, isRefused)
        }
    }

    private func commitUnsafely() throws {
        guard let editor else { return }
        note("commit an unsafe one")
        var (state, isRefused) = (history.last, false)
        let start = effectCount()
        do {
            let transaction = editor.graph.stack.beginUnsafe()
            isRefused = try change(transaction, editor, &state, codes: false)
            if random.below(3) == 0 { transaction.flush() }
            let durability: Durability = random.below(2) == 0 ? .durable : .relaxed
            try transaction.commitAndWait(durability: durability)
            guard !isRefused else { throw ProofFailure("a commit passed that breaks a rule") }
            acknowledge(state, start, durability)
        } catch {
            try fail(error, state, start, isRefused)
        }
    }

    private func acknowledge(_ state: GraphModel, _ start: Int, _ durability: Durability) {
        commitCount += 1
        history.append(state, begun: start)
        if durability != .relaxed { history.noteDurable(at: effectCount()) }
    }

    private func fail(
        _ error: any Error, _ state: GraphModel, _ start: Int, _ isRefused: Bool
    ) throws {
        let failure = try Self.typed(error)
        guard failure.storeError != nil else {
            guard isRefused else { throw ProofFailure("a commit failed: \(failure)") }
            return note("refused")
        }
        guard mayFail else { throw ProofFailure("a commit failed: \(failure)") }
        try require(failure, "commit")
        if failure.storeError?.code == .commitUncertain {
            history.append(state, begun: start, isUnknown: true)
        }
    }

    private func cancel(_ editor: GraphEditor) throws {
        note("cancel")
        var state = history.last
        do {
            try editor.graph.stack.perform(synchronous: { transaction in
                _ = try change(transaction, editor, &state, codes: true)
                try transaction.cancel()
            })
        } catch {
            let failure = try Self.typed(error)
            if case .userCancelled = failure { return }
            guard mayFail else { throw failure }
            try require(failure, "cancel")
        }
    }

    // MARK: Care

    private func care(_ name: String, _ body: () throws -> Void) throws {
        note(name)
        try attempt(name) {
            try body()
            history.noteDurable(at: effectCount())
        }
    }

    func backUp() throws {
        guard let editor else { return }
        let path = "/copy\(random.below(2)).trellis"
        note("back up to \(path)")
        history.beginCopy(path, at: effectCount())
        try attempt("backup") {
            try editor.graph.stack.backup(
                to: URL(fileURLWithPath: path), isIncremental: true)
            history.noteDurable(at: effectCount())
            history.endCopy(at: effectCount())
        }
    }

    // MARK: Reading

    private func look(_ editor: GraphEditor) throws {
        note("look")
        try attempt("look") {
            let view = try editor.graph.stack.beginRead()
            try judge(view, editor.graph, history.last, "a new view")
            if held.count < 3 {
                held.append(
                    Held(
                        view: view, graph: editor.graph, state: history.last,
                        name: "a held view"))
            }
        }
    }

    private func judge(
        _ view: ReadView, _ graph: GraphStack, _ state: GraphModel, _ name: String
    ) throws {
        try graph.check(view, state, name)
        var queries = GraphQueries(graph, state, seed: random.next())
        try queries.check(view, 2)
    }

    private func checkHeld() throws {
        note("held views")
        for held in held {
            try attempt(held.name) {
                try judge(held.view, held.graph, held.state, held.name)
            }
        }
        held = held.filter { _ in random.below(2) == 0 }
    }

    /// A stack of another process shows the last commit soon.
    private func follow(_ editor: GraphEditor) throws {
        note("follow")
        try attempt("follow") {
            if follower == nil {
                follower = try GraphStack(
                    Self.storage(files, isReadOnly: true), policy: policy)
                followed = 0
            }
            guard let follower else { return }
            follower.names = editor.graph.names
            for turn in 0..<10_000 {
                let view = try follower.stack.beginRead()
                let isLast = try look(view, follower)
                guard isLast else {
                    // A follower that met a fault does not follow further.
                    if mayFail, turn > 20 { return try endFollowing() }
                    usleep(1000)
                    continue
                }
                try judge(view, follower, history.last, "a stack that follows")
                followedCount += 1
                guard held.count < 4 else { return }
                held.append(
                    Held(
                        view: view, graph: follower, state: history.last,
                        name: "a held view of a reader"))
                return
            }
            throw ProofFailure("a stack that follows does not come to the last commit")
        }
        if random.below(5) == 0 { try endFollowing() }
    }

    /// Whether a view of another process shows the last commit; it never goes back.
    private func look(_ view: ReadView, _ follower: GraphStack) throws -> Bool {
        let found = try follower.graph(view)
        guard let index = history.index(of: found, from: followed) else {
            try GraphStack.throwFault(view)
            throw ProofFailure(
                "a stack that follows shows no commit from \(followed) on:\n"
                    + found.difference(from: history.last))
        }
        followed = index
        return found == history.last
    }

    private func endFollowing() throws {
        held.removeAll { $0.graph === follower }
        guard let follower else { return }
        self.follower = nil
        try attempt("close the reader") { try follower.stack.close() }
    }

    /// Views of both stacks are begun while commits run, and each shows one of these commits.
    private func race(_ editor: GraphEditor) throws {
        let formerCount = followedCount
        try follow(editor)
        note("race")
        let first = history.states.count - 1
        let views = Mutex<[(ReadView, isFollower: Bool)]>([])
        let isDone = Mutex(false)
        let group = DispatchGroup()
        for stack in [editor.graph.stack, follower?.stack].compactMap({ $0 }) {
            let isFollower = stack !== editor.graph.stack
            group.enter()
            Thread.detachNewThread {
                for _ in 0..<40 where !isDone.withLock({ $0 }) {
                    if let view = try? stack.beginRead() {
                        views.withLock { if $0.count < 12 { $0.append((view, isFollower)) } }
                    }
                    usleep(300)
                }
                group.leave()
            }
        }
        for index in 0..<3 { try commit(index == 1 ? .durable : .relaxed) }
        isDone.withLock { $0 = true }
        group.wait()
        let names = editor.graph.names
        for held in held { held.graph.names = names }
        follower?.names = names
        // A fault may have kept the follower at an earlier commit.
        var least = [first, followedCount > formerCount ? first : followed]
        for (view, isFollower) in views.withLock({ $0 }) {
            try attempt("a view beside commits") {
                let graph = isFollower ? follower ?? editor.graph : editor.graph
                let found = try graph.graph(view)
                guard let index = history.index(of: found, from: least[isFollower ? 1 : 0]) else {
                    try GraphStack.throwFault(view)
                    throw ProofFailure("a view beside commits shows none of them, or goes back")
                }
                least[isFollower ? 1 : 0] = index
            }
        }
    }
}
