import Foundation
import ObjectGraph
import Proof
import TestSupport

/// Random fetches and queries of a source, compared with the model's answers.
struct GraphQueries {
    private struct Condition {
        var clause: Where<GraphNode>
        var text: String
        var holds: (Int) -> Bool
    }

    private let graph: GraphStack
    private let model: GraphModel
    private var random: SeededRandom

    init(_ graph: GraphStack, _ model: GraphModel, seed: UInt64) {
        self.graph = graph
        self.model = model
        random = SeededRandom(seed: seed)
    }

    /// - Parameter isCommitted: whether the source shows what is committed and nothing else: so do
    ///   queries of values.
    mutating func check(
        _ source: some FetchableSource & QueryableSource, _ count: Int, isCommitted: Bool = true
    ) throws {
        for _ in 0..<count {
            switch random.below(isCommitted ? 5 : 3) {
            case 0, 1: try checkFetch(source)
            case 2: try checkGetters(source)
            case 3: try checkAggregates(source)
            default: try checkGroups(source)
            }
        }
    }

    private func fail(_ source: some FetchableSource, _ text: String) throws -> Never {
        try GraphStack.throwFault(source)
        throw ProofFailure(text)
    }

    // MARK: Conditions

    private mutating func condition(_ depth: Int = 0) -> Condition {
        let first = plainCondition()
        guard depth < 2, random.below(3) == 0 else { return first }
        let second = condition(depth + 1)
        switch random.below(3) {
        case 0:
            return Condition(
                clause: first.clause && second.clause, text: "(\(first.text) AND \(second.text))",
                holds: { first.holds($0) && second.holds($0) })
        case 1:
            return Condition(
                clause: first.clause || second.clause, text: "(\(first.text) OR \(second.text))",
                holds: { first.holds($0) || second.holds($0) })
        default:
            return Condition(
                clause: !first.clause, text: "NOT \(first.text)", holds: { !first.holds($0) })
        }
    }

    private mutating func plainCondition() -> Condition {
        switch random.below(3) {
        case 0: numberCondition()
        case 1: otherCondition()
        default: linkCondition()
        }
    }

    /// A condition on an indexed property.
    private mutating func numberCondition() -> Condition {
        let nodes = model.nodes
        let (k, m) = (random.below(100), random.below(6))
        switch random.below(8) {
        case 0: return Condition(clause: \.$a >= k, text: "a >= \(k)") { nodes[$0]!.a >= k }
        case 1: return Condition(clause: \.$a < k, text: "a < \(k)") { nodes[$0]!.a < k }
        case 2:
            return Condition(
                clause: \.$a > k && \.$a <= k + 20, text: "a in \(k)<...\(k + 20)"
            ) { nodes[$0]!.a > k && nodes[$0]!.a <= k + 20 }
        case 3:
            let list = (0..<5).map { _ in random.below(100) }
            return Condition(clause: list ~= \.$a, text: "a in \(list)") {
                list.contains(nodes[$0]!.a)
            }
        case 4:
            return Condition(
                clause: \.$a < k / 2 || \.$a > k, text: "a < \(k / 2) or > \(k)"
            ) { nodes[$0]!.a < k / 2 || nodes[$0]!.a > k }
        case 5: return Condition(clause: \.$n == m, text: "n == \(m)") { nodes[$0]!.n == m }
        case 6:
            return Condition(clause: \.$n == nil, text: "n == nil") { nodes[$0]!.n == nil }
        default:
            return Condition(clause: \.$n < m, text: "n < \(m)") {
                nodes[$0]!.n.map { $0 < m } ?? false
            }
        }
    }

