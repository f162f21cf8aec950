import Dispatch
import ObjectGraph
import PageStore

/// Reads a store that another process writes.
struct ReadingUse {
    let path: String

    private func open() throws -> Engine {
        var options = Engine.Options()
        options.mode = .reading
        options.cacheSizeInBytes = 1 << 20
        return try Engine.open(path: path, options: options)
    }

    /// Goes from commit to commit and prints each one's number and how much was wrong with it.
    func watch() throws {
        let engine = try open()
        while true {
            let snapshot = try engine.snapshot()
            let findings = StoreCheck.run(snapshot)
            KillChild.say("\(snapshot.commitNumber) \(findings.count)")
            for finding in findings { KillChild.say("wrong: \(finding)") }
            while try !engine.advance() { usleep(1000) }
        }
    }

    /// Prints what one snapshot holds, and again for each line of input.
    func keep() throws {
        let engine = try open()
        let snapshot = try engine.snapshot()
        repeat {
            var digest: UInt64 = 0
            for place in try snapshot.pagePlaces() {
                digest = Checksum.hash(try snapshot.page(place.page).view, seed: digest)
            }
            KillChild.say("\(snapshot.commitNumber) \(digest)")
        } while readLine() != nil
    }

    /// Has a stack follow the writer, and prints the last batch of each state that its view shows
    /// and how many batches are not whole.
    func follow() throws -> Never {
        let queue = DispatchQueue(label: "view")
        let stack = try KillChild.stack(path: path, viewContext: .queue(queue)) {
            $0.isReadOnly = true
        }
        let commits = stack.externalCommits
        try queue.sync { try report(stack) }
        Task {
            do {
                for try await _ in commits { try queue.sync { try report(stack) } }
            } catch {
                KillChild.say("error: \(error)")
            }
            exit(7)
        }
        dispatchMain()
    }

    private func report(_ stack: DataStack) throws {
        let rows = try stack.queryAttributes(
            From<KillChild.Entry>()
                .select(.attribute(\.$batch), .count(\.$position, as: "count"))
                .groupBy(\.$batch))
        var counts: [Int64: Int64] = [:]
        for row in rows { counts[row["batch"] as? Int64 ?? -1] = row["count"] as? Int64 ?? -1 }
        let last = counts.keys.max() ?? 0
        let expected = Array(max(1, last - 59)..<max(1, last + 1))
        let wrong =
            expected.count { counts[$0] != 1 + $0 % 40 } + abs(counts.count - expected.count)
        KillChild.say("\(last) \(wrong)")
    }
}
