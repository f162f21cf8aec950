import ObjectGraph
import Testing

/// The guide's first pages, which show everything once.
@MainActor @Suite struct AtAGlanceTests {
    @Test func `a store is added in the background`() async throws {
        let url = Harbour.temporaryURL()
        defer { Harbour.remove(url) }
        let dataStack = DataStack(Harbour.schema())

        let outcome: URL? = await withCheckedContinuation { done in
            dataStack.addStorage(
                LocalStore(fileURL: url),
                completion: { (result) -> Void in
                    switch result {
                    case .success(let storage): done.resume(returning: storage.fileURL)
                    case .failure: done.resume(returning: nil)
                    }
                }
            )
        }

        #expect(outcome == url)
        #expect(try dataStack.fetchCount(From<Sailor>()) == 0)
    }

    @Test func `a transaction reports its success`() async throws {
        let dataStack = try Harbour.dataStack()

        let outcome = await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    let sailor = transaction.create(Into<Sailor>())
                    sailor.name = "Ann"
                    sailor.age = 42
                },
                completion: { (result) -> Void in
                    switch result {
                    case .success: done.resume(returning: "success!")
                    case .failure(let error): done.resume(returning: "\(error)")
                    }
                }
            )
        }

        #expect(outcome == "success!")
        let people = try dataStack.fetchAll(From<Sailor>())
        #expect(people.count == 4)
    }

    @Test func `a fetch takes a condition, an order and a tweak`() throws {
        let dataStack = try Harbour.dataStack()

        let people = try dataStack.fetchAll(
            From<Sailor>()
                .where(\.$age > 30)
                .orderBy(.ascending(\.$rating), .descending(\.$age))
                .tweak({ $0.includesPendingChanges = false })
        )

        #expect(people.map(\.name) == ["Ole", "John Smith"])
    }

    @Test func `a query gives one value`() throws {
        let dataStack = try Harbour.dataStack()

        let maxAge = try dataStack.queryValue(
            From<Sailor>()
                .select(Int.self, .maximum(\.$age))
        )

        #expect(maxAge == 60)
    }
}
