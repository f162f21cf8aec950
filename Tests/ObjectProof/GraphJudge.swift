import Foundation
import ObjectGraph
import PageStore
import Proof
import TestSupport

/// Opens images of a store with the public API and compares every answer with the states that the
/// history allows.
struct GraphJudge {
    let policy: UniqueConflictPolicy
    let names: GraphNames
    var random: SeededRandom

    /// Returns which state the store shows.
    ///
    /// - Parameter allowed: of the history's states; nil for the last alone.
    mutating func judge(
        _ files: any FileSystem, _ history: GraphHistory, _ allowed: ClosedRange<Int>,
        path: String = GraphFileScript.path, isReadOnly: Bool
    ) throws -> Int {
        let graph = try GraphStack(
            GraphFileScript.storage(files, path: path, isReadOnly: isReadOnly), policy: policy,
            names: names)
        do {
            let index = try judge(graph, history, allowed)
            try graph.stack.close()
            return index
        } catch {
            try? graph.stack.close()
            throw try GraphFileScript.typed(error)
        }
    }

    private mutating func judge(
        _ graph: GraphStack, _ history: GraphHistory, _ allowed: ClosedRange<Int>
    ) throws -> Int {
        let view = try graph.stack.beginRead()
        let found = try graph.graph(view)
        guard let index = history.index(of: found, in: allowed) else {
            try GraphStack.throwFault(view)
            let other = history.index(of: found, in: 0...(history.states.count - 1))
            throw ProofFailure(
                other.map { "commit \($0) is shown, and \(allowed) may be" }
                    ?? "no commit is shown:\n\(found.difference(from: history.last))")
        }
        var queries = GraphQueries(graph, found, seed: random.next())
        try queries.check(view, 3)
        if random.below(3) == 0 {
            // The view is checked as another source.
            try graph.queue.sync {
                try graph.check(graph.stack, found, "the view")
                try queries.check(graph.stack, 1)
            }
        }
        return index
    }
}
