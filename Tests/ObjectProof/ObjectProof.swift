import Dispatch
import ObjectGraph
import Primitives
import Proof
import TestSupport

/// Runs scripts of transactions on a stack and on plain values: unsafe transactions over rows that
/// others change or delete, undo, rollback, nesting, commits in the background, and read views that
/// are held meanwhile. The store, each transaction and each view must equal the model.
///
/// ``ObjectFileProof`` runs scripts on files.
package struct ObjectProof: StoreProof {
    package static let requiredCounts = ["steps", "commits"]
    package static let stepCount: String? = "steps"
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
    }

    package mutating func run() {
        do {
            try runInMemory(budget)
        } catch {
            report.fail("\(error)")
        }
    }

    private mutating func runInMemory(_ budget: ProofBudget) throws {
        var random = SeededRandom(seed: seed)
        repeat {
            let scriptSeed = random.next()
            let stepCount = 20 + random.below(120)
            let script = try GraphScript(seed: scriptSeed)
            do {
                for _ in 0..<stepCount { try script.step() }
                try script.finish()
            } catch {
                throw ProofFailure(
                    "seed \(seed), script \(scriptSeed): "
                        + script.trace.suffix(40).joined(separator: "; ") + ": \(error)")
            }
            report.count("scripts")
            report.count("steps", stepCount)
            report.count("commits", script.commitCount)
            report.count("conflicts", script.conflictCount)
        } while goesOn(budget)
    }
}

/// One script.
private final class GraphScript {
    private struct Level {
        var transaction: UnsafeDataTransaction
        var model: TransactionModel
        /// Objects that the program has held since earlier steps.
        var held: [Int: GraphNode] = [:]
    }

    private let graph: GraphStack
    private let editor: GraphEditor
    private var random: SeededRandom {
        get { editor.random }
        set { editor.random = newValue }
    }
    private var committed = GraphModel()
    private var form: Level
    private var nested: Level?
    private var views: [(view: ReadView, graph: GraphModel)] = []
    var trace: [String] { editor.trace }
    private(set) var commitCount = 0
    private(set) var conflictCount = 0

    init(seed: UInt64) throws {
        let policies: [UniqueConflictPolicy] = [.transactionWins, .storeWins, .replace, .error]
        graph = try GraphStack(policy: policies[Int(seed % 4)])
        editor = GraphEditor(graph, seed: seed)
        form = Level(
            transaction: graph.stack.beginUnsafe(supportsUndo: true),
            model: TransactionModel(committed))
    }

    // MARK: Steps

    func step() throws {
        switch random.below(40) {
        case 0..<12: try changeForm()
        case 12..<19: try commitOthers()
        case 19..<22: flush()
        case 22..<25: undo()
        case 25..<27: redo()
        case 27: rollBack()
        case 28..<30: try commit()
        case 30..<32: try commitInBackground()
        case 32..<34: try nest()
        case 34: try refresh()
        case 35..<37: try look()
        default: try checkForm()
        }
    }

    func finish() throws {
        try endNested()
        try checkForm()
        try commit()
        try checkAll()
    }

    private func changeForm() throws {
        if nested != nil, random.below(3) > 0 {
            try edit(&nested!, mates: false)
        } else {
            try edit(&form, mates: nested == nil)
        }
    }

    private func edit(_ level: inout Level, mates: Bool) throws {
        for _ in 0...random.below(4) {
            let made = try editor.edit(
                level.transaction, &level.model.work, &level.model.denials, mates: mates,
                codes: false)
            if let made { level.held[made.number] = made.node }
            level.model.isChanged = true
        }
        if random.below(3) == 0, let number = editor.pick(level.model.work) {
            level.held[number] = try graph.node(number, level.transaction)
        }
        if random.below(8) == 0 { level.held = [:] }
    }

    /// A transaction of another client.
    private func commitOthers() throws {
        editor.note("others")
        var state = committed
        var denials: GraphModel.Denials = []
        var isRefused = false
        do {
            try graph.stack.perform(synchronous: { transaction in
                for _ in 0...random.below(6) {
                    _ = try editor.edit(transaction, &state, &denials, mates: false, codes: true)
                }
                guard random.below(3) == 0 else { return }
                isRefused = try editor.contend(
                    transaction, &state, &denials, stored: committed)
            })
            guard !isRefused, !state.isDenied(denials, before: committed) else {
                throw ProofFailure("a denied commit passed")
            }
            committed = state
            commitCount += 1
        } catch let error as CoreStoreError {
            guard isRefused || state.isDenied(denials, before: committed) else { throw error }
        }
        try checkCommitted()
    }

