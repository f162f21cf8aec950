/// The conflicts that a merge of the changes between two states into a third one must report.
struct GraphConflicts {
    /// The conflicts that must be reported.
    private(set) var certain: Set<String> = []
    /// The conflicts that may be reported: the model does not know the order of parts, which
    /// belongs to an object's state, nor whether deleting a member counts as a change of a list
    /// without an inverse.
    private(set) var possible: Set<String> = []

    init(from before: GraphModel, to after: GraphModel, over theirs: GraphModel) {
        for number in before.nodes.keys where theirs.nodes[number] == nil {
            if after.nodes[number] == nil { continue }
            add("\(number) changed, deleted", before, after, number)
        }
        for number in before.nodes.keys where after.nodes[number] == nil {
            if theirs.nodes[number] == nil { continue }
            add("\(number) deleted, changed", before, theirs, number)
        }
        let there = Set(theirs.nodes.keys)
            .union(after.nodes.keys.filter { before.nodes[$0] == nil })
        for number in after.nodes.keys where there.contains(number) {
            addProperties(number, before, after, theirs)
            addLinks(number, before, after, there)
        }
    }

    private mutating func add(
        _ text: String, _ first: GraphModel, _ second: GraphModel, _ number: Int
    ) {
        let isSame =
            first.nodes[number] == second.nodes[number]
            && first.mateOf(number) == second.mateOf(number)
            && first.list(number).filter { second.nodes[$0] != nil } == second.list(number)
            && first.sets(number) == second.sets(number)
        if !isSame {
            certain.insert(text)
        } else if first.list(number) != second.list(number)
            || (first.sets(number)["parts"] ?? []).count > 1
        {
            possible.insert(text)
        }
    }

    private mutating func addProperties(
        _ number: Int, _ before: GraphModel, _ after: GraphModel, _ theirs: GraphModel
    ) {
        guard let old = before.nodes[number], let mine = after.nodes[number],
            let other = theirs.nodes[number]
        else { return }
        func add<Value: Equatable>(_ name: String, _ old: Value, _ mine: Value, _ other: Value) {
            if mine != old, other != old, other != mine { certain.insert("\(number) \(name)") }
        }
        add("a", old.a, mine.a, other.a)
        add("b", old.b, mine.b, other.b)
        add("n", old.n, mine.n, other.n)
        add("code", old.code, mine.code, other.code)
        add("blob", old.blob, mine.blob, other.blob)
        add("marks", old.marks, mine.marks, other.marks)
        let list = theirs.list(number)
        if before.list(number).filter({ theirs.nodes[$0] != nil }) == list {
            possible.insert("\(number) list")
        } else if before.list(number).filter({ after.nodes[$0] != nil }) == after.list(number) {
            possible.insert("\(number) list")
        } else {
            add("list", before.list(number), after.list(number), list)
        }
        let (links, mineLinks) = (before.links(number), after.links(number))
        for (name, other) in theirs.links(number) {
            add(name, links[name] ?? nil, mineLinks[name] ?? nil, other)
        }
    }

    private mutating func addLinks(
        _ number: Int, _ before: GraphModel, _ after: GraphModel, _ there: Set<Int>
    ) {
        let isNew = before.nodes[number] == nil
        let links = before.links(number)
        for (name, target) in after.links(number) {
            guard let target, isNew || target != links[name] ?? nil else { continue }
            if !there.contains(target) { certain.insert("\(number) link \(name)") }
        }
        var (lists, sets) = (after.sets(number), before.sets(number))
        (lists["list"], sets["list"]) = (Set(after.list(number)), Set(before.list(number)))
        for (name, members) in lists {
            let added = isNew ? members : members.subtracting(sets[name] ?? [])
            if !added.isSubset(of: there) { certain.insert("\(number) link \(name)") }
        }
    }
}

extension GraphModel {
    fileprivate func mateOf(_ number: Int) -> Int? {
        nodes.first { $0.value.mate == number }?.key
    }

    /// The links to one object, by name.
    fileprivate func links(_ number: Int) -> [String: Int?] {
        let node = nodes[number]
        return [
            "parent": node?.parent, "owner": node?.owner, "keeper": node?.keeper,
            "mate": node?.mate, "mateOf": mateOf(number),
        ]
    }

    /// The lists that store links and have an inverse.
    fileprivate func sets(_ number: Int) -> [String: Set<Int>] {
        [
            "friends": Set(friends.filter { $0.first == number }.map(\.second)),
            "friendOf": Set(friends.filter { $0.second == number }.map(\.first)),
            "parts": Set(nodes.filter { $0.value.owner == number }.keys),
        ]
    }
}
