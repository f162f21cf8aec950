import ObjectGraph

/// Uses a store on both sides of a fork, and prints the outcome of each.
struct ForkedUse {
    let stack: DataStack

    func run() throws {
        try create(1)
        // The overlay hides `fork`, because of what it does to threads: that is the point here.
        typealias Fork = @convention(c) () -> pid_t
        guard let symbol = dlsym(nil, "fork") else { exit(3) }
        let fork = unsafeBitCast(symbol, to: Fork.self)
        let child = fork()
        if child == 0 { useInChild() }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        KillChild.say("child ended \(status)")
        try create(2)
        stack.unsafeRemoveAllPersistentStoresAndWait()
        KillChild.say("parent committed")
    }

    private func create(_ batch: Int) throws {
        try stack.perform(synchronous: { transaction in
            for position in 0..<100 {
                let entry = transaction.create(Into<KillChild.Entry>())
                (entry.batch, entry.position) = (batch, position)
            }
        })
    }

    private func useInChild() -> Never {
        do {
            try create(9)
            KillChild.say("child wrote")
        } catch {
            KillChild.say("child write: \(error)")
        }
        do {
            let count = try stack.fetchCount(From<KillChild.Entry>())
            KillChild.say("child read \(count)")
        } catch {
            KillChild.say("child fetch: \(error)")
        }
        // As at a program's normal end.
        stack.unsafeRemoveAllPersistentStoresAndWait()
        _exit(0)
    }
}
