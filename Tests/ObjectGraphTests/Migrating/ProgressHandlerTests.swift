import Dispatch
import Primitives
import Testing

@testable import ObjectGraph

/// How often the handler of a migration's progress is called.
@Suite struct ProgressHandlerTests {
    private let queue = DispatchQueue(label: "view")

    private func calls(_ report: (Progress) -> Void) -> [Int64] {
        let progress = Progress(totalUnitCount: 100_000)
        MigrationProgressTable.add(progress, ViewExecutor(.queue(queue)))
        let counts = Mutex<[Int64]>([])
        progress.setProgressHandler { progress in
            let count = progress.completedUnitCount
            counts.withLock { $0.append(count) }
        }
        report(progress)
        return queue.sync { counts.withLock { $0 } }
    }

    @Test func `a fast migration called its handler for each percent`() {
        let start = ContinuousClock.now
        let counts = calls { progress in
            for count in 1...progress.totalUnitCount {
                MigrationProgressTable.report(count, of: progress)
            }
        }
        let intervals = Int((ContinuousClock.now - start) / .milliseconds(50))
        // The state when it was set, the first change, one for each interval, and the end.
        #expect(counts.count <= 3 + intervals, "\(counts.count) in \(intervals) intervals")
        #expect(counts.count >= 3 && counts.last == 100_000)
        #expect(counts == counts.sorted())
    }

    @Test func `a handler was kept after the end of its migration`() {
        final class Owner: Sendable {}
        let progress = Progress(totalUnitCount: 10)
        MigrationProgressTable.add(progress, ViewExecutor(.queue(queue)))
        let counts = Mutex<[Int64]>([])
        weak var released: Owner?
        do {
            let owner = Owner()
            released = owner
            progress.setProgressHandler { progress in
                let count = progress.completedUnitCount
                withExtendedLifetime(owner) { counts.withLock { $0.append(count) } }
            }
            queue.sync {}
        }
        #expect(released != nil)
        MigrationProgressTable.end(progress, isDone: true)
        queue.sync {}
        #expect(released == nil && counts.withLock { $0 } == [0, 10])
        // A later one is called once, and not kept either.
        do {
            let owner = Owner()
            released = owner
            progress.setProgressHandler { _ in withExtendedLifetime(owner) {} }
        }
        queue.sync {}
        #expect(released == nil)
    }

    @Test func `a slow migration calls its handler for each change`() {
        let counts = calls { progress in
            for count in 1...Int64(4) {
                MigrationProgressTable.report(count, of: progress)
                queue.sync {}
                Thread.sleep(forTimeInterval: 0.06)
            }
        }
        #expect(counts.dropFirst() == [1, 2, 3, 4])
    }
}
