import ObjectGraph
import Testing

/// The guide's chapter on transactions.
@MainActor @Suite struct SavingTests {
    @Test func `a cancelled transaction leaves nothing`() async throws {
        let dataStack = try Harbour.dataStack()
        let shouldCancel = true

        let isCancelled = await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    _ = transaction.create(Into<Sailor>())
                    if shouldCancel {
                        try transaction.cancel()
                    }
                },
                completion: { (result) -> Void in
                    if case .failure(.userCancelled) = result {
                        done.resume(returning: true)
                    } else {
                        done.resume(returning: false)
                    }
                }
            )
        }

        #expect(isCancelled)
        #expect(try dataStack.fetchCount(From<Sailor>()) == 3)
    }

    @Test func `a transaction's value reaches its completion`() async throws {
        let dataStack = try Harbour.dataStack()

        let hasChanges = await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Bool in
                    return transaction.hasChanges
                },
                completion: { (result) -> Void in
                    switch result {
                    case .success(let hasChanges): done.resume(returning: hasChanges as Bool?)
                    case .failure: done.resume(returning: nil)
                    }
                }
            )
        }

        #expect(hasChanges == false)
    }

    @Test func `success and failure have closures of their own`() async throws {
        let dataStack = try Harbour.dataStack()

        let deleted = await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Int in
                    let objects = try transaction.fetchAll(From<Sailor>().where(\.$age > 30))
                    return transaction.delete(objects)
                },
                success: { (numberOfDeletedObjects: Int) -> Void in
                    done.resume(returning: numberOfDeletedObjects)
                },
                failure: { (error) -> Void in
                    done.resume(returning: -1)
                }
            )
        }

        #expect(deleted == 2)
        #expect(try dataStack.fetchOne(From<Sailor>())?.name == "Jane Smith")
    }

    @Test func `a synchronous transaction returns its value`() throws {
        let dataStack = try Harbour.dataStack()

        let hasChanges = try dataStack.perform(
            synchronous: { (transaction) -> Bool in
                _ = transaction.create(Into<LogLine>())
                return transaction.hasChanges
            }
        )

        #expect(hasChanges)
        #expect(try dataStack.fetchCount(From<LogLine>()) == 1)
    }

    @Test func `a synchronous transaction need not wait for observers`() throws {
        let dataStack = try Harbour.dataStack()

        try dataStack.perform(
            synchronous: { (transaction) in
                let sailor = transaction.create(Into<Sailor>())
                sailor.name = "Ann"
            },
            waitForAllObservers: false
        )

        let newSailor = try dataStack.fetchOne(From<Sailor>().where(\.$name == "Ann"))
        #expect(newSailor?.name == "Ann")
    }

    @Test func `a transaction is awaited`() async throws {
        let dataStack = try Harbour.dataStack()

        let age = try await dataStack.async.perform { (transaction) -> Int in
            let jane = try transaction.fetchOne(From<Sailor>().where(\.$name == "Jane Smith"))
            jane?.age += 1
            return jane?.age ?? 0
        }

        #expect(age == 23)
        await #expect(throws: CoreStoreError.userCancelled) {
            try await dataStack.async.perform { (transaction) -> Void in
                try transaction.cancel()
            }
        }
    }

    @Test func `objects are made in the only store, or in that of a configuration`() throws {
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entityConfigurations: [Entity<LogLine>("LogLine"): ["One"]]))
        try dataStack.addStorageAndWait(InMemoryStore(configuration: "One"))
        try dataStack.addStorageAndWait(InMemoryStore())

        try dataStack.perform(
            synchronous: { transaction in
                let first = transaction.create(Into<LogLine>("One"))
                first.text = "one"
                let second = transaction.create(Into<LogLine>(nil))
                second.text = "default"
            }
        )

        #expect(try dataStack.fetchAll(From<LogLine>("One")).map(\.text) == ["one"])
        #expect(try dataStack.fetchAll(From<LogLine>(nil)).map(\.text) == ["default"])
        #expect(try dataStack.fetchCount(From<LogLine>()) == 2)
    }

    @Test func `an object is made and filled`() async throws {
        let dataStack = try Harbour.dataStack()

        await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    let sailor = transaction.create(Into<Sailor>())
                    sailor.name = "Ann"
                    sailor.age = 30
                },
                completion: { _ in done.resume() }
            )
        }

        #expect(try dataStack.fetchOne(From<Sailor>().where(\.$name == "Ann"))?.age == 30)
    }

    @Test func `a fetched object is changed`() async throws {
        let dataStack = try Harbour.dataStack()

        await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    let sailor = try transaction.fetchOne(
                        From<Sailor>()
                            .where(\.$name == "Jane Smith")
                    )!
                    sailor.age = sailor.age + 1
                },
                completion: { _ in done.resume() }
            )
        }

        #expect(try dataStack.fetchOne(From<Sailor>().where(\.$name == "Jane Smith"))?.age == 23)
    }

    /// Calls back later, where the stack's view lives.
    private func downloadJSON(
        _ name: String, _ completion: @escaping @MainActor (String) -> Void
    ) -> Task<Void, Never> {
        Task { @MainActor in
            await Task.yield()
            completion(name)
        }
    }

    @Test func `an unsafe transaction accepts changes over time`() async throws {
        let dataStack = try Harbour.dataStack()

        let transaction = dataStack.beginUnsafe()
        let ann = transaction.create(Into<Sailor>())
        let first = downloadJSON("Ann") { json in
            ann.name = json
            transaction.commit()
        }
        let second = downloadJSON("Ben") { json in
            transaction.create(Into<Sailor>()).name = json
            transaction.commit()
        }
        await first.value
        await second.value
        try transaction.commitAndWait()

        let names = try dataStack.fetchAll(
            From<Sailor>().where(\.$age == 0).orderBy(.ascending(\.$name)))
        #expect(names.map(\.name) == ["Ann", "Ben"])
    }

    @Test func `changes of an unsafe transaction are undone in groups`() throws {
        let dataStack = try Harbour.dataStack()
        let transaction = dataStack.beginUnsafe(supportsUndo: true)
        let jane = try #require(
            try transaction.fetchOne(From<Sailor>().where(\.$name == "Jane Smith")))

        transaction.flush {
            jane.age = 30
        }
        jane.age = 31
        transaction.undo()
        #expect(jane.age == 30)
        transaction.redo()
        #expect(jane.age == 31)
        transaction.rollback()
        #expect(jane.age == 22)
    }
}
