import Foundation
import ObjectGraph
import Proof
import TestSupport

// Two objects with one unique value, resolved by the policy.
extension GraphEditor {
    /// Gives a new object the unique value of a stored one, as the last change of a transaction.
    /// Returns whether the commit must be refused for that.
    ///
    /// - Parameter stored: the state of the store.
    func contend(
        _ transaction: BaseDataTransaction, _ state: inout GraphModel,
        _ denials: inout GraphModel.Denials, stored: GraphModel
    ) throws -> Bool {
        let holders = state.nodes.filter { number, node in
            node.code != nil && stored.nodes[number]?.code == node.code
        }.keys.sorted()
        guard !holders.isEmpty else { return false }
        let holder = holders[random.below(holders.count)]
        let before = state
        let (number, node) = create(transaction, &state)
        note("contend \(number) with \(holder)")
        node.a = random.below(100)
        node.code = state.nodes[holder]?.code
        state.nodes[number]?.a = node.a
        state.nodes[number]?.code = node.code
        var assigned: Set<String> = ["a", "tag"]
        if random.below(2) == 0 {
            let value = blob()
            node.blob = value
            state.nodes[number]?.blob = value
            assigned.insert("blob")
        }
        if random.below(2) == 0 {
            let value = random.below(3) == 0 ? nil : random.below(6)
            node.n = value
            state.nodes[number]?.n = value
            assigned.insert("n")
        }
        try link(node, number, besides: holder, before, transaction, &state)
        return state.resolve(
            number, against: holder, graph.policy, assigned: assigned, &denials)
    }

    private func link(
        _ node: GraphNode, _ number: Int, besides holder: Int, _ before: GraphModel,
        _ transaction: BaseDataTransaction, _ state: inout GraphModel
    ) throws {
        func other() -> Int? {
            guard let found = pick(before), found != holder, random.below(3) > 0 else { return nil }
            return found
        }
        if let target = other() {
            node.parent = try graph.node(target, transaction)
            state.nodes[number]?.parent = target
        }
        if let target = other() {
            node.owner = try graph.node(target, transaction)
            state.nodes[number]?.owner = target
        }
        if let child = other() {
            try graph.node(child, transaction).parent = node
            state.nodes[child]?.parent = number
        }
        if let friend = other() {
            node.friends = [try graph.node(friend, transaction)]
            state.friends.insert(GraphModel.Pair(first: number, second: friend))
        }
        if let friend = other() {
            node.friendOf = [try graph.node(friend, transaction)]
            state.friends.insert(GraphModel.Pair(first: friend, second: number))
        }
        if let member = other(), !state.list(holder).contains(member) {
            node.list = [try graph.node(member, transaction)]
            state.setList([member], of: number)
        }
    }
}

extension GraphModel {
    /// Resolves an object with the unique value of a stored one by a policy. Returns whether that
    /// is an error.
    ///
    /// - Parameter assigned: the properties that the transaction gave the new object.
    mutating func resolve(
        _ number: Int, against holder: Int, _ policy: UniqueConflictPolicy,
        assigned: Set<String>, _ denials: inout Denials
    ) -> Bool {
        switch policy {
        case .error: return true
        case .replace: delete(holder, sparing: number, &denials)
        case .transactionWins, .storeWins:
            let wins = policy == .transactionWins
            guard let new = nodes[number], var kept = nodes[holder] else { return false }
            if wins {
                if assigned.contains("a") { kept.a = new.a }
                if assigned.contains("tag") { kept.tag = new.tag }
                if assigned.contains("n") { kept.n = new.n }
                if assigned.contains("blob") { kept.blob = new.blob }
            }
            if let parent = new.parent, wins || kept.parent == nil { kept.parent = parent }
            if let owner = new.owner, wins || kept.owner == nil { kept.owner = owner }
            nodes[holder] = kept
            for (other, node) in nodes where node.parent == number { nodes[other]?.parent = holder }
            friends = Set(
                friends.map {
                    Pair(
                        first: $0.first == number ? holder : $0.first,
                        second: $0.second == number ? holder : $0.second)
                })
            setList(list(holder) + list(number), of: holder)
            nodes[number] = nil
            lists[number] = nil
            clearLinks()
        }
        return false
    }
}