    private mutating func otherCondition() -> Condition {
        let nodes = model.nodes
        switch random.below(6) {
        case 0:
            let code = "c\(10 + random.below(14))"
            return Condition(clause: \.$code == code, text: "code == \(code)") {
                nodes[$0]!.code == code
            }
        case 1:
            return Condition(clause: \.$code != nil, text: "code != nil") {
                nodes[$0]!.code != nil
            }
        case 2:
            return Condition(clause: \.$blob == nil, text: "blob == nil") {
                nodes[$0]!.blob == nil
            }
        case 3:
            let prefix = String(repeating: "b", count: random.below(40))
            return Condition(
                clause: Where("b BEGINSWITH %@", prefix), text: "\(prefix.count) of b"
            ) { nodes[$0]!.b.hasPrefix(prefix) }
        case 4:
            let n = random.below(6)
            return Condition(clause: \.$n != n, text: "n != \(n)") { nodes[$0]!.n != n }
        default:
            let blob = model.nodes.values.compactMap(\.blob).max { $0.count < $1.count }
            return Condition(
                clause: \.$blob == blob, text: "blob == \(blob?.count ?? -1) bytes"
            ) { nodes[$0]!.blob == blob }
        }
    }

    private mutating func linkCondition() -> Condition {
        let model = model
        let (k, count) = (random.below(100), random.below(3))
        func any(_ numbers: [Int]) -> Bool { numbers.contains { model.nodes[$0]!.a > k } }
        switch random.below(9) {
        case 0:
            return Condition(clause: Where("parent == nil"), text: "parent == nil") {
                model.nodes[$0]!.parent == nil
            }
        case 1:
            return Condition(clause: Where("parent.a > %d", k), text: "parent.a > \(k)") {
                any(model.nodes[$0]!.parent.map { [$0] } ?? [])
            }
        case 2:
            return Condition(clause: Where("ANY children.a > %d", k), text: "any child > \(k)") {
                any(model.children($0))
            }
        case 3:
            return Condition(
                clause: Where("children.@count == %d", count), text: "\(count) children"
            ) { model.children($0).count == count }
        case 4:
            return Condition(
                clause: Where("friends.@count > %d", count), text: "more than \(count) friends"
            ) { model.friends($0).count > count }
        case 5:
            return Condition(
                clause: Where("NONE friendOf.a > %d", k), text: "no friendOf > \(k)"
            ) { !any(model.friendOf($0)) }
        case 6:
            return Condition(clause: Where("ANY list.a > %d", k), text: "any of list > \(k)") {
                any(model.list($0))
            }
        case 7:
            return Condition(
                clause: Where("parts.@count >= %d", count), text: "\(count) parts or more"
            ) { model.parts($0).count >= count }
        default:
            return Condition(clause: Where("mateOf == nil"), text: "mateOf == nil") { number in
                !model.nodes.values.contains { $0.mate == number }
            }
        }
    }

    // MARK: Fetches

    /// Orders with ties, resolved by the tag: of two objects that a lie gives one tag, either may
    /// come first.
    private mutating func order() -> ([OrderBy<GraphNode>.SortKey], (Int, Int) -> Bool, String) {
        let nodes = model.nodes
        var keys: [OrderBy<GraphNode>.SortKey] = []
        var comparisons: [(GraphModel.Node, GraphModel.Node) -> Int] = []
        var text: [String] = []
        for _ in 0..<random.below(3) {
            let isAscending = random.below(2) == 0
            let sign = isAscending ? 1 : -1
            let kind = random.below(4)
            text.append("\(isAscending ? "+" : "-")\(["a", "n", "b", "code"][kind])")
            switch kind {
            case 0:
                keys.append(isAscending ? .ascending(\.$a) : .descending(\.$a))
                comparisons.append { sign * Self.compare($0.a, $1.a) }
            case 1:
                keys.append(isAscending ? .ascending(\.$n) : .descending(\.$n))
                comparisons.append { sign * Self.compare($0.n, $1.n) }
            case 2:
                keys.append(isAscending ? .ascending(\.$b) : .descending(\.$b))
                comparisons.append { sign * Self.compare($0.b, $1.b) }
            default:
                keys.append(isAscending ? .ascending(\.$code) : .descending(\.$code))
                comparisons.append { sign * Self.compare($0.code, $1.code) }
            }
        }
        keys.append(.ascending(\.$tag))
        comparisons.append { Self.compare($0.tag, $1.tag) }
        return (
            keys,
            { first, second in
                let (first, second) = (nodes[first]!, nodes[second]!)
                for comparison in comparisons {
                    let result = comparison(first, second)
                    if result != 0 { return result < 0 }
                }
                return false
            }, text.joined(separator: " ")
        )
    }

