import ObjectGraph
import PageStore
import Proof
import RecordStore
import TestSupport

/// Reads the bytes of a fuzzer as a file that a program opens by the public API.
///
/// The first byte chooses. 0: the rest is a file. Otherwise its low two bits are the number of a
/// store and the rest are changes of it. With bit 6 they are changes of entries, made by a
/// transaction of the engine: see ``FuzzedEntries``. Without it each change is an offset of three
/// bytes and the byte that is stored there; then the hashes are made correct again, unless bit 7 is
/// set.
///
/// Every error is typed. Where neither `check` nor an error tells of damage, the answers agree with
/// each other, and a transaction leaves a store in which `check` finds nothing.
package struct FuzzedFile {
    private struct Sample {
        var bytes: [UInt8]
        var seal: StoreSeal
        var entries: FuzzedEntries
    }

    private let samples: [Sample]

    package init() throws {
        samples = try [50, 71].map { lastCheckpoint in
            let bytes = try Self.store(1, lastCheckpoint: lastCheckpoint)
            return Sample(
                bytes: bytes, seal: StoreSeal(bytes), entries: try FuzzedEntries(bytes))
        }
    }

    /// A store with links of every kind, the same bytes each time: a transaction writes its objects
    /// in the order of a hash table, so each makes one change.
    ///
    /// - Parameter lastCheckpoint: the commit after which a checkpoint is made; later ones are in
    ///   the log.
    private static func store(_ seed: UInt64, lastCheckpoint: Int) throws -> [UInt8] {
        let disk = SimulatedDisk(seed: seed)
        let graph = try GraphStack(GraphFileScript.storage(disk))
        var random = SeededRandom(seed: seed)
        for round in 0...71 {
            try graph.stack.perform(synchronous: { transaction in
                let nodes = try transaction.fetchAll(
                    From<GraphNode>().orderBy(.ascending(\.$tag)))
                guard !round.isMultiple(of: 4), nodes.count > 1 else {
                    return Self.fill(transaction.create(Into<GraphNode>()), round, &random)
                }
                let first = random.below(nodes.count)
                let second = (first + 1 + random.below(nodes.count - 1)) % nodes.count
                Self.link(nodes[first], nodes[second], round)
            })
            if round == lastCheckpoint { try graph.stack.checkpoint() }
        }
        let bytes = disk.image.bytes(of: GraphFileScript.path)
        try graph.stack.close()
        return bytes ?? []
    }

    private static func fill(_ node: GraphNode, _ round: Int, _ random: inout SeededRandom) {
        (node.a, node.b, node.tag) = (random.below(100), "node \(round)", round)
        node.n = round.isMultiple(of: 8) ? nil : random.below(4)
        node.code = round.isMultiple(of: 12) ? nil : "c\(round)"
        node.blob = Data(random.bytes(round == 32 ? 6000 : random.below(200)))
        node.marks = ["mark \(round)"]
    }

    private static func link(_ node: GraphNode, _ other: GraphNode, _ round: Int) {
        // Not `mate`, which changes the records of both.
        switch round % 7 {
        case 0: node.parent = other
        case 1: node.owner = other
        case 2: node.keeper = other
        case 3, 4: node.friends.insert(other)
        default: if !node.list.contains(other) { node.list.append(other) }
        }
    }

    /// Returns whether damage was found. Throws what no file may lead to.
    package func run(_ input: [UInt8]) throws -> Bool {
        let start = ContinuousClock.now
        defer { precondition(ContinuousClock.now - start < .seconds(20), "it takes too long") }
        let bytes = try file(of: input)
        let findings = try FuzzedEntries.check(bytes)
        do {
            let contradiction = try use(bytes, isSound: findings.isEmpty)
            guard findings.isEmpty, let contradiction else { return !findings.isEmpty }
            throw ProofFailure("check finds nothing, and \(contradiction)")
        } catch {
            try Self.expectTyped(error)
            return true
        }
    }

    private func file(of input: [UInt8]) throws -> [UInt8] {
        guard let kind = input.first, kind != 0 else { return Array(input.dropFirst()) }
        let sample = samples[Int(kind & 3) % samples.count]
        let changes = input.dropFirst()
        guard kind & 0x40 == 0 else { return try sample.entries.file(changedBy: changes) }
        return sample.seal.file(sample.bytes, changedBy: changes, isSealed: kind & 0x80 == 0)
    }

    private static func expectTyped(_ error: any Error) throws {
        let failure = try GraphFileScript.typed(error)
        if case .unknown = failure { throw ProofFailure("an error without a cause") }
        guard let error = failure.storeError else { return }
        guard ![.io, .diskFull, .closed].contains(error.code) else { throw failure }
    }

    // MARK: As a program uses it

    private static func disk(_ bytes: [UInt8]) -> SimulatedDisk {
        var image = DiskImage()
        image.files[1] = bytes
        image.names[GraphFileScript.path] = 1
        return SimulatedDisk(image, seed: 9)
    }

    /// Returns how answers contradict each other.
    private func use(_ bytes: [UInt8], isSound: Bool) throws -> String? {
        let disk = Self.disk(bytes)
        let graph = try GraphStack(GraphFileScript.storage(disk))
        do {
            let view = try graph.stack.beginRead()
            let contradiction = try contradiction(graph, view)
            try Self.edit(graph)
            try graph.stack.close()
            guard isSound, contradiction == nil else { return contradiction }
            let after = disk.image.bytes(of: GraphFileScript.path) ?? []
            return try FuzzedEntries.check(after).first.map { "after a transaction: \($0)" }
        } catch {
            try? graph.stack.close()
            throw error
        }
    }

    private func contradiction(_ graph: GraphStack, _ view: ReadView) throws -> String? {
        for node in try view.fetchAll(From<GraphNode>()) { _ = graph.add(node) }
        do {
            let model = try graph.graph(view)
            try graph.check(view, model, "the view")
            let nodes = model.nodes.values
            for n in Set(nodes.map(\.n)) {
                let count = try view.fetchCount(From<GraphNode>().where(\.$n == n))
                guard count == nodes.count(where: { $0.n == n }) else {
                    return "the index has \(count) objects with n \(n ?? -1)"
                }
            }
            let ordered = try view.fetchAll(From<GraphNode>().orderBy(.ascending(\.$a))).map(\.a)
            guard ordered == nodes.map(\.a).sorted() else { return "the order is \(ordered)" }
            let hasLargeChild = Where<GraphNode>("ANY children.a >= 50")
            let parents = try view.fetchCount(From<GraphNode>().where(hasLargeChild))
            let expected = Set(nodes.filter { $0.a >= 50 }.compactMap(\.parent)).count
            guard parents == expected else {
                return "\(parents) objects have such children, not \(expected)"
            }
        } catch let failure as ProofFailure {
            return failure.description
        }
        return nil
    }

    /// A transaction that changes objects and links of every kind.
    static func edit(_ graph: GraphStack) throws {
        try graph.stack.perform(synchronous: { transaction in
            let nodes = try transaction.fetchAll(
                From<GraphNode>().orderBy(.descending(\.$tag)))
            let new = transaction.create(Into<GraphNode>())
            (new.a, new.b, new.tag) = (51, "new", 1000)
            for (index, node) in nodes.prefix(4).enumerated() {
                node.a = index
                node.b += "more"
                node.parent = new
                node.friends.insert(new)
                node.list.append(new)
                node.marks.append("edited")
            }
            new.mate = nodes.first
            new.blob = Data(repeating: 7, count: 3000)
            // One with `kept` objects may not be deleted.
            if let last = nodes.last(where: { $0.kept.isEmpty }) { transaction.delete(last) }
        })
    }
}
