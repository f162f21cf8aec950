import ObjectGraph
import Testing

private class Thing: CoreStoreObject {
    @Field.Stored("label") var label: String = "none"
    @Field.Stored("made", dynamicInitialValue: { Date(timeIntervalSinceReferenceDate: 7) })
    var made: Date
    @Field.Stored(
        "mark",
        customGetter: { object, field in "\(object.$label.value)/\(field.primitiveValue ?? "")" },
        customSetter: { object, field, value in field.primitiveValue = value.uppercased() })
    var mark: String = "M"
    @Field.Relationship("holder") var holder: Holder?
}

private class Kept: Thing {
    @Field.Stored("key") var key: String = ""
    @Field.Stored("count") var count: Int?
}

private final class Box: Kept, ImportableUniqueObject {
    @Field.Stored("size") var size: Int = 1

    typealias ImportSource = [String: String]
    typealias UniqueIDType = String
    static var uniqueIDKeyPath: String { "key" }
    static func uniqueID(
        from source: ImportSource, in transaction: BaseDataTransaction
    ) throws -> String? { source["key"] }
    func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
        label = source["label"] ?? label
    }
}

private final class Jar: Kept {
    @Field.Stored("isOpen") var isOpen: Bool = false
}

private final class Holder: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Relationship("boxes", inverse: \Box.$holder) var boxes: Set<Box>
}

private class Root: CoreStoreObject {
    @Field.Stored("first") var first: Int = 1
}

private class Between: Root {
    @Field.Stored("second") var second: Int = 2
}

private final class Leaf: Between {
    @Field.Stored("third") var third: Int = 3
}

/// Properties of a class that is no entity belong to the entities below it.
@Suite struct InheritedFieldTests {
    private func stack() throws -> (DataStack, DispatchQueue) {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Box>("Box", indexes: [[\.$label]], uniqueConstraints: [[\.$key]]),
                    Entity<Jar>("Jar"), Entity<Holder>("Holder"),
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return (stack, queue)
    }

    @Test func `a property of a class that is no entity lost what was assigned`() throws {
        let (stack, queue) = try stack()
        try stack.perform(synchronous: { transaction in
            let box = transaction.create(Into<Box>())
            #expect((box.label, box.count, box.size) == ("none", nil, 1))
            (box.label, box.key, box.count, box.size) = ("screws", "k", 40, 9)
            box.mark = "x"
            #expect(box.mark == "screws/X")
        })
        try queue.sync {
            let box = try #require(try stack.fetchOne(From<Box>()))
            #expect((box.label, box.key, box.count, box.size) == ("screws", "k", 40, 9))
            #expect(box.made == Date(timeIntervalSinceReferenceDate: 7))
            #expect(box.mark == "screws/X")
        }
    }

    @Test func `a link of a class that is no entity ended the program`() throws {
        let (stack, queue) = try stack()
        try stack.perform(synchronous: { transaction in
            let holder = transaction.create(Into<Holder>())
            holder.name = "Ann"
            let box = transaction.create(Into<Box>())
            box.holder = holder
            #expect(holder.boxes == [box])
            transaction.create(Into<Jar>()).holder = holder
        })
        try queue.sync {
            let holder = try #require(try stack.fetchOne(From<Holder>()))
            #expect(holder.boxes.count == 1)
            #expect(try stack.fetchOne(From<Jar>())?.holder === holder)
            #expect(try stack.fetchCount(From<Box>().where((\.$holder ~ \.$name) == "Ann")) == 1)
            #expect(try stack.fetchCount(From<Jar>().where(\.$holder == holder)) == 1)
        }
    }

    @Test func `conditions and orders name properties of a class that is no entity`() throws {
        let (stack, queue) = try stack()
        try stack.perform(synchronous: { transaction in
            for label in ["c", "a", "b"] {
                transaction.create(Into<Jar>()).label = label
                let box = transaction.create(Into<Box>())
                (box.label, box.key) = (label, label)
            }
        })
        try queue.sync {
            let jars = try stack.fetchAll(
                From<Jar>().where(\.$label > "a").orderBy(.ascending(\.$label)))
            #expect(jars.map(\.label) == ["b", "c"])
            #expect(try stack.fetchCount(From<Box>().where(\.$label == "b")) == 1)
            #expect(try stack.fetchCount(From<Box>().where { $0.$key == "c" }) == 1)
            #expect(try stack.fetchCount(From<Box>().where(format: "label BEGINSWITH 'a'")) == 1)
            let labels = try stack.queryAttributes(
                From<Jar>().select(NSDictionary.self, .attribute(\.$label))
                    .orderBy(.ascending(\.$label)))
            #expect(labels.compactMap { $0["label"] as? String } == ["a", "b", "c"])
        }
    }

    @Test func `an import identifies objects by a property of a class that is no entity`() throws {
        let (stack, queue) = try stack()
        for label in ["first", "second"] {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.importUniqueObjects(
                    Into<Box>(),
                    sourceArray: [["key": "k1", "label": label], ["key": "k2", "label": "other"]])
            })
        }
        try queue.sync {
            let boxes = try stack.fetchAll(From<Box>().orderBy(.ascending(\.$key)))
            #expect(boxes.map(\.key) == ["k1", "k2"])
            #expect(boxes.map(\.label) == ["second", "other"])
        }
    }

    @Test func `a class between two entities belongs to the lower one`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Root>("Root"), Entity<Leaf>("Leaf", indexes: [[\.$second]])]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let leaf = transaction.create(Into<Leaf>())
            (leaf.first, leaf.second, leaf.third) = (10, 20, 30)
            transaction.create(Into<Root>()).first = 11
        })
        try queue.sync {
            let leaf = try #require(try stack.fetchOne(From<Leaf>().where(\.$second == 20)))
            #expect((leaf.first, leaf.second, leaf.third) == (10, 20, 30))
            #expect(try stack.fetchCount(From<Root>().where(\.$first >= 10)) == 2)
        }
    }
}
