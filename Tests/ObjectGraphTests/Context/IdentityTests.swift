import Dispatch
import ObjectGraph
import Testing

@Suite struct IdentityTests {
    /// Dogs whose ages are their numbers, counted from zero.
    private func kennel(_ count: Int) throws -> (stack: DataStack, queue: DispatchQueue) {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            for age in 0..<count { transaction.create(Into<Dog>()).age = age }
        })
        return (stack, queue)
    }

    @Test func `held objects keep their identity while others are released`() throws {
        let (stack, queue) = try kennel(3000)
        try queue.sync {
            var kept: [Int: Dog] = [:]
            for round in 0..<4 {
                let dogs = try stack.fetchAll(From<Dog>())
                #expect(dogs.count == 3000)
                for dog in dogs {
                    if let known = kept[dog.age] { #expect(known === dog) }
                }
                // Strides that would cluster in a hash table without mixing.
                let stride = [64, 7, 256, 1][round]
                kept = [:]
                for dog in dogs where dog.age % stride == 0 { kept[dog.age] = dog }
            }
            #expect(kept.count == 3000)
        }
    }

    @Test func `an object released on another thread can be fetched again at any moment`() throws {
        let (stack, queue) = try kennel(50)
        let drops = DispatchQueue(label: "drops", attributes: .concurrent)
        for _ in 0..<200 {
            try queue.sync {
                let dogs = Carrier(try stack.fetchAll(From<Dog>()))
                drops.async { dogs.objects = [] }
            }
            let ages = try queue.sync { try stack.fetchAll(From<Dog>()).map(\.age) }
            #expect(ages.sorted() == Array(0..<50))
        }
        drops.sync(flags: .barrier) {}
    }

    @Test func `an object created and deleted in one transaction leaves nothing`() throws {
        let (stack, queue) = try Zoo.stack()
        try stack.perform(synchronous: { transaction in
            let early = transaction.create(Into<Dog>())
            let count = try transaction.fetchCount(From<Dog>())
            #expect(count == 1)
            let late = transaction.create(Into<Dog>())
            transaction.delete(early, late)
            #expect(transaction.insertedObjects(Dog.self).isEmpty)
            #expect(transaction.deletedObjects(Dog.self).isEmpty)
            let again: Dog? = transaction.fetchExisting(early.objectID())
            #expect(again == nil)
            let rest = try transaction.fetchCount(From<Dog>())
            #expect(rest == 0)
        })
        #expect(try queue.sync { try stack.fetchCount(From<Dog>()) } == 0)
    }

    @Test func `a refreshed object that changes again is listed and stored once`() throws {
        let (stack, queue) = try kennel(1)
        try stack.perform(synchronous: { transaction in
            let dog = try #require(try transaction.fetchOne(From<Dog>()))
            dog.age = 5
            dog.refreshAsFault()
            #expect(!transaction.hasChanges)
            #expect(dog.age == 0)
            dog.age = 6
            #expect(transaction.updatedObjects(Dog.self) == [dog])
        })
        #expect(try queue.sync { try stack.fetchOne(From<Dog>())?.age } == 6)
    }
}

/// Passes objects to another thread, which only releases them.
private final class Carrier: @unchecked Sendable {
    var objects: [Dog]

    init(_ objects: [Dog]) { self.objects = objects }
}