    // MARK: The unsafe transaction

    private func flush() {
        editor.note("flush")
        form.transaction.flush()
        form.model.endGroup()
        nested?.transaction.flush()
        nested?.model.endGroup()
    }

    private func undo() {
        editor.note("undo")
        if nested != nil {
            nested?.transaction.undo()
            nested?.model.undo()
        } else {
            form.transaction.undo()
            form.model.undo()
        }
    }

    private func redo() {
        editor.note("redo")
        if nested != nil {
            nested?.transaction.redo()
            nested?.model.redo()
        } else {
            form.transaction.redo()
            form.model.redo()
        }
    }

    private func rollBack() {
        editor.note("roll back")
        if nested != nil {
            nested?.transaction.rollback()
            nested?.model.rollBack()
        } else {
            form.transaction.rollback()
            form.model.rollBack()
        }
    }

    private func commit() throws {
        try endNested()
        editor.note("commit")
        let outcome = Result { try form.transaction.commitAndWait() }
        form.model.endGroup()
        let (isDone, graph) = try expectCommit(outcome, form.model.work)
        guard isDone else { return }
        try checkConflicts(graph, form.model.work)
        committed = graph
        form.model.move(to: graph, committed: form.model.work, keepsRest: false)
        try checkAll()
    }

    /// The expected result of a commit, and whether it must succeed.
    private func expectCommit(
        _ outcome: Result<Void, any Error>, _ work: GraphModel
    ) throws -> (Bool, GraphModel) {
        var denials: GraphModel.Denials = []
        let merged = GraphModel.merged(
            from: form.model.before, to: work, over: committed, &denials)
        let isDenied =
            work.isDenied(form.model.denials, before: form.model.before)
            || merged.isDenied(denials, before: committed)
        switch outcome {
        case .success where !isDenied:
            commitCount += 1
            return (true, merged)
        case .failure where isDenied: return (false, committed)
        case .success: throw ProofFailure("a denied commit passed")
        case .failure(let error): throw error
        }
    }

    private func checkConflicts(_ merged: GraphModel, _ work: GraphModel) throws {
        let found = Set(form.transaction.conflicts.compactMap(text))
        let expected = GraphConflicts(from: form.model.before, to: work, over: committed)
        conflictCount += expected.certain.count
        guard found.isSuperset(of: expected.certain),
            found.subtracting(expected.certain).isSubset(of: expected.possible)
        else { throw ProofFailure("conflicts \(found) instead of \(expected)") }
    }

    private func text(_ conflict: CommitConflict) -> String? {
        let number = graph.number(conflict.objectID)
        return switch conflict.kind {
        // The model does not know their order.
        case .property("parts"): nil
        case .property(let name): "\(number) \(name)"
        case .changedAfterDeletion: "\(number) changed, deleted"
        case .deletedAfterChange: "\(number) deleted, changed"
        case .linkToDeleted(let name): "\(number) link \(name)"
        case .replaced(_, let names): "\(number) \(names)"
        }
    }

    /// A commit in the background while the transaction continues.
    private func commitInBackground() throws {
        try endNested()
        editor.note("commit in the background")
        let done = DispatchSemaphore(value: 0)
        let failure = Mutex<CoreStoreError?>(nil)
        form.transaction.commit { error in
            failure.withLock { $0 = error }
            done.signal()
        }
        form.model.endGroup()
        let (work, denials) = (form.model.work, form.model.denials)
        let goesOn = random.below(2) == 0
        if goesOn {
            // The commit may be completed at any of these steps.
            for _ in 0...random.below(3) {
                form.model.isChanged = true
                let (number, node) = editor.create(form.transaction, &form.model.work)
                form.held[number] = node
            }
        }
        done.wait()
        let outcome: Result<Void, any Error> =
            failure.withLock { $0 }.map { .failure($0) } ?? .success(())
        let late = form.model.denials
        form.model.denials = denials
        let (isDone, merged) = try expectCommit(outcome, work)
        form.model.denials = late
        guard isDone else { return }
        try checkConflicts(merged, work)
        committed = merged
        form.model.move(to: merged, committed: work, keepsRest: goesOn)
        // The possible undos now depend on when the commit was completed.
        if random.below(2) == 0 {
            form.transaction.rollback()
            form.model.rollBack()
            try checkAll()
        } else {
            try commit()
        }
    }

