import Dispatch
import ObjectGraph
import Proof
import TestSupport

/// Monitors of unsafe transactions over random changes, undos, redos, rollbacks and commits beside
/// other commits: after each step a list equals a fetch, and the reported changes lead from the
/// list before to it.
package struct EditedLists {
    private struct Observed {
        let request: KennelRequest
        let monitor: ListMonitor<Pet>
        let mirror: ListMirror

        init(_ request: KennelRequest, _ transaction: UnsafeDataTransaction) {
            self.request = request
            monitor = request.monitor(transaction)
            mirror = ListMirror(request, isEdited: true)
            mirror.begin(monitor)
            monitor.addObserver(mirror)
        }
    }

    private let seed: UInt64
    private var random: SeededRandom
    private var trace: [String] = []

    package init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
    }

    /// Takes this many steps, 30 for each transaction; returns how many were taken.
    package mutating func run(_ count: Int) throws -> Int {
        var done = 0
        while done < count {
            trace = []
            do {
                try runTransaction()
                ProofProgress.note("edited transactions")
            } catch {
                let steps = trace.joined(separator: "; ")
                throw ProofFailure("edited lists, seed \(seed): \(steps): \(error)")
            }
            done += 30
        }
        return done
    }

    private mutating func runTransaction() throws {
        let stack = try Kennel.stack(.queue(DispatchQueue(label: "view")))
        for count in [0, 12, 12] {
            try stack.perform(synchronous: { transaction in
                if count == 0 { Kennel.addMany(transaction, &random, 40) }
                try Kennel.act(transaction, &random, count: count)
            })
        }
        let transaction = stack.beginUnsafe(supportsUndo: random.below(4) > 0)
        var observed: [Observed] = []
        for _ in 0..<3 { observed.append(Observed(.random(&random), transaction)) }
        for _ in 0..<30 {
            try step(transaction, stack)
            for list in observed { try check(list, transaction) }
            if random.below(8) == 0 {
                observed[random.below(3)] = Observed(.random(&random), transaction)
            }
        }
    }

    private mutating func step(
        _ transaction: UnsafeDataTransaction, _ stack: DataStack
    ) throws {
        let kind = random.below(10)
        trace.append("\(kind)")
        switch kind {
        case 0..<4:
            try Kennel.act(transaction, &random, count: random.below(6) + 1)
            transaction.flush()
        case 4, 5:
            if transaction.canUndo { transaction.undo() } else { transaction.flush() }
        case 6:
            if transaction.supportsUndo { transaction.redo() }
        case 7:
            try Kennel.act(transaction, &random, count: 3)
            transaction.rollback()
        case 8:
            try stack.perform(synchronous: { try Kennel.act($0, &random, count: 4) })
        default:
            // Sometimes other changes are pending.
            if random.below(2) == 0 { try Kennel.act(transaction, &random, count: 3) }
            try transaction.commitAndWait()
        }
    }

    private func check(_ list: Observed, _ transaction: UnsafeDataTransaction) throws {
        if let fault = list.mirror.faults.first {
            throw ProofFailure("\(list.request.chain): \(fault)")
        }
        let fetched = try transaction.fetchAll(list.request.chain)
        guard list.monitor.objectsInAllSections() == fetched else {
            throw ProofFailure("a list is not what a fetch gives: \(list.request.chain)")
        }
        for (index, pet) in fetched.enumerated() {
            let found = list.monitor.index(of: pet)
            guard found != index else { continue }
            throw ProofFailure(
                "the object at \(index) has the index \(found ?? -1): \(list.request.chain)")
        }
    }
}
