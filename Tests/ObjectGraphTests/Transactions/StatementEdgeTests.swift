import ObjectGraph
import TestSupport
import Testing

private final class Box: CoreStoreObject {
    @Field.Stored("label") var label: Int = 0
    @Field.Stored("code") var code: String?
    @Field.Stored("note") var note: String = ""
    @Field.Stored("price") var price: Int = 0
    @Field.Relationship("shelf") var shelf: Shelf?
    @Field.Relationship("spare") var spare: Box?
}

private final class Shelf: CoreStoreObject {
    @Field.Relationship("boxes", inverse: \.$shelf) var boxes: Set<Box>
}

/// Statements where they must do what the same work on objects does.
@Suite struct StatementEdgeTests {
    private let queue = DispatchQueue(label: "view")

    private func schema() -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V1",
            entityConfigurations: [
                Entity<Box>(
                    "Box", indexes: [[\.$label]], uniqueConstraints: [[\.$code]],
                    validations: [.pattern(\.$note, "[a-z]*"), .range(\.$price, 0...100)]):
                    ["a", "b"],
                Entity<Shelf>("Shelf"): ["a", "b"],
            ])
    }

    /// A stack with three boxes, labelled by their order.
    private func stack() throws -> DataStack {
        let stack = DataStack(schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let shelf = transaction.create(Into<Shelf>())
            for label in 0..<3 {
                let box = transaction.create(Into<Box>())
                (box.label, box.code, box.note) = (label, "c\(label)", "n")
                box.shelf = shelf
            }
        })
        return stack
    }

    private func boxes(_ stack: DataStack) throws -> [String] {
        try queue.sync {
            try stack.fetchAll(From<Box>().orderBy(.ascending(\.$label))).map {
                "\($0.label) \($0.code ?? "-") \($0.note) \($0.price)"
            }
        }
    }

    @Test(arguments: [[], [0], [1], [0, 1, 2]])
    func `a unique value that one object had already made another one win`(
        held: [Int]
    ) throws {
        func outcome(_ assign: (SynchronousDataTransaction) throws -> Void) throws -> [String] {
            let stack = try stack()
            try stack.perform(synchronous: { transaction in
                try transaction.update(From<Box>().where(\.$label == 1), set: .value(\.$note, "m"))
            })
            try stack.perform(synchronous: { transaction in
                let all = try transaction.fetchAll(From<Box>().orderBy(.ascending(\.$label)))
                let kept = held.map { all[$0] }
                try withExtendedLifetime(kept) { try assign(transaction) }
            })
            return try boxes(stack)
        }
        let byObjects = try outcome { transaction in
            for box in try transaction.fetchAll(From<Box>().where(\.$label < 2)) { box.code = "c1" }
        }
        let byStatement = try outcome { transaction in
            try transaction.update(From<Box>().where(\.$label < 2), set: .value(\.$code, "c1"))
        }
        #expect(byStatement == byObjects)
        #expect(byStatement == ["0 c1 n 0", "2 c2 n 0"])
    }

    /// Whichever of the two lives: the winner takes what the other one was assigned.
    @Test(arguments: [false, true])
    func `an equal value beside a unique one was no assignment`(isHeld: Bool) throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            try transaction.update(From<Box>().where(\.$label == 1), set: .value(\.$note, "m"))
        })
        try stack.perform(synchronous: { transaction in
            let held = isHeld ? try transaction.fetchAll(From<Box>()) : []
            try withExtendedLifetime(held) {
                _ = try transaction.update(
                    From<Box>().where(\.$label == 1), set: .value(\.$note, "m"),
                    .value(\.$code, "c0"))
            }
        })
        #expect(try boxes(stack) == ["0 c0 m 0", "2 c2 n 0"])
    }

    @Test func `an observer that discards what a statement assigns ended the process`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let one = try #require(try transaction.fetchOne(From<Box>().where(\.$label == 1)))
            let observer = one.observe(\.$note) { box, _ in box.refreshAsFault() }
            try transaction.update(From<Box>(), set: .value(\.$note, "new"))
            observer.invalidate()
        })
        #expect(try boxes(stack) == ["0 c0 new 0", "1 c1 n 0", "2 c2 new 0"])
    }

    @Test func `an object that an observer fetched during an update kept its old value`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let one = try #require(try transaction.fetchOne(From<Box>().where(\.$label == 1)))
            var kept: Box?
            let observer = one.observe(\.$note) { _, _ in
                kept = try? transaction.fetchOne(From<Box>().where(\.$label == 0))
            }
            try transaction.update(From<Box>(), set: .value(\.$note, "new"))
            #expect(kept?.note == "new")
            kept?.price = 5
            observer.invalidate()
        })
        #expect(try boxes(stack) == ["0 c0 new 5", "1 c1 new 0", "2 c2 new 0"])
    }

    @Test func `an object that an observer fetched during a deletion stayed`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let all = try transaction.fetchAll(From<Box>().orderBy(.ascending(\.$label)))
            all[0].spare = all[1]
        })
        try stack.perform(synchronous: { transaction in
            let zero = try #require(try transaction.fetchOne(From<Box>().where(\.$label == 0)))
            var kept: Box?
            let observer = zero.observe(\.$spare) { _, _ in
                kept = try? transaction.fetchOne(From<Box>().where(\.$label == 2))
            }
            try transaction.deleteAll(From<Box>().where(\.$label > 0))
            // Whether it was still there when the observer asked depends on the order.
            #expect(kept.map { transaction.fetchExisting($0) == nil } ?? true)
            #expect(zero.spare == nil)
            observer.invalidate()
        })
        #expect(try boxes(stack) == ["0 c0 n 0"])
    }

    @Test func `an observer of a list was not told of a statement that deleted members`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let shelf = try #require(try transaction.fetchOne(From<Shelf>()))
            var counts: [[Int?]] = []
            let observer = shelf.observe(\.$boxes, options: [.new, .old]) { _, change in
                counts.append([change.oldValue?.count, change.newValue?.count])
            }
            try transaction.deleteAll(From<Box>().where(\.$label == 2))
            #expect(counts == [[3, 2]])
            observer.invalidate()
        })
    }

    @Test(arguments: [false, true])
    func `the second assignment of a property began with the stored value`(
        isHeld: Bool
    ) throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let held = isHeld ? try transaction.fetchAll(From<Box>()) : []
            try withExtendedLifetime(held) {
                _ = try transaction.update(
                    From<Box>(), set: .sum(\.$price, 1), .sum(\.$price, 1), .value(\.$label, 9),
                    .sum(\.$label, 1), .value(\.$note, "m"), .value(\.$note, "n"))
            }
        })
        #expect(try boxes(stack).sorted() == ["10 c0 n 2", "10 c1 n 2", "10 c2 n 2"])
    }

    @Test func `a large text that stays was refused by its rule`() throws {
        let stack = try stack()
        let text = String(repeating: "n", count: 9_000)
        for price in 1...2 {
            try stack.perform(synchronous: { transaction in
                try transaction.update(
                    From<Box>().where(\.$label == 0), set: .value(\.$note, text), .sum(\.$price, 1))
            })
            #expect(try boxes(stack).first == "0 c0 \(text) \(price)")
        }
    }

    @Test(arguments: [false, true])
    func `a statement tells of broken rules whether objects live or not`(isHeld: Bool) throws {
        let stack = try stack()
        var violationCount = 0
        let error = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                let held = isHeld ? try transaction.fetchAll(From<Box>()) : []
                do {
                    try transaction.update(From<Box>(), set: .value(\.$price, 101))
                } catch let error as CoreStoreError {
                    violationCount = error.violations.count
                    throw error
                }
                withExtendedLifetime(held) {}
            })
        }
        #expect(violationCount == 3 && error?.violations.count == 3)
        #expect(try boxes(stack) == ["0 c0 n 0", "1 c1 n 0", "2 c2 n 0"])
    }

    @Test func `large values of many records are written in several batches`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for label in 3..<40 { transaction.create(Into<Box>()).label = label }
        })
        let text = String(repeating: "n", count: 1 << 20)
        try stack.perform(synchronous: { transaction in
            try transaction.update(From<Box>(), set: .value(\.$note, text))
        })
        let count = try stack.read { try $0.fetchCount(From<Box>().where(\.$note == text)) }
        #expect(count == 40)
    }

    @Test(arguments: [true, false])
    func `a statement that failed in one storage was committed in another`(isMet: Bool) throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let first = DataStack(schema(), viewContext: .queue(queue))
        try first.addStorageAndWait(LocalStore(fileURL: url, configuration: "b"))
        try first.perform(synchronous: { transaction in
            transaction.create(Into<Box>("b")).label = 7
        })
        try first.close()
        var options = EngineOptions()
        options.isReadOnly = true
        let stack = DataStack(schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore(configuration: "a"))
        try stack.addStorageAndWait(
            LocalStore(fileURL: url, configuration: "b", engineOptions: options))
        try stack.perform(synchronous: { transaction in
            for label in 0..<3 { transaction.create(Into<Box>("a")).label = label }
        })
        let found = From<Box>().where(isMet ? \.$label >= 0 : \.$label < 3)
        for isDeletion in [false, true] {
            func statement() throws {
                try stack.perform(synchronous: { transaction in
                    if isDeletion {
                        _ = try? transaction.deleteAll(found)
                    } else {
                        _ = try? transaction.update(found, set: .value(\.$price, 1))
                    }
                })
            }
            if isMet {
                let error = #expect(throws: CoreStoreError.self) { try statement() }
                #expect(error?.storeError?.code == .readOnly)
                #expect(try boxes(stack).map(\.last) == ["0", "0", "0", "0"])
            } else {
                try statement()
                #expect(try boxes(stack).count == (isDeletion ? 1 : 4))
            }
        }
    }
}
