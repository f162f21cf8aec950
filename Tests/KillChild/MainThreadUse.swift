import ObjectGraph
import Synchronization

/// Ten thousand transactions on the main thread beside others in the background: none waits
/// forever, nothing is lost, and completions run on the main queue in the order of their
/// transactions.
struct MainThreadUse {
    private static let synchronousCount = 10_000
    private static let asynchronousCount = 2_000
    private static let completed = Mutex<[Int]>([])

    let stack: DataStack

    func run() throws {
        guard Thread.isMainThread else { exit(4) }
        let id = try stack.perform(synchronous: { transaction in
            transaction.create(Into<KillChild.Entry>()).objectID()
        })
        var seen = 0
        for round in 0..<Self.synchronousCount {
            if round % 5 == 0 { begin(round / 5, id) }
            try stack.perform(synchronous: { transaction in
                let entry: KillChild.Entry? = transaction.fetchExisting(id)
                entry?.position += 1
            })
            // On the view's own thread the view has moved when the call returns.
            let position = (stack.fetchExisting(id) as KillChild.Entry?)?.position ?? -1
            guard position > seen else { exit(5) }
            seen = position
        }
        KillChild.say("done \(Self.synchronousCount)")
        DispatchQueue.main.async { waitForCompletions(id) }
        dispatchMain()
    }

    private func begin(_ number: Int, _ id: NSManagedObjectID) {
        stack.perform(
            asynchronous: { transaction in
                let entry: KillChild.Entry? = transaction.fetchExisting(id)
                entry?.batch += 1
                return number
            },
            completion: { result in
                Self.completed.withLock { $0.append((try? result.get()) ?? -1) }
            })
    }

    private func waitForCompletions(_ id: NSManagedObjectID) {
        let completed = Self.completed.withLock { $0 }
        guard completed.count == Self.asynchronousCount else {
            DispatchQueue.main.asyncAfter(deadline: .now() + 0.01) { waitForCompletions(id) }
            return
        }
        let entry: KillChild.Entry? = stack.fetchExisting(id)
        KillChild.say("positions \(entry?.position ?? -1) batches \(entry?.batch ?? -1)")
        KillChild.say("in order \(completed == Array(0..<Self.asynchronousCount))")
        stack.unsafeRemoveAllPersistentStoresAndWait()
        exit(0)
    }
}
