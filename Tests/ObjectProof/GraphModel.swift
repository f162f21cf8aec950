import Foundation

/// The expected graph of objects as plain values. Objects have the numbers of the script.
struct GraphModel: Equatable {
    struct Node: Equatable {
        var a = 0
        var b = ""
        /// Different for each object.
        var tag = 0
        var n: Int?
        /// Unique except for nil.
        var code: String?
        var blob: Data?
        var marks: [String] = []
        var parent: Int?
        /// The object is deleted with its owner.
        var owner: Int?
        /// The keeper cannot be deleted while it keeps objects.
        var keeper: Int?
        var mate: Int?
    }

    struct Pair: Hashable {
        var first: Int
        var second: Int
    }

    /// Objects that a deny rule checked when their keeper was deleted.
    typealias Denials = [(keeper: Int, kept: [Int])]

    var nodes: [Int: Node] = [:]
    var friends: Set<Pair> = []
    /// Ordered, and without an inverse.
    var lists: [Int: [Int]] = [:]

    func list(_ number: Int) -> [Int] { lists[number] ?? [] }

    /// Whether a commit is refused: not for objects that have another keeper now, nor for keepers
    /// that the state before the transaction does not have.
    func isDenied(_ denials: Denials, before: GraphModel) -> Bool {
        denials.contains { denial in
            before.nodes[denial.keeper] != nil
                && denial.kept.contains { number in
                    guard let node = nodes[number] else { return false }
                    return node.keeper == nil
                }
        }
    }

    /// Deletes an object by the rules of its links, which spare another one.
    mutating func delete(_ number: Int, sparing survivor: Int? = nil, _ denials: inout Denials) {
        guard nodes[number] != nil else { return }
        var gone: Set<Int> = []
        var open = [number]
        while !open.isEmpty {
            let next = open.removeFirst()
            guard gone.insert(next).inserted else { continue }
            let owned = nodes.filter { $0.value.owner == next && !gone.contains($0.key) }.keys
            open += owned.filter { $0 != survivor }.sorted()
            let kept = nodes.filter { $0.value.keeper == next && !gone.contains($0.key) }.keys
            if !kept.isEmpty { denials.append((keeper: next, kept: Array(kept))) }
        }
        for number in gone {
            nodes[number] = nil
            lists[number] = nil
        }
        clearLinks()
    }

    /// Removes links to deleted objects.
    mutating func clearLinks() {
        for (number, node) in nodes {
            var node = node
            node.parent = node.parent.flatMap { nodes[$0] == nil ? nil : $0 }
            node.owner = node.owner.flatMap { nodes[$0] == nil ? nil : $0 }
            node.keeper = node.keeper.flatMap { nodes[$0] == nil ? nil : $0 }
            node.mate = node.mate.flatMap { nodes[$0] == nil ? nil : $0 }
            nodes[number] = node
        }
        friends = friends.filter { nodes[$0.first] != nil && nodes[$0.second] != nil }
        for (number, list) in lists {
            let rest = list.filter { nodes[$0] != nil }
            lists[number] = nodes[number] == nil || rest.isEmpty ? nil : rest
        }
    }

    mutating func setMate(_ mate: Int?, of number: Int) {
        for (other, node) in nodes where node.mate == mate && mate != nil {
            nodes[other]?.mate = nil
        }
        nodes[number]?.mate = mate
    }

    mutating func setList(_ list: [Int], of number: Int) {
        lists[number] = list.isEmpty ? nil : list
    }

    // MARK: Merging

    /// Applies the changes between two states to a third one: the changes win, property by
    /// property.
    static func merged(
        from before: GraphModel, to after: GraphModel, over theirs: GraphModel,
        _ denials: inout Denials
    ) -> GraphModel {
        var result = theirs
        for (number, mine) in after.nodes {
            guard let old = before.nodes[number] else {
                result.nodes[number] = mine
                continue
            }
            guard var node = theirs.nodes[number] else { continue }
            if mine.a != old.a { node.a = mine.a }
            if mine.b != old.b { node.b = mine.b }
            if mine.n != old.n { node.n = mine.n }
            if mine.code != old.code { node.code = mine.code }
            if mine.blob != old.blob { node.blob = mine.blob }
            if mine.marks != old.marks { node.marks = mine.marks }
            if mine.parent != old.parent { node.parent = mine.parent }
            if mine.owner != old.owner { node.owner = mine.owner }
            if mine.keeper != old.keeper { node.keeper = mine.keeper }
            if mine.mate != old.mate { node.mate = mine.mate }
            result.nodes[number] = node
        }
        result.friends.subtract(before.friends.subtracting(after.friends))
        result.friends.formUnion(after.friends.subtracting(before.friends))
        for number in after.nodes.keys where after.list(number) != before.list(number) {
            let (old, mine, other) = (
                before.list(number), after.list(number), theirs.list(number)
            )
            var list = mine
            if other != old {
                list = other.filter { mine.contains($0) || !old.contains($0) }
                list += mine.filter { !old.contains($0) && !list.contains($0) }
            }
            result.setList(list, of: number)
        }
        result.clearLinks()
        for number in before.nodes.keys.sorted() where after.nodes[number] == nil {
            result.delete(number, &denials)
        }
        return result
    }
}

/// The expected state of an unsafe transaction, and the states that it can return to.
struct TransactionModel {
    typealias State = (graph: GraphModel, denials: GraphModel.Denials)

    private(set) var before: GraphModel
    var work: GraphModel
    var denials: GraphModel.Denials = []
    var isChanged = false
    private var undoStates: [State] = []
    private var redoStates: [State] = []
    private var current: State

    init(_ graph: GraphModel) {
        (before, work) = (graph, graph)
        current = (graph, [])
    }

    var canUndo: Bool { isChanged || !undoStates.isEmpty }
    var canRedo: Bool { !isChanged && !redoStates.isEmpty }

    mutating func endGroup() {
        guard isChanged else { return }
        undoStates.append(current)
        redoStates = []
        current = (work, denials)
        isChanged = false
    }

    mutating func undo() {
        endGroup()
        guard let state = undoStates.popLast() else { return }
        redoStates.append(current)
        show(state)
    }

    mutating func redo() {
        endGroup()
        guard let state = redoStates.popLast() else { return }
        undoStates.append(current)
        show(state)
    }

    private mutating func show(_ state: State) {
        current = state
        (work, denials) = state
    }

    mutating func rollBack() { self = TransactionModel(before) }

    /// After a commit: its result, with the changes made since it was begun.
    mutating func move(to graph: GraphModel, committed: GraphModel, keepsRest: Bool) {
        var moved = TransactionModel(graph)
        if keepsRest {
            moved.denials = denials
            moved.work = GraphModel.merged(from: committed, to: work, over: graph, &moved.denials)
            moved.current = (moved.work, moved.denials)
        }
        self = moved
    }
}
