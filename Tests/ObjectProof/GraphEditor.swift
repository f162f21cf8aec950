import Foundation
import ObjectGraph
import Proof
import TestSupport

/// Random changes of a transaction and equal ones of its model.
final class GraphEditor {
    let graph: GraphStack
    var random: SeededRandom
    private(set) var trace: [String] = []
    /// The largest size of a blob or a text.
    var blobBytesMax = 600
    private var tagCount = 0

    init(_ graph: GraphStack, seed: UInt64) {
        self.graph = graph
        random = SeededRandom(seed: seed)
    }

    func note(_ text: String) { trace.append(text) }

    // MARK: Choosing

    func pick(_ state: GraphModel) -> Int? {
        let numbers = state.nodes.keys.sorted()
        return numbers.isEmpty ? nil : numbers[random.below(numbers.count)]
    }

    func pick(_ state: GraphModel, _ count: Int) -> [Int] {
        var picked: [Int] = []
        for _ in 0..<count {
            if let number = pick(state), !picked.contains(number) { picked.append(number) }
        }
        return picked
    }

    /// Nil, a few bytes, or too many for the record.
    func blob() -> Data? {
        switch random.below(5) {
        case 0: return nil
        case 1, 2: return Data(random.bytes(random.below(40)))
        case 3: return Data(random.bytes(1 + random.below(blobBytesMax)))
        default:
            // Easily compressed.
            let part = random.bytes(4)
            let count = 1 + random.below(blobBytesMax)
            return Data((0..<count).map { part[$0 & 3] })
        }
    }

    private static let codes = (0..<14).map { "c\($0 + 10)" }

    func code() -> String { Self.codes[random.below(Self.codes.count)] }

    /// A unique value that no object has.
    private func freeCode(_ state: GraphModel) -> String? {
        let code = code()
        return state.nodes.values.contains { $0.code == code } ? nil : code
    }

    // MARK: Editing

    /// Creates an object.
    func create(
        _ transaction: BaseDataTransaction, _ state: inout GraphModel
    ) -> (number: Int, node: GraphNode) {
        let node = transaction.create(Into<GraphNode>())
        let number = graph.add(node)
        node.tag = number
        state.nodes[number] = GraphModel.Node(tag: number)
        return (number, node)
    }

    /// One change. Returns the object when it is new.
    ///
    /// - Parameters:
    ///   - mates: whether links may be set of which one side takes another's.
    ///   - codes: whether unique values, imports and statements may be among them.
    func edit(
        _ transaction: BaseDataTransaction, _ state: inout GraphModel,
        _ denials: inout GraphModel.Denials, mates: Bool, codes: Bool
    ) throws -> (number: Int, node: GraphNode)? {
        guard let number = pick(state), random.below(5) > 0 || state.nodes.count > 25 else {
            let made = create(transaction, &state)
            made.node.a = random.below(100)
            state.nodes[made.number]?.a = made.node.a
            trace.append("create \(made.number)")
            return made
        }
        let node = try graph.node(number, transaction)
        let kind = random.below(codes ? 21 : 17)
        trace.append("edit \(kind) \(number)")
        switch kind {
        case 0..<8: setValue(kind, node, number, &state)
        case 8..<15: try setLink(kind, node, number, transaction, &state, mates: mates)
        case 17, 18: setCode(node, number, &state)
        case 19: try importSome(transaction, &state)
        case 20: try runStatement(transaction, &state, &denials)
        default:
            transaction.delete(node)
            state.delete(number, &denials)
        }
        return nil
    }

    private func setValue(
        _ kind: Int, _ node: GraphNode, _ number: Int, _ state: inout GraphModel
    ) {
        switch kind {
        case 0..<2:
            node.a = random.below(100)
            state.nodes[number]?.a = node.a
        case 2, 3:
            let isLong = random.below(6) == 0
            node.b = String(repeating: "b", count: random.below(isLong ? blobBytesMax : 60))
            state.nodes[number]?.b = node.b
        case 4, 5:
            let value = random.below(4) == 0 ? nil : random.below(6)
            node.n = value
            state.nodes[number]?.n = value
        case 6:
            let marks = (0..<random.below(4)).map { "mark \($0) \(random.below(9))" }
            node.marks = marks
            state.nodes[number]?.marks = marks
        default:
            let value = blob()
            node.blob = value
            state.nodes[number]?.blob = value
        }
    }

    private func setCode(_ node: GraphNode, _ number: Int, _ state: inout GraphModel) {
        let code = random.below(5) == 0 ? nil : freeCode(state)
        node.code = code
        state.nodes[number]?.code = code
        trace.append("code \(code ?? "nil")")
    }

