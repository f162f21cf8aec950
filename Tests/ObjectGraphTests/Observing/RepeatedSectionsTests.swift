import Dispatch
import Primitives
import Testing

@testable import ObjectGraph

/// Lists whose order does not keep the objects of a section together.
@Suite struct RepeatedSectionsTests {
    @Test func `a list whose sections repeat logs one warning`() async {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            // In release builds too, where the library's own logger prints no warnings.
            CoreStoreDefaults.logger = TestLogger(printsMessages: true)
            let (stack, queue) = try Zoo.stack()
            try queue.sync {
                func add(_ age: Int, _ name: String) throws {
                    try stack.perform(synchronous: { transaction in
                        let dog = transaction.create(Into<Dog>())
                        (dog.age, dog.nickname) = (age, name)
                    })
                }
                try add(1, "a")
                try add(2, "b")
                let monitor = stack.monitorSectionedList(
                    From<Dog>().sectionBy(\.$age).orderBy(.ascending(\.$nickname)))
                try #require(monitor.numberOfSections() == 2)
                try add(1, "c")
                try #require(monitor.sections().map(\.name) == ["1", "2", "1"])
                try add(2, "d")
                try #require(monitor.numberOfSections() == 4)
            }
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.components(separatedBy: "several sections of one name").count == 2, "\(said)")
    }

    @Test func `the logger was called with the lock that computes lists`() async {
        await #expect(processExitsWith: .success) {
            let (stack, queue) = try Zoo.stack()
            // As a logger waits whose lock is held by a thread that commits.
            let outcomes = Mutex<[DispatchTimeoutResult]>([])
            CoreStoreDefaults.logger = TestLogger(onMessage: {
                let group = DispatchGroup()
                DispatchQueue.global().async(group: group) { stack.viewSteps.compute() }
                outcomes.withLock { $0.append(group.wait(timeout: .now() + 20)) }
            })
            try queue.sync {
                func add(_ age: Int, _ name: String) throws {
                    try stack.perform(synchronous: { transaction in
                        let dog = transaction.create(Into<Dog>())
                        (dog.age, dog.nickname) = (age, name)
                    })
                }
                let clauses = From<Dog>().sectionBy(\.$age).orderBy(.ascending(\.$nickname))
                let first = stack.monitorSectionedList(clauses)
                for (age, name) in [(1, "a"), (2, "b"), (1, "c")] { try add(age, name) }
                try #require(first.numberOfSections() == 3)
                // Once more in a list that begins so.
                let second = stack.monitorSectionedList(clauses.where(\.$age < 9))
                try #require(second.numberOfSections() == 3)
            }
            try #require(outcomes.withLock { $0 } == [.success, .success])
        }
    }
}