    private static func compare<V: Comparable>(_ first: V, _ second: V) -> Int {
        first == second ? 0 : first < second ? -1 : 1
    }

    /// Nil comes before all values.
    private static func compare<V: Comparable>(_ first: V?, _ second: V?) -> Int {
        switch (first, second) {
        case (nil, nil): 0
        case (nil, _): -1
        case (_, nil): 1
        case (let first?, let second?): compare(first, second)
        }
    }

    private mutating func checkFetch(_ source: some FetchableSource) throws {
        let condition = condition()
        let (keys, precedes, orderText) = order()
        let limit = random.below(2) * (1 + random.below(6))
        let offset = random.below(4)
        let all = model.nodes.keys.filter(condition.holds).sorted(by: precedes)
        let label = "\(condition.text), ordered \(orderText)"
        let chain = From<GraphNode>().where(condition.clause).orderBy(keys)
        let found = try source.fetchAll(chain).map { graph.number($0.objectID()) }
        if found.sorted() != all.sorted()
            || zip(found.dropFirst(), found).contains(where: { precedes($0, $1) })
        {
            try fail(source, "\(label): \(found) instead of \(all)")
        }
        let part = Array(found.dropFirst(offset).prefix(limit == 0 ? .max : limit))
        let cut = chain.tweak { ($0.fetchLimit, $0.fetchOffset) = (limit, offset) }
        let partFound = try source.fetchObjectIDs(cut).map { graph.number($0) }
        if partFound != part {
            try fail(source, "\(label), \(limit) from \(offset): \(partFound), not \(part)")
        }
        let count = try source.fetchCount(From<GraphNode>().where(condition.clause))
        if count != all.count { try fail(source, "\(label): \(count), not \(all.count)") }
        let first = try source.fetchOne(chain).map { graph.number($0.objectID()) }
        if first != found.first { try fail(source, "\(label): the first is \(first ?? -1)") }
    }

    /// One object by its ID, by getters that throw and that do not.
    private mutating func checkGetters(_ source: some FetchableSource) throws {
        let numbers = model.nodes.keys.sorted()
        guard !numbers.isEmpty else { return }
        let number = numbers[random.below(numbers.count)]
        let expected = model.nodes[number]!
        let node = try graph.node(number, source)
        var shown = GraphModel.Node()
        shown.a = try node.load(\.$a)
        shown.b = try node.load(\.$b)
        shown.n = try node.load(\.$n)
        shown.code = try node.load(\.$code)
        shown.blob = try node.load(\.$blob)
        shown.marks = try node.load(\.$marks)
        shown.tag = try node.load(\.$tag)
        shown.parent = graph.number(try node.load(\.$parent))
        shown.owner = graph.number(try node.load(\.$owner))
        shown.keeper = graph.number(try node.load(\.$keeper))
        shown.mate = graph.number(try node.load(\.$mate))
        let double = try node.load(\.$double)
        if shown != expected || double != expected.a * 2 {
            try fail(source, "\(number) shows \(shown) and \(double) instead of \(expected)")
        }
        let found: [Set<Int>] = [
            Set(try node.load(\.$children).map { graph.number($0.objectID()) }),
            Set(try node.load(\.$parts).map { graph.number($0.objectID()) }),
            Set(try node.load(\.$friends).map { graph.number($0.objectID()) }),
            Set(node.friendOf.map { graph.number($0.objectID()) }),
        ]
        let links = [
            model.children(number), model.parts(number), model.friends(number),
            model.friendOf(number),
        ]
        if found != links.map({ Set($0) }) {
            try fail(source, "\(number) leads to \(found) instead of \(links)")
        }
        let list = try node.load(\.$list).map { graph.number($0.objectID()) }
        if list != model.list(number) { try fail(source, "the list of \(number) is \(list)") }
    }

