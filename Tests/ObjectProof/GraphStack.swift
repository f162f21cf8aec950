import ObjectGraph
import Proof

/// An object with every kind of link.
final class GraphNode: CoreStoreObject {
    @Field.Stored("a") var a: Int = 0
    @Field.Stored("b") var b: String = ""
    @Field.Relationship("parent") var parent: GraphNode?
    @Field.Relationship("children", inverse: \.$parent) var children: Set<GraphNode>
    @Field.Relationship("owner") var owner: GraphNode?
    @Field.Relationship("parts", inverse: \.$owner, deleteRule: .cascade) var parts: [GraphNode]
    @Field.Relationship("keeper") var keeper: GraphNode?
    @Field.Relationship("kept", inverse: \.$keeper, deleteRule: .deny) var kept: Set<GraphNode>
    @Field.Relationship("mate", inverse: \.$mateOf) var mate: GraphNode?
    @Field.Relationship("mateOf") var mateOf: GraphNode?
    @Field.Relationship("friends", inverse: \.$friendOf) var friends: Set<GraphNode>
    @Field.Relationship("friendOf") var friendOf: Set<GraphNode>
    @Field.Relationship("list") var list: [GraphNode]
}

/// A stack beside the models, and which object of the script each ID is.
final class GraphStack {
    let stack: DataStack
    let queue = DispatchQueue(label: "view")
    private var ids: [NSManagedObjectID] = []
    private var numbers: [NSManagedObjectID: Int] = [:]

    init() throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<GraphNode>("Node", indexes: [[\.$a]])]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
    }

    /// Names an object that was created.
    func add(_ node: GraphNode) -> Int {
        numbers[node.objectID()] = ids.count
        ids.append(node.objectID())
        return ids.count - 1
    }

    func number(_ id: NSManagedObjectID) -> Int { numbers[id] ?? -1 }

    func number(_ node: GraphNode?) -> Int? { node.map { number($0.objectID()) } }

    func node(_ number: Int, _ source: some FetchableSource) throws -> GraphNode {
        guard let node = source.fetchExisting(ids[number]) as GraphNode? else {
            throw ProofFailure("object \(number) is not there")
        }
        return node
    }

    func exists(_ number: Int, _ source: some FetchableSource) -> Bool {
        source.fetchExisting(ids[number]) as GraphNode? != nil
    }

    /// All that a source shows, once both sides of every link agree.
    func graph(_ source: some FetchableSource) throws -> GraphModel {
        var graph = GraphModel()
        var inverse: Set<String> = []
        var forward: Set<String> = []
        for node in try source.fetchAll(From<GraphNode>()) {
            let name = number(node.objectID())
            graph.nodes[name] = GraphModel.Node(
                a: node.a, b: node.b, parent: number(node.parent), owner: number(node.owner),
                keeper: number(node.keeper), mate: number(node.mate))
            for friend in node.friends {
                graph.friends.insert(
                    GraphModel.Pair(first: name, second: number(friend.objectID())))
            }
            graph.setList(node.list.map { number($0.objectID()) }, of: name)
            if let other = number(node.parent) { forward.insert("\(other) child \(name)") }
            if let other = number(node.owner) { forward.insert("\(other) part \(name)") }
            if let other = number(node.keeper) { forward.insert("\(other) kept \(name)") }
            if let other = number(node.mate) { forward.insert("\(other) mate \(name)") }
            for friend in node.friends { forward.insert("\(number(friend) ?? -1) friend \(name)") }
            for child in node.children { inverse.insert("\(name) child \(number(child) ?? -1)") }
            for part in node.parts { inverse.insert("\(name) part \(number(part) ?? -1)") }
            for kept in node.kept { inverse.insert("\(name) kept \(number(kept) ?? -1)") }
            if let mate = number(node.mateOf) { inverse.insert("\(name) mate \(mate)") }
            for friend in node.friendOf { inverse.insert("\(name) friend \(number(friend) ?? -1)") }
        }
        guard forward == inverse else {
            let difference = forward.symmetricDifference(inverse).sorted()
            throw ProofFailure("the two sides of links differ: \(difference)")
        }
        return graph
    }

    /// Throws unless a source shows a graph, by a scan and by an index.
    func check(_ source: some FetchableSource, _ expected: GraphModel, _ name: String) throws {
        let found = try graph(source)
        guard found == expected else {
            throw ProofFailure("\(name) shows\n\(found)\ninstead of\n\(expected)")
        }
        let count = try source.fetchCount(From<GraphNode>().where(\.$a >= 50))
        guard count == expected.nodes.values.count(where: { $0.a >= 50 }) else {
            throw ProofFailure("\(name) finds \(count) by the index")
        }
    }
}
