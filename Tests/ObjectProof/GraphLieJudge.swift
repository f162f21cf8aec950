import ObjectGraph
import PageStore
import Proof
import RecordStore
import TestSupport

/// Uses a store that lies as programs do, and says what becomes of the lie: see ``GraphLies``.
struct GraphLieJudge {
    /// Errors of files that are not what they seem, or that no program's model fits.
    private static let codes: [StoreError.Code] = [
        .corrupt, .truncated, .notAStore, .newerFormat, .newerModel, .schemaMismatch, .tooLarge,
    ]

    private let sample: GraphLies.Sample

    init(_ sample: GraphLies.Sample) { self.sample = sample }

    /// Throws what no file may lead to.
    ///
    /// - Parameter reach: how many objects may have other values.
    func judge(_ bytes: [UInt8], reach: Int = 0) throws -> GraphLies.Verdict {
        let isReported = try !FuzzedEntries.check(bytes).isEmpty
        var verdict: GraphLies.Verdict
        do {
            verdict = try use(bytes, reach, isReported: isReported)
        } catch {
            try requireCode(GraphFileScript.typed(error))
            verdict = .named
        }
        do {
            try write(
                bytes,
                isSound: !isReported && (verdict == .harmless || verdict == .anotherValue))
        } catch {
            let failure = try GraphFileScript.typed(error)
            // Damage that only a writer meets is named too.
            try requireCode(failure)
            if !isReported { verdict = .named }
        }
        return isReported ? .reported : verdict
    }

    private func requireCode(_ failure: CoreStoreError) throws {
        if case .unknown = failure { throw ProofFailure("an error without a cause") }
        // Errors of models that differ have no storage's error.
        guard let error = failure.storeError else { return }
        guard Self.codes.contains(error.code) else {
            throw ProofFailure("an error that does not say that the file is damaged: \(failure)")
        }
        guard error.page != nil || error.byteOffset != nil || error.path != nil else {
            throw ProofFailure("an error of damage that names no place: \(failure)")
        }
    }

    private func open(_ disk: SimulatedDisk, isReadOnly: Bool) throws -> GraphStack {
        try GraphStack(
            GraphFileScript.storage(disk, isReadOnly: isReadOnly), policy: sample.policy,
            names: sample.names)
    }

    private func disk(_ bytes: [UInt8]) -> SimulatedDisk {
        var image = DiskImage()
        image.files[1] = bytes
        image.names[GraphFileScript.path] = 1
        return SimulatedDisk(image, seed: 9)
    }

    // MARK: Reading

    private func use(
        _ bytes: [UInt8], _ reach: Int, isReported: Bool
    ) throws -> GraphLies.Verdict {
        let graph = try open(disk(bytes), isReadOnly: true)
        defer { try? graph.stack.close() }
        let view = try graph.stack.beginRead()
        do {
            let found = try graph.graph(view)
            try GraphStack.throwFault(view)
            let isExplained = found == sample.state || isAnotherValue(found, reach)
            // After a finding any answer is permitted, and all are asked for.
            guard isExplained || isReported else {
                throw ProofFailure(
                    "check finds nothing, and answers are wrong:\n"
                        + found.difference(from: sample.state))
            }
            try ask(view, graph, isExplained ? found : sample.state)
            return found == sample.state ? .harmless : .anotherValue
        } catch let failure as ProofFailure {
            try GraphStack.throwFault(view)
            guard isReported else { throw failure }
            return .reported
        }
    }

    private func ask(_ view: ReadView, _ graph: GraphStack, _ state: GraphModel) throws {
        try graph.check(view, state, "a view")
        var queries = GraphQueries(graph, state, seed: sample.seed)
        try queries.check(view, 4)
        try graph.queue.sync { try graph.check(graph.stack, state, "the view") }
    }

    /// Whether a graph is what another valid file shows: see ``GraphLies``.
    private func isAnotherValue(_ found: GraphModel, _ reach: Int) -> Bool {
        let truth = sample.state
        guard Set(found.nodes.keys) == Set(truth.nodes.keys), found.friends == truth.friends
        else { return false }
        let differing = found.nodes.keys.filter {
            found.nodes[$0] != truth.nodes[$0] || found.list($0) != truth.list($0)
        }
        return differing.count <= reach
            && differing.allSatisfy { number in
                guard let own = found.nodes[number], var expected = truth.nodes[number] else {
                    return false
                }
                (expected.b, expected.tag) = (own.b, own.tag)
                (expected.blob, expected.marks) = (own.blob, own.marks)
                return own == expected
                    && found.list(number).allSatisfy { truth.nodes[$0] != nil }
            }
    }

    // MARK: Writing

    /// A transaction in a store that seems sound leaves one.
    private func write(_ bytes: [UInt8], isSound: Bool) throws {
        let disk = disk(bytes)
        let graph = try open(disk, isReadOnly: false)
        do {
            try FuzzedFile.edit(graph)
            try graph.stack.close()
        } catch {
            try? graph.stack.close()
            let failure = try GraphFileScript.typed(error)
            // A rule of the schema may refuse it.
            guard failure.storeError == nil else { throw failure }
            return
        }
        guard isSound else { return }
        let after = disk.image.bytes(of: GraphFileScript.path) ?? []
        if let finding = try FuzzedEntries.check(after).first {
            throw ProofFailure("after a transaction: \(finding)")
        }
    }
}