    // MARK: Nesting

    private func nest() throws {
        if nested != nil { return try endNested() }
        editor.note("nest")
        nested = Level(
            transaction: form.transaction.beginUnsafe(supportsUndo: true),
            model: TransactionModel(form.model.work))
        if random.below(2) == 0 { form.held = [:] }
    }

    private func endNested() throws {
        guard var level = nested else { return }
        guard random.below(4) > 0 else {
            editor.note("drop the nested one")
            nested = nil
            return
        }
        editor.note("commit the nested one")
        try check(level)
        let isDenied = level.model.work.isDenied(level.model.denials, before: level.model.before)
        do {
            try level.transaction.commitAndWait()
            guard !isDenied else { throw ProofFailure("a denied nested commit passed") }
        } catch let error as CoreStoreError {
            guard isDenied else { throw error }
            level.model.endGroup()
            nested = nil
            return
        }
        form.model.work = GraphModel.merged(
            from: level.model.before, to: level.model.work, over: form.model.work,
            &form.model.denials)
        level.model.move(
            to: form.model.work, committed: level.model.work, keepsRest: false)
        try check(level)
        nested = nil
        // A separate change, because the model does not know whether the merge was one.
        _ = editor.create(form.transaction, &form.model.work)
        form.model.isChanged = true
        try checkForm()
    }

    /// Refreshes one object, which drops its changes.
    private func refresh() throws {
        guard nested == nil, let number = editor.pick(form.model.work),
            form.model.before.nodes[number] == nil
        else { return }
        editor.note("refresh \(number)")
        // A new object has nothing to return to.
        try graph.node(number, form.transaction).refreshAsFault()
    }

    // MARK: Checks

    private func look() throws {
        editor.note("look")
        if views.count < 3 {
            views.append((try graph.stack.beginRead(), committed))
        } else {
            let index = random.below(views.count)
            try graph.check(views[index].view, views[index].graph, "a held view")
            views.remove(at: index)
        }
    }

    private func checkCommitted() throws {
        let seed = random.next()
        try graph.stack.read { view in
            try graph.check(view, committed, "a new view")
            var queries = GraphQueries(graph, committed, seed: seed)
            try queries.check(view, 2)
        }
    }

    private func checkForm() throws {
        try check(form)
        if let nested { try check(nested) }
    }

    private func check(_ level: Level) throws {
        let (transaction, model) = (level.transaction, level.model)
        for (number, node) in level.held {
            let expected = model.work.nodes[number]
            guard node.isDeleted == (expected == nil) else {
                throw ProofFailure("\(number) is\(node.isDeleted ? "" : " not") deleted")
            }
            guard let expected else { continue }
            guard node.a == expected.a, node.b == expected.b,
                graph.number(node.owner) == expected.owner,
                try graph.node(number, transaction) === node
            else { throw ProofFailure("the object of \(number) shows other values") }
        }
        guard transaction.canUndo == model.canUndo, transaction.canRedo == model.canRedo else {
            throw ProofFailure("what can be undone differs")
        }
        try graph.check(transaction, model.work, "an unsafe transaction")
        var queries = GraphQueries(graph, model.work, seed: random.next())
        try queries.check(transaction, 1, isCommitted: false)
        let deleted = Set(transaction.deletedObjectIDs().map { graph.number($0) })
        let gone = Set(model.before.nodes.keys).subtracting(model.work.nodes.keys)
        let inserted = Set(transaction.insertedObjectIDs().map { graph.number($0) })
        let made = Set(model.work.nodes.keys).subtracting(model.before.nodes.keys)
        guard deleted == gone, inserted == made else {
            throw ProofFailure(
                "created \(inserted) instead of \(made), deleted \(deleted) instead of \(gone)")
        }
    }

    private func checkAll() throws {
        try checkForm()
        try checkCommitted()
        try graph.queue.sync { try graph.check(graph.stack, committed, "the view") }
        for held in views { try graph.check(held.view, held.graph, "a held view") }
    }
}
