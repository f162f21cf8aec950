import ObjectGraph
import Testing

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
}
