import ObjectGraph
import Testing

/// The guide's section on passing objects to transactions and back.
///
/// Swift 6 warns if a transaction's closure captures an object of the view; `nonisolated(unsafe)`
/// on the constant states that the closure only reads its identity.
@MainActor @Suite struct PassingObjectsTests {
    private let dataStack: DataStack
    private let john: Sailor
    private let jane: Sailor

    init() throws {
        dataStack = try Harbour.dataStack()
        john = try #require(try dataStack.fetchOne(From<Sailor>().where(\.$number == 1)))
        jane = try #require(try dataStack.fetchOne(From<Sailor>().where(\.$number == 2)))
    }

    private class Buoy: CoreStoreObject {
        @Field.Stored("depth") var depth: Int = 0

        var typed: ObjectID<Buoy> { typedID }
        var untyped: Buoy.ObjectID { objectID() }
    }

    @Test func `a class of objects names both kinds of its ID`() throws {
        let dataStack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Buoy>("Buoy")]))
        try dataStack.addStorageAndWait(InMemoryStore())
        let (id, untyped) = try dataStack.perform(synchronous: { transaction in
            let buoy = transaction.create(Into<Buoy>())
            return (buoy.typed, buoy.untyped)
        })
        #expect(dataStack.fetchExisting(id)?.untyped == untyped && id.rawID == untyped)
    }

    @Test func `an object of the stack is edited in a transaction`() async {
        nonisolated(unsafe) let jane = self.jane
        await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    let jane = transaction.edit(jane)!
                    jane.age = jane.age + 1
                },
                completion: { _ in done.resume() }
            )
        }

        #expect(jane.age == 23)
    }

    @Test func `both objects of a relationship are made editable before they are linked`() async {
        nonisolated(unsafe) let jane = self.jane
        nonisolated(unsafe) let john = self.john
        await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    let jane = transaction.edit(jane)!
                    let john = transaction.edit(john)!
                    jane.friends = [john]
                },
                completion: { _ in done.resume() }
            )
        }

        #expect(jane.friends == [john])
        #expect(john.friendOf == [jane])
    }

    @Test func `an object is deleted`() async throws {
        nonisolated(unsafe) let john = self.john
        await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    transaction.delete(john)
                },
                completion: { _ in done.resume() }
            )
        }

        #expect(try dataStack.fetchCount(From<Sailor>()) == 2)
        #expect(dataStack.fetchExisting(john) == nil)
    }

    @Test func `several objects are deleted at once`() async throws {
        nonisolated(unsafe) let john = self.john
        nonisolated(unsafe) let jane = self.jane
        await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    transaction.delete(john, jane)
                    transaction.delete([john, jane])
                },
                completion: { _ in done.resume() }
            )
        }

        #expect(try dataStack.fetchAll(From<Sailor>()).map(\.name) == ["Ole"])
    }

    @Test func `objects that satisfy a condition are deleted`() async throws {
        await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    try transaction.deleteAll(
                        From<Sailor>()
                            .where(\.$age > 30)
                    )
                },
                completion: { _ in done.resume() }
            )
        }

        #expect(try dataStack.fetchAll(From<Sailor>()).map(\.name) == ["Jane Smith"])
    }

    @Test func `an object is passed to a transaction and fetched again afterwards`() async {
        nonisolated(unsafe) let jane = self.jane
        let dataStack = self.dataStack
        let age = await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Sailor in
                    let jane = transaction.fetchExisting(jane)!
                    jane.age = jane.age + 1
                    return jane
                },
                success: { (transactionJane) in
                    let jane = dataStack.fetchExisting(transactionJane)!
                    done.resume(returning: jane.age)
                },
                failure: { (error) in
                    done.resume(returning: -1)
                }
            )
        }

        #expect(age == 23)
        #expect(jane.age == 23)
    }

    @Test func `instances are found by their IDs`() async throws {
        let peopleIDs: [NSManagedObjectID] = try dataStack.fetchObjectIDs(
            From<Sailor>().where(\.$number != 2).orderBy(.descending(\.$number)))

        await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    let jane = try transaction.fetchOne(
                        From<Sailor>()
                            .where(\.$name == "Jane Smith")
                    )
                    jane?.friends = transaction.fetchExisting(peopleIDs)
                },
                completion: { _ in done.resume() }
            )
        }

        #expect(jane.friends.map(\.name) == ["Ole", "John Smith"])
        #expect(dataStack.fetchExisting([jane, john]) == [jane, john])
    }
}
