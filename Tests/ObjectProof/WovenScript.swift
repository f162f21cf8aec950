import Foundation
import ObjectGraph
import Primitives
import Proof
import TestSupport

/// One step of a thread that uses the stacks of a store: see ``WovenStacks``.
enum WovenStep: String, CaseIterable, Sendable {
    /// A transaction of each durability, and one that is cancelled.
    case durable, grouped, relaxed, cancelled
    case checkpoint, vacuum
    /// A backup that updates a copy.
    case copy
    /// A read view of the stack that writes, and one of a stack of another process; each is read
    /// twice.
    case look, follow
}

/// The steps of each thread of a run.
struct WovenScript: Sendable, CustomStringConvertible {
    var strands: [[WovenStep]]

    init(_ strands: [[WovenStep]]) { self.strands = strands }

    var description: String {
        strands.map { $0.map(\.rawValue).joined(separator: " ") }.joined(separator: " | ")
    }

    /// Two threads that write, a reader of another process, a copy and a checkpoint in between.
    static let all: [WovenScript] = [
        WovenScript([[.durable, .relaxed], [.grouped], [.follow, .follow], [.copy]]),
        // A copy contains commits that were relaxed, and must make them durable first.
        WovenScript([[.relaxed, .relaxed], [.relaxed], [.copy, .copy], [.follow]]),
        // The reader reads a log that ends with a checkpoint.
        WovenScript([[.durable, .durable], [.checkpoint, .checkpoint], [.follow, .follow]]),
        WovenScript([[.relaxed, .durable], [.grouped], [.checkpoint], [.copy], [.follow]]),
        WovenScript([[.grouped, .cancelled], [.grouped], [.look, .look], [.follow]]),
        // The space of pages that the reader and the copy need is freed and reused.
        WovenScript([[.durable, .checkpoint, .durable], [.vacuum], [.copy], [.follow]]),
        // One of two backups to one path may be refused.
        WovenScript([[.durable], [.relaxed], [.copy], [.copy], [.look]]),
    ]

    static func random(_ random: inout SeededRandom) -> WovenScript {
        WovenScript(
            (0..<(3 + random.below(3))).map { _ in
                (0...random.below(3)).map { _ in
                    WovenStep.allCases[random.below(WovenStep.allCases.count)]
                }
            })
    }
}

/// One change of a graph of objects, and the same of its model. Few objects are changed, because a
/// transaction takes them in the order of a hash table, and a run must be repeatable.
struct WovenEdit {
    let graph: GraphStack
    var random: SeededRandom

    mutating func apply(
        to transaction: BaseDataTransaction, _ state: inout GraphModel
    ) throws {
        let numbers = state.nodes.keys.sorted()
        guard numbers.count > 2, random.below(4) > 0 else {
            return create(transaction, &state)
        }
        let number = numbers[random.below(numbers.count)]
        let other = numbers[random.below(numbers.count)]
        let node = try graph.node(number, transaction)
        switch random.below(7) {
        case 0:
            node.a = 1000 + random.below(1 << 40)
            state.nodes[number]?.a = node.a
        case 1:
            // The longest text is the last one too, as queries of the model say.
            node.b = String(repeating: "b", count: random.below(300))
            state.nodes[number]?.b = node.b
        case 2:
            // Some are too long for a record.
            let value = Data(random.bytes(20 + random.below(2) * 5000))
            node.blob = value
            state.nodes[number]?.blob = value
        case 3:
            node.parent = try graph.node(other, transaction)
            state.nodes[number]?.parent = other
        case 4:
            node.friends.insert(try graph.node(other, transaction))
            state.friends.insert(GraphModel.Pair(first: number, second: other))
        case 5:
            node.list = [try graph.node(other, transaction)]
            state.setList([other], of: number)
        default:
            transaction.delete(node)
            // No object has a keeper, so that nothing is denied.
            var denials: GraphModel.Denials = []
            state.delete(number, &denials)
        }
    }

