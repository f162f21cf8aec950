import Foundation
import Primitives
import Testing

@testable import ObjectGraph

/// Lists that meet more commits than are kept apart.
@Suite struct JoinedStepsTests {
    private final class Guest: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("visits") var visits: Int = 0
        @Field.Virtual(
            "initial", customGetter: { object, _ in String(object.$name.value.prefix(1)) })
        var initial: String
    }

    private static func stack(_ queue: DispatchQueue) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Guest>("Guest")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { $0.create(Into<Guest>()).name = "Ann" })
        return stack
    }

    /// Counts visits, in one transaction each.
    private static func visit(_ stack: DataStack, _ count: Int) throws {
        for _ in 0..<count {
            try stack.perform(synchronous: { transaction in
                try transaction.fetchOne(From<Guest>())?.visits += 1
            })
        }
    }

    /// The visits that a list shows, at each event.
    private final class Visits: ListObserver {
        private(set) var told: [Int] = []
        private(set) var faults: [String] = []

        private func visits(_ monitor: ListMonitor<Guest>) -> Int {
            monitor.objectsInAllSections().first?.visits ?? -1
        }

        func begin(_ monitor: ListMonitor<Guest>) { told = [visits(monitor)] }

        func listMonitorWillChange(_ monitor: ListMonitor<Guest>) {
            if visits(monitor) != told.last {
                faults.append("\(visits(monitor)) visits were not told after \(told)")
            }
        }

        func listMonitorDidChange(_ monitor: ListMonitor<Guest>) { told.append(visits(monitor)) }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Guest>) { begin(monitor) }
    }

    /// A bug: a list in computed sections joined the newest of the steps that waited for its
    /// executor, and the view joined the oldest. Then the view moved without the list.
    @Test func `a list in computed sections was not told of the last of many commits`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = try Self.stack(queue)
        let visits = Visits()
        let monitor = queue.sync {
            let monitor = stack.monitorSectionedList(
                From<Guest>().sectionBy(\.$initial).orderBy(.ascending(\.$name)))
            monitor.addObserver(visits)
            visits.begin(monitor)
            return monitor
        }
        queue.suspend()
        try Self.visit(stack, StepQueue.separateMax + 4)
        queue.resume()
        for _ in 0..<3 { queue.sync {} }
        #expect(visits.faults.isEmpty)
        #expect(visits.told.last == StepQueue.separateMax + 4)
        withExtendedLifetime(monitor) {}
    }

    /// The same for lists that are fetched in the background, whose sections are computed or not.
    @Test(arguments: [true, false])
    func `a list fetched in the background shows the commit of its view`(
        isComputed: Bool
    ) async throws {
        let queue = DispatchQueue(label: "view")
        let stack = try Self.stack(queue)
        let visits = UncheckedTransfer(Visits())
        let made = await withCheckedContinuation { done in
            queue.sync {
                let chain = From<Guest>().orderBy(.ascending(\.$name))
                let begin: @Sendable (ListMonitor<Guest>) -> Void = { monitor in
                    monitor.addObserver(visits.value)
                    visits.value.begin(monitor)
                    done.resume(returning: UncheckedTransfer(monitor))
                }
                if isComputed {
                    stack.monitorSectionedList(
                        createAsynchronously: begin, From<Guest>(), SectionBy(\.$initial),
                        chain.fetchClauses)
                } else {
                    stack.monitorList(createAsynchronously: begin, chain)
                }
                // The executor is not free, so that neither the list nor the view goes on.
                let group = DispatchGroup()
                let thread = Thread {
                    #expect(throws: Never.self) {
                        try Self.visit(stack, StepQueue.separateMax + 4)
                    }
                    group.leave()
                }
                group.enter()
                thread.start()
                group.wait()
            }
        }
        for _ in 0..<3 { queue.sync {} }
        try queue.sync { try Self.visit(stack, 1) }
        queue.sync {
            #expect(visits.value.faults.isEmpty)
            #expect(visits.value.told.last == StepQueue.separateMax + 5)
            #expect(made.value.numberOfObjects() == 1)
        }
    }

    /// A bug: the list kept its state after each commit until the executor came.
    @Test func `a list keeps few states while its executor is busy`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = try Self.stack(queue)
        let recorder = ListRecorder<Guest> { $0.name }
        let monitor = queue.sync {
            let monitor = stack.monitorList(From<Guest>().orderBy(.ascending(\.$visits)))
            monitor.addObserver(recorder)
            return monitor
        }
        queue.suspend()
        for visits in 1...1000 {
            try stack.perform(synchronous: { $0.create(Into<Guest>()).visits = visits })
        }
        stack.viewSteps.compute()
        // Each state has another number of guests.
        var counts: Set<Int> = []
        let feed = try #require(monitor.feed as? ListFeed)
        stack.withViewIfMade { view in
            for position in 1...stack.viewSteps.position {
                var step = CommitStep([], origin: .transaction)
                step.position = position
                let change = feed.change(in: Delivery(step, stack, view))
                if let change { counts.insert(change.after.count) }
            }
        }
        #expect((1...StepQueue.separateMax + 1).contains(counts.count))
        queue.resume()
        stack.drain(queue)
        try queue.sync {
            let fetched = try stack.fetchAll(From<Guest>().orderBy(.ascending(\.$visits)))
            #expect(monitor.objectsInAllSections().map(\.visits) == fetched.map(\.visits))
            #expect(fetched.count == 1001)
            let events = recorder.takeEvents()
            #expect(events.count { $0 == "will" } <= StepQueue.separateMax)
            #expect(events.count { $0.hasPrefix("+") } == 1000)
        }
    }
}
