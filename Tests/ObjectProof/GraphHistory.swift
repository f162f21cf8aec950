import Proof

/// The committed states of a store, and the effects of the medium before each promise.
struct GraphHistory {
    /// A backup, from when its call began to when it returned.
    struct Copy {
        var path: String
        var begun: Int
        /// The largest number until the call has returned.
        var done = Int.max
        /// The index of the state copied.
        var index: Int
    }

    /// The states by commit.
    private(set) var states: [GraphModel]
    /// The count of effects when a commit began, and when it was known to be durable.
    private var begun: [Int] = [0]
    private var durable: [Int] = [0]
    /// The effects after which the store had been opened for the first time.
    var openedAt = 0
    private(set) var copies: [Copy] = []
    /// The first state that may or may not be there.
    private var unknown: Int?

    init(_ start: GraphModel = GraphModel()) { states = [start] }

    var last: GraphModel { states[states.count - 1] }

    /// The states that a power cut after this many effects can leave, as indices of `states`.
    func range(at effectCount: Int) -> ClosedRange<Int> {
        let least = durable.lastIndex { $0 <= effectCount } ?? 0
        let most = begun.lastIndex { $0 <= effectCount } ?? 0
        return least...max(least, most)
    }

    /// The states that may be there at the end.
    var rangeAtEnd: ClosedRange<Int> {
        (durable.lastIndex { $0 != .max } ?? 0)...(states.count - 1)
    }

    /// Adds a commit whose call returned, or that may or may not be there.
    mutating func append(_ state: GraphModel, begun start: Int, isUnknown: Bool = false) {
        if isUnknown, unknown == nil { unknown = states.count }
        states.append(state)
        begun.append(start)
        durable.append(.max)
    }

    /// All acknowledged commits are durable now.
    mutating func noteDurable(at effectCount: Int) {
        for index in durable.indices.prefix(unknown ?? .max) where durable[index] == .max {
            durable[index] = effectCount
        }
    }

    /// The store was found to have one of these states.
    mutating func truncate(to index: Int) {
        unknown = nil
        let rest = states.count - 1 - index
        states.removeLast(rest)
        begun.removeLast(rest)
        durable.removeLast(rest)
        for copy in copies.indices where copies[copy].index > index { copies[copy].index = index }
    }

    mutating func beginCopy(_ path: String, at effectCount: Int) {
        copies.append(Copy(path: path, begun: effectCount, index: states.count - 1))
    }

    mutating func endCopy(at effectCount: Int) { copies[copies.count - 1].done = effectCount }

    /// The states that a copy can show after so many effects; nil among them where there may be
    /// no copy.
    func states(of path: String, at effectCount: Int) -> [Int?] {
        let known = copies.filter { $0.path == path && $0.begun <= effectCount }
        let done = known.lastIndex { $0.done <= effectCount }
        var found: [Int?] = known.suffix(from: done ?? 0).map(\.index)
        if done == nil { found.append(nil) }
        return found
    }

    /// The newest state that a graph can be.
    func index(of graph: GraphModel, in range: ClosedRange<Int>) -> Int? {
        range.last { states[$0] == graph }
    }

    /// The oldest state from one on that a graph can be: several may be equal.
    func index(of graph: GraphModel, from least: Int) -> Int? {
        states.indices.dropFirst(least).first { states[$0] == graph }
    }
}