    mutating func create(_ transaction: BaseDataTransaction, _ state: inout GraphModel) {
        let node = transaction.create(Into<GraphNode>())
        let number = graph.add(node)
        (node.tag, node.a) = (number, random.below(100))
        state.nodes[number] = GraphModel.Node(a: node.a, tag: number)
    }
}

/// The strands' shared knowledge of the store's commits. Its lock is no meeting.
final class WovenLedger: Sendable {
    /// A backup, from when its call began to when it returned.
    struct Copy {
        var begun: Int
        var done = Int.max
        /// The commits that it may be of.
        var states: ClosedRange<Int>
    }

    private struct State {
        var states: [GraphModel]
        var newest = 0
        /// Commits that a power cut after so many effects must not lose.
        var safe: [(index: Int, effectCount: Int)] = [(0, 0)]
        var relaxed: Set<Int> = []
        /// The oldest commit that the other process may show.
        var followed = 0
        var copies = [Copy(begun: 0, done: 0, states: 0...0)]
    }

    private let state: Mutex<State>

    init(_ start: GraphModel) { state = Mutex(State(states: [start])) }

    var states: [GraphModel] { state.withLock { $0.states } }
    var last: GraphModel { state.withLock { $0.states[$0.states.count - 1] } }
    /// The newest commit that may be there.
    var begun: Int { state.withLock { $0.states.count - 1 } }
    /// The newest commit that returned; every later reader of the stack sees it.
    var newest: Int { state.withLock { $0.newest } }
    var followed: Int { state.withLock { $0.followed } }

    /// A transaction is about to commit. Called while it excludes others.
    func append(_ next: GraphModel, isRelaxed: Bool) -> Int {
        state.withLock { state in
            state.states.append(next)
            if isRelaxed { state.relaxed.insert(state.states.count - 1) }
            return state.states.count - 1
        }
    }

    func acknowledge(_ index: Int, effectCount: Int) {
        state.withLock { state in
            state.newest = max(state.newest, index)
            if !state.relaxed.contains(index) { state.safe.append((index, effectCount)) }
        }
    }

    /// The stack shows a commit: one that is to be durable must be so by then.
    func see(_ index: Int, effectCount: Int) {
        state.withLock { state in
            if !state.relaxed.contains(index) { state.safe.append((index, effectCount)) }
        }
    }

    /// A call returned that makes all durable that had been acknowledged before it.
    func secure(_ index: Int, effectCount: Int) {
        state.withLock { $0.safe.append((index, effectCount)) }
    }

    func follow(_ index: Int) { state.withLock { $0.followed = max($0.followed, index) } }

    /// Returns the backup's number.
    func beginCopy(effectCount: Int) -> Int {
        state.withLock { state in
            state.copies.append(Copy(begun: effectCount, states: state.newest...state.newest))
            return state.copies.count - 1
        }
    }

    func endCopy(_ number: Int, isDone: Bool, effectCount: Int) {
        state.withLock { state in
            let least = state.copies[number].states.lowerBound
            state.copies[number].states = least...(state.states.count - 1)
            if isDone { state.copies[number].done = effectCount }
        }
    }

    /// The counts of effects after which a cut must leave more than before it.
    var effectCounts: [Int] { state.withLock { $0.safe.map(\.effectCount) } }

    /// The oldest commit that a power cut after this many effects may leave.
    func least(at effectCount: Int) -> Int {
        state.withLock { state in
            state.safe.filter { $0.effectCount <= effectCount }.map(\.index).max() ?? 0
        }
    }

    /// The commits that the copy may show after so many effects.
    func copied(at effectCount: Int) -> Set<Int> {
        state.withLock { state in
            let known = state.copies.filter { $0.begun <= effectCount }
            let done = known.filter { $0.done <= effectCount }
            let left = known.filter { copy in !done.contains { $0.begun > copy.done } }
            return Set(left.flatMap(\.states))
        }
    }
}
