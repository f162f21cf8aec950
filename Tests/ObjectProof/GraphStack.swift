import Foundation
import ObjectGraph
import Proof

/// An object with every kind of property and link.
final class GraphNode: CoreStoreObject {
    @Field.Stored("a") var a: Int = 0
    @Field.Stored("b") var b: String = ""
    @Field.Stored("tag") var tag: Int = 0
    @Field.Stored("n") var n: Int?
    @Field.Stored("code") var code: String?
    @Field.Stored("blob") var blob: Data?
    @Field.Coded("marks", coder: FieldCoders.Json.self) var marks: [String] = []
    @Field.Virtual("double", customGetter: { object, _ in object.$a.value &* 2 })
    var double: Int
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

extension GraphNode: ImportableUniqueObject {
    /// An import source of one object; nil for values that it lacks.
    struct ImportSource {
        var code: String
        var a: Int
        var n: Int?
        var blob: Data?
    }

    static var uniqueIDKeyPath: String { "code" }

    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> String? { source.code }

    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        a = source.a
        if let n = source.n { self.n = n }
        if let blob = source.blob { self.blob = blob }
    }
}

/// The object of the script for each ID.
struct GraphNames {
    private(set) var ids: [NSManagedObjectID] = []
    private var numbers: [NSManagedObjectID: Int] = [:]

    /// Names an object that was created. The ID of a failed commit's object is used again.
    mutating func add(_ id: NSManagedObjectID) -> Int {
        numbers[id] = ids.count
        ids.append(id)
        return ids.count - 1
    }

    func number(_ id: NSManagedObjectID) -> Int? { numbers[id] }
}

/// A stack and the names that connect its objects with the models.
final class GraphStack {
    let stack: DataStack
    let queue = DispatchQueue(label: "view")
    let policy: UniqueConflictPolicy
    var names: GraphNames

    init(
        _ storage: any StorageInterface = InMemoryStore(),
        policy: UniqueConflictPolicy = .transactionWins, names: GraphNames = GraphNames()
    ) throws(CoreStoreError) {
        self.policy = policy
        self.names = names
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<GraphNode>(
                        "Node", indexes: [[\.$a], [\.$n]], uniqueConstraints: [[\.$code]],
                        conflictPolicies: [policy])
                ],
                // Without the lock each opening would print it.
                versionLock: [
                    "Node": [
                        0x123d_82f9_6a3e_9a0b, 0x97a0_8237_e7b6_2e5c, 0x67b0_97ec_0dd4_cc7d,
                        0xae3c_1961_ac52_e11c,
                    ]
                ]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(storage)
    }

    /// Names an object that was created.
    func add(_ node: GraphNode) -> Int { names.add(node.objectID()) }

    func number(_ id: NSManagedObjectID) -> Int { names.number(id) ?? -1 }

    func number(_ node: GraphNode?) -> Int? { node.map { number($0.objectID()) } }

    func node(_ number: Int, _ source: some FetchableSource) throws -> GraphNode {
        guard let node = source.fetchExisting(names.ids[number]) as GraphNode? else {
            try Self.throwFault(source)
            throw ProofFailure("object \(number) is not there")
        }
        return node
    }

    func exists(_ number: Int, _ source: some FetchableSource) -> Bool {
        source.fetchExisting(names.ids[number]) as GraphNode? != nil
    }

    /// The whole content of a source, once both sides of every link agree.
    func graph(_ source: some FetchableSource) throws -> GraphModel {
        var graph = GraphModel()
        var inverse: Set<String> = []
        var forward: Set<String> = []
        for node in try source.fetchAll(From<GraphNode>()) {
            let name = number(node.objectID())
            graph.nodes[name] = GraphModel.Node(
                a: node.a, b: node.b, tag: node.tag, n: node.n, code: node.code, blob: node.blob,
                marks: node.marks, parent: number(node.parent), owner: number(node.owner),
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
            try Self.throwFault(source)
            let difference = forward.symmetricDifference(inverse).sorted()
            throw ProofFailure("the two sides of links differ: \(difference)")
        }
        return graph
    }

    /// The next fetch throws the read error of a getter.
    static func throwFault(_ source: some FetchableSource) throws {
        _ = try source.fetchCount(From<GraphNode>())
    }

    /// Throws unless a source shows a graph, by a scan, by an index and by the count that the store
    /// keeps of an entity's objects.
    func check(_ source: some FetchableSource, _ expected: GraphModel, _ name: String) throws {
        let found = try graph(source)
        guard found == expected else {
            try Self.throwFault(source)
            throw ProofFailure("\(name) shows\n\(found.difference(from: expected))")
        }
        let count = try source.fetchCount(From<GraphNode>().where(\.$a >= 50))
        guard count == expected.nodes.values.count(where: { $0.a >= 50 }) else {
            throw ProofFailure("\(name) finds \(count) by the index")
        }
        let all = try source.fetchCount(From<GraphNode>())
        guard all == expected.nodes.count else {
            throw ProofFailure("\(name) counts \(all) objects of \(expected.nodes.count)")
        }
    }
}

extension GraphModel {
    /// The differences, for the trace.
    func difference(from expected: GraphModel) -> String {
        var lines: [String] = []
        for number in Set(nodes.keys).union(expected.nodes.keys).sorted()
        where nodes[number] != expected.nodes[number] {
            let (mine, other) = (
                nodes[number].map { "\($0)" }, expected.nodes[number].map { "\($0)" }
            )
            lines.append("\(number): \(mine ?? "nothing") instead of \(other ?? "nothing")")
        }
        let pairs = friends.symmetricDifference(expected.friends)
        if !pairs.isEmpty { lines.append("friends that differ: \(pairs)") }
        if lists != expected.lists { lines.append("lists \(lists) instead of \(expected.lists)") }
        return lines.joined(separator: "\n")
    }
}