    // MARK: Values

    private mutating func checkAggregates(_ source: some QueryableSource & FetchableSource) throws {
        let condition = condition()
        let found = model.nodes.keys.filter(condition.holds).map { model.nodes[$0]! }
        guard !found.isEmpty else { return }
        let clause = condition.clause
        let (a, n) = (found.map(\.a), found.compactMap(\.n))
        let from = From<GraphNode>()
        func check<V: Equatable>(_ name: String, _ value: V?, _ expected: V?) throws {
            if value != expected {
                try fail(
                    source,
                    "\(name), \(condition.text): \(value.map { "\($0)" } ?? "nil")"
                        + " instead of \(expected.map { "\($0)" } ?? "nil")")
            }
        }
        try check(
            "sum", try source.queryValue(from, Select<GraphNode, Int>(.sum(\.$a)), clause),
            a.reduce(0, +))
        try check(
            "count", try source.queryValue(from, Select<GraphNode, Int>(.count(\.$n)), clause),
            n.count)
        try check(
            "maximum", try source.queryValue(from, Select<GraphNode, Int>(.maximum(\.$n)), clause),
            n.max())
        try check(
            "minimum", try source.queryValue(from, Select<GraphNode, Int>(.minimum(\.$a)), clause),
            a.min())
        let average = try source.queryValue(
            from, Select<GraphNode, Double>(.average(\.$a)), clause)
        let expected = Double(a.reduce(0, +)) / Double(a.count)
        if abs((average ?? .infinity) - expected) > 1e-9 {
            try fail(source, "the average is \(average ?? -1) instead of \(expected)")
        }
    }

    private mutating func checkGroups(_ source: some QueryableSource & FetchableSource) throws {
        let condition = condition()
        let found = model.nodes.keys.filter(condition.holds).map { model.nodes[$0]! }
        let groups = Dictionary(grouping: found, by: \.n)
        let rows = try source.queryAttributes(
            From<GraphNode>(),
            Select<GraphNode, NSDictionary>(
                .attribute(\.$n), .count(\.$a, as: "count"), .sum(\.$a, as: "sum"),
                .maximum(\.$b, as: "last")),
            condition.clause, GroupBy<GraphNode>(\.$n), OrderBy<GraphNode>(.ascending(\.$n)))
        let lines = rows.map { row in
            "\(row["n"] as? Int ?? -1) \(row["count"] as? Int ?? -1) "
                + "\(row["sum"] as? Decimal ?? -1) \((row["last"] as? String)?.count ?? -1)"
        }
        let expected = groups.sorted { Self.compare($0.key, $1.key) < 0 }.map { key, nodes in
            "\(key ?? -1) \(nodes.count) \(nodes.map(\.a).reduce(0, +)) "
                + "\(nodes.map(\.b).max()?.count ?? -1)"
        }
        if lines != expected {
            try fail(source, "groups of n, \(condition.text): \(lines) instead of \(expected)")
        }
    }
}

extension GraphModel {
    func children(_ number: Int) -> [Int] {
        nodes.filter { $0.value.parent == number }.map(\.key)
    }

    func parts(_ number: Int) -> [Int] { nodes.filter { $0.value.owner == number }.map(\.key) }

    func friends(_ number: Int) -> [Int] {
        friends.filter { $0.first == number }.map(\.second)
    }

    func friendOf(_ number: Int) -> [Int] {
        friends.filter { $0.second == number }.map(\.first)
    }
}
