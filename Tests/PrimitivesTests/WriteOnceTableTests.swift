import Dispatch
import Primitives
import Synchronization
import Testing

@Suite struct WriteOnceTableTests {
    private final class Counted: Sendable {
        static let liveCount = Atomic<Int>(0)
        let number: Int

        init(_ number: Int) {
            self.number = number
            Self.liveCount.add(1, ordering: .relaxed)
        }

        deinit { Self.liveCount.subtract(1, ordering: .relaxed) }
    }

    @Test func `the first object of a slot stays until the table is released`() {
        do {
            let table = WriteOnceTable<Counted>(slotCount: 8)
            #expect(table.object(at: 3) == nil)
            table.insert(Counted(1), at: 3)
            table.insert(Counted(2), at: 11)
            #expect(table.object(at: 3)?.number == 1)
            #expect(table.withObject(at: 11) { $0.number } == 1)
            // Threads that race for a slot agree on one object.
            DispatchQueue.concurrentPerform(iterations: 64) { table.insert(Counted($0), at: 5) }
            let winner = table.object(at: 5)
            DispatchQueue.concurrentPerform(iterations: 64) { _ in
                if table.object(at: 5) !== winner { Issue.record("a slot was written twice") }
            }
            #expect(Counted.liveCount.load(ordering: .relaxed) == 2)
        }
        #expect(Counted.liveCount.load(ordering: .relaxed) == 0)
    }
}
