import ObjectGraph
import Testing

/// The guide's chapter on importing.
@MainActor @Suite struct ImportingTests {
    @Test func `an object is made from a source`() async throws {
        let dataStack = try Harbour.dataStack()

        await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    let json: [String: Any] = ["text": "Fog over the fjord"]
                    try! transaction.importObject(
                        Into<LogLine>(),
                        source: json
                    )
                },
                completion: { _ in done.resume() }
            )
        }

        #expect(try dataStack.fetchOne(From<LogLine>())?.text == "Fog over the fjord")
    }

    @Test func `sources that a class does not want are left out`() throws {
        let dataStack = try Harbour.dataStack()
        let jsonArray: [[String: Any]] = [["text": "one"], ["other": 1], ["text": "two"]]

        let texts = try dataStack.perform(
            synchronous: { (transaction) -> [String] in
                try transaction.importObjects(
                    Into<LogLine>(),
                    sourceArray: jsonArray
                ).map(\.text)
            }
        )

        #expect(texts == ["one", "two"])
        #expect(try dataStack.fetchCount(From<LogLine>()) == 2)
    }

    @Test func `an error in an import rolls the transaction back`() async throws {
        let dataStack = try Harbour.dataStack()

        let isKnownError = await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    let jsonArray: [[String: Any]] = [["text": "one"], ["text": 2]]
                    try transaction.importObjects(
                        Into<LogLine>(),
                        sourceArray: jsonArray
                    )
                },
                success: {
                    done.resume(returning: false)
                },
                failure: { (error) in
                    switch error {
                    case .userError(Sailor.Errors.missingName): done.resume(returning: true)
                    default: done.resume(returning: false)
                    }
                }
            )
        }

        #expect(isKnownError)
        #expect(try dataStack.fetchCount(From<LogLine>()) == 0)
    }

    @Test func `an existing object is filled from a source`() throws {
        let dataStack = try Harbour.dataStack()

        let text = try dataStack.perform(
            synchronous: { (transaction) -> String in
                let line = transaction.create(Into<LogLine>())
                try transaction.importObject(line, source: ["text": "filled"])
                return line.text
            }
        )

        #expect(text == "filled")
    }

    @Test func `an import with a known identity changes the object`() async throws {
        let dataStack = try Harbour.dataStack()

        await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> Void in
                    let json: [String: Any] = ["id": 2, "name": "Jane Doe"]
                    try! transaction.importUniqueObject(
                        Into<Sailor>(),
                        source: json
                    )
                },
                completion: { _ in done.resume() }
            )
        }

        let jane = try dataStack.fetchOne(From<Sailor>().where(\.$number == 2))
        #expect(jane?.name == "Jane Doe")
        #expect(jane?.age == 22)
        #expect(try dataStack.fetchCount(From<Sailor>()) == 3)
    }

    @Test func `an import of many makes what is new and changes what is known`() async throws {
        let dataStack = try Harbour.dataStack()

        let outcome: [String] = await withCheckedContinuation { done in
            dataStack.perform(
                asynchronous: { (transaction) -> [String] in
                    let jsonArray: [[String: Any]] = [
                        ["id": 1, "name": "John"], ["id": 7, "name": "Ann"], ["name": "nobody"],
                        ["id": 3, "name": "kept", "skip": true], ["id": 7, "name": "Ann II"],
                    ]
                    return try transaction.importUniqueObjects(
                        Into<Sailor>(),
                        sourceArray: jsonArray
                    ).map(\.name)
                },
                completion: { result in done.resume(returning: (try? result.get()) ?? []) }
            )
        }

        #expect(outcome == ["John", "Ann II"])
        #expect(
            try dataStack.fetchAll(From<Sailor>().orderBy(.ascending(\.$number))).map(\.name)
                == ["John", "Jane Smith", "Ole", "Ann II"])
    }

    @Test func `a nested import created the object of a later source a second time`() throws {
        let dataStack = try Harbour.dataStack()

        try dataStack.perform(
            synchronous: { (transaction) -> Void in
                let sailors = try transaction.importUniqueObjects(
                    Into<Sailor>(),
                    sourceArray: [
                        ["id": 7, "name": "Ann", "friends": [["id": 8, "name": "Bo"]]],
                        ["id": 8, "name": "Bob", "friends": [["id": 7, "name": "Anna"]]],
                    ]
                )
                #expect(sailors.map(\.name) == ["Anna", "Bob"])
                #expect(sailors[0].friends == [sailors[1]])
            }
        )

        #expect(try dataStack.fetchCount(From<Sailor>().where([7, 8] ~= \.$number)) == 2)
    }

    @Test func `a source in between hid an object that an earlier source's import made`() throws {
        let dataStack = try Harbour.dataStack()

        try dataStack.perform(
            synchronous: { (transaction) -> Void in
                try transaction.importUniqueObjects(
                    Into<Sailor>(),
                    sourceArray: [
                        ["id": 7, "name": "Ann", "friends": [["id": 9, "name": "Bo"]]],
                        ["id": 8, "name": "Cy"], ["id": 9, "name": "Bob"],
                    ]
                )
            }
        )

        let sailors = try dataStack.fetchAll(From<Sailor>().where([7, 8, 9] ~= \.$number))
        #expect(Set(sailors.map(\.name)) == ["Ann", "Cy", "Bob"])
        #expect(sailors.count == 3)
    }

    @Test func `an object that an earlier source had deleted was filled, and lost`() throws {
        let dataStack = try Harbour.dataStack()

        try dataStack.perform(
            synchronous: { (transaction) -> Void in
                try transaction.importUniqueObjects(
                    Into<Sailor>(),
                    sourceArray: [
                        ["id": 1, "name": "John", "lost": 2], ["id": 2, "name": "Jane II"],
                    ]
                )
            }
        )

        let jane = try dataStack.fetchAll(From<Sailor>().where(\.$number == 2))
        #expect(jane.map(\.name) == ["Jane II"])
        #expect(jane.map(\.age) == [0])
    }

    @Test func `sources are filtered before an import`() throws {
        let dataStack = try Harbour.dataStack()

        try dataStack.perform(
            synchronous: { (transaction) -> Void in
                try transaction.importUniqueObjects(
                    Into<Sailor>(),
                    sourceArray: [["id": 8, "name": "in"], ["id": 9, "name": "out"]],
                    preProcess: { mapping in mapping.filter { $0.key == 8 } }
                )
            }
        )

        #expect(try dataStack.fetchCount(From<Sailor>().where([8, 9] ~= \.$number)) == 1)
    }

    @Test func `an import is awaited and gives objects of the view`() async throws {
        let dataStack = try Harbour.dataStack()

        let people = try await dataStack.async.importUniqueObjects(
            Into<Sailor>(),
            sourceArray: [
                ["id": 1, "name": "John"],
                ["id": 11, "name": "Bob"],
                ["id": 12, "name": "Joe"],
            ]
        )

        #expect(people.map(\.name) == ["John", "Bob", "Joe"])
        #expect(try dataStack.fetchCount(From<Sailor>()) == 5)
    }

    @Test func `an awaited import did not accept a source that belongs to an actor`() async throws {
        let dataStack = try Harbour.dataStack()
        // Sources that belong to the actor are passed on, and used again.
        let source: [String: Any] = ["id": 1, "name": "John"]

        let john = try await dataStack.async.importUniqueObject(Into<Sailor>(), source: source)
        let line = try await dataStack.async.importObject(
            Into<LogLine>(), source: ["text": source["name"] as Any])
        let several = try await dataStack.async.importUniqueObjects(
            Into<Sailor>(), sourceArray: [source], preProcess: { $0 })

        #expect(john?.name == "John")
        #expect(line?.text == "John")
        #expect(several.first === john)
    }

    @Test func `an awaited import throws what the class threw`() async throws {
        let dataStack = try Harbour.dataStack()
        do throws(CoreStoreError) {
            try await dataStack.async.importUniqueObject(Into<Sailor>(), source: ["id": 1])
            Issue.record("a sailor without a name was taken")
        } catch {
            guard case .userError(Sailor.Errors.missingName) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }
}