    private func setLink(
        _ kind: Int, _ node: GraphNode, _ number: Int, _ transaction: BaseDataTransaction,
        _ state: inout GraphModel, mates: Bool
    ) throws {
        let other = random.below(5) == 0 ? nil : pick(state)
        let target = try other.map { try graph.node($0, transaction) }
        trace.append("to \(other ?? -1)")
        switch kind {
        case 8:
            node.parent = target
            state.nodes[number]?.parent = other
        case 9, 10:
            node.owner = target
            state.nodes[number]?.owner = other
        case 11:
            node.keeper = random.below(3) == 0 ? target : nil
            state.nodes[number]?.keeper = node.keeper == nil ? nil : other
        case 12 where mates:
            node.mate = target
            state.setMate(other, of: number)
        case 12, 13: try setFriends(node, number, transaction, &state)
        default: try setList(node, number, transaction, &state)
        }
    }

    private func setFriends(
        _ node: GraphNode, _ number: Int, _ transaction: BaseDataTransaction,
        _ state: inout GraphModel
    ) throws {
        let friends = pick(state, random.below(4))
        node.friends = Set(try friends.map { try graph.node($0, transaction) })
        state.friends = state.friends.filter { $0.first != number }
        for friend in friends {
            state.friends.insert(GraphModel.Pair(first: number, second: friend))
        }
    }

    private func setList(
        _ node: GraphNode, _ number: Int, _ transaction: BaseDataTransaction,
        _ state: inout GraphModel
    ) throws {
        var list = state.list(number)
        for other in pick(state, 2) where !list.contains(other) {
            list.insert(other, at: random.below(list.count + 1))
        }
        if list.count > 2 { list.remove(at: random.below(list.count)) }
        if random.below(4) == 0 { list.reverse() }
        node.list = try list.map { try graph.node($0, transaction) }
        state.setList(list, of: number)
    }

    // MARK: Many at once

    /// Of several sources with one code the last is used, at the place of the first.
    private func importSome(
        _ transaction: BaseDataTransaction, _ state: inout GraphModel
    ) throws {
        let sources = (0...random.below(5)).map { _ in
            GraphNode.ImportSource(
                code: code(), a: random.below(100),
                n: random.below(2) == 0 ? nil : random.below(6),
                blob: random.below(3) == 0 ? blob() : nil)
        }
        let objects = try transaction.importUniqueObjects(
            Into<GraphNode>(), sourceArray: sources)
        var order: [String] = []
        for source in sources where !order.contains(source.code) { order.append(source.code) }
        trace.append("import \(order)")
        guard objects.count == order.count else {
            try GraphStack.throwFault(transaction)
            throw ProofFailure("\(objects.count) objects of \(order.count) codes were imported")
        }
        for (object, code) in zip(objects, order) {
            guard let source = sources.last(where: { $0.code == code }) else { continue }
            let number: Int
            if let known = state.nodes.first(where: { $0.value.code == code })?.key {
                number = known
                guard graph.number(object.objectID()) == known else {
                    try GraphStack.throwFault(transaction)
                    throw ProofFailure("the import of \(code) changed another object")
                }
            } else {
                number = graph.add(object)
                object.tag = number
                state.nodes[number] = GraphModel.Node(tag: number, code: code)
            }
            state.nodes[number]?.a = source.a
            if let n = source.n { state.nodes[number]?.n = n }
            if let blob = source.blob { state.nodes[number]?.blob = blob }
        }
    }

    private func runStatement(
        _ transaction: BaseDataTransaction, _ state: inout GraphModel,
        _ denials: inout GraphModel.Denials
    ) throws {
        let bound = random.below(100)
        if random.below(4) == 0 {
            trace.append("delete all \(bound)..<\(bound + 3)")
            try transaction.deleteAll(
                From<GraphNode>().where(\.$a >= bound && \.$a < bound + 3))
            let found = state.nodes.filter { (bound..<bound + 3).contains($0.value.a) }
            for number in found.keys.sorted() { state.delete(number, &denials) }
        } else {
            trace.append("update all \(bound)...")
            try transaction.update(
                From<GraphNode>().where(\.$a >= bound), set: .sum(\.$a, -7), .value(\.$n, 3))
            for number in state.nodes.filter({ $0.value.a >= bound }).keys {
                state.nodes[number]?.a -= 7
                state.nodes[number]?.n = 3
            }
        }
    }
}
