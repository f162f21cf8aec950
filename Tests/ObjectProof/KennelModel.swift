import ObjectGraph
import Proof
import TestSupport

/// An object in the lists of the observation proof.
class Pet: CoreStoreObject {
    @Field.Stored("rank") var rank: Int = 0
    @Field.Stored("weight") var weight: Double?
    @Field.Stored("isTame") var isTame: Bool = false
    @Field.Stored("born") var born: Date?
    @Field.Stored("chip") var chip: Data?
    @Field.Virtual("band", customGetter: { object, _ in "band \(object.$rank.value / 4)" })
    var band: String
    @Field.Stored("name") var name: String?
    @Field.Stored("color") var color: String?
    @Field.Relationship("owner") var owner: Keeper?
    @Field.Relationship("friends", inverse: \.$friendOf) var friends: Set<Pet>
    @Field.Relationship("friendOf") var friendOf: Set<Pet>
}

class Hound: Pet {
    @Field.Stored("speed") var speed: Double = 0
}

final class Puppy: Hound {
    @Field.Stored("toys") var toys: Int = 0
}

final class Keeper: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("age") var age: Int = 0
    @Field.Relationship("boss") var boss: Keeper?
    @Field.Relationship("staff", inverse: \.$boss) var staff: Set<Keeper>
    @Field.Relationship("pets", inverse: \.$owner) var pets: Set<Pet>
}

/// Counts transactions.
final class Mark: CoreStoreObject {
    @Field.Stored("number") var number: Int = 0
}

enum Kennel {
    static var schema: CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<Pet>("Pet", indexes: [[\.$rank]]), Entity<Hound>("Hound"),
                Entity<Puppy>("Puppy"), Entity<Keeper>("Keeper"), Entity<Mark>("Mark"),
            ])
    }

    static func stack(_ context: ViewContext) throws -> DataStack {
        let stack = DataStack(schema, viewContext: context)
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    /// Some random changes.
    ///
    /// - Parameter countMax: how many pets there are when no more come.
    static func act(
        _ transaction: BaseDataTransaction, _ random: inout SeededRandom, count: Int,
        countMax: Int = 400
    ) throws {
        let pets = try transaction.fetchAll(From<Pet>().orderBy(.ascending(\.$rank)))
        let keepers = try transaction.fetchAll(From<Keeper>())
        func pick() -> Pet? {
            guard !pets.isEmpty else { return nil }
            let pet = pets[random.below(pets.count)]
            return pet.isDeleted ? nil : pet
        }
        for _ in 0..<count {
            switch random.below(14) {
            case 0, 1:
                guard pets.count < countMax else { break }
                let new = create(transaction, &random)
                new.rank = random.below(12)
                new.name = random.below(6) == 0 ? nil : name(&random)
                // Sometimes created and deleted at once.
                if random.below(6) == 0 { transaction.delete(new) }
            case 2:
                if let pet = pick(), pets.count > min(15, countMax / 4) { transaction.delete(pet) }
            case 3: pick()?.rank = random.below(12)
            case 4: pick()?.name = random.below(8) == 0 ? nil : name(&random)
            case 5: pick()?.color = random.below(4) == 0 ? nil : "c\(random.below(4))"
            case 6: pick()?.owner = keepers.randomElement(using: &random)
            case 7, 8:
                if let pet = pick(), let other = pick() {
                    if pet.friends.remove(other) == nil { pet.friends.insert(other) }
                }
            case 9: keepers.randomElement(using: &random)?.age = random.below(4)
            case 10:
                keepers.randomElement(using: &random)?.boss =
                    random.below(4) == 0 ? nil : keepers.randomElement(using: &random)
            case 11:
                pick()?.weight = random.below(4) == 0 ? nil : Double(random.below(9)) / 2 - 1
                pick()?.isTame.toggle()
            case 12:
                let date = Date(timeIntervalSinceReferenceDate: Double(random.below(7) * 1000))
                pick()?.born = random.below(4) == 0 ? nil : date
                pick()?.chip = random.below(4) == 0 ? nil : Data([UInt8(random.below(3))])
                let pet = pick()
                (pet as? Hound)?.speed = Double(random.below(5))
                (pet as? Puppy)?.toys = random.below(5)
            default:
                keepers.randomElement(using: &random)?.name = "k\(random.below(9))"
                if keepers.count < 5 { _ = transaction.create(Into<Keeper>()) }
            }
        }
    }

    /// A pet of any class.
    private static func create(
        _ transaction: BaseDataTransaction, _ random: inout SeededRandom
    ) -> Pet {
        switch random.below(4) {
        case 0: transaction.create(Into<Hound>())
        case 1: transaction.create(Into<Puppy>())
        default: transaction.create(Into<Pet>())
        }
    }

    /// A short name, or one of those that a list's shortened keys do not tell apart.
    private static func name(_ random: inout SeededRandom) -> String {
        random.below(4) == 0
            ? "a name that is longer than the kept key \(random.below(9))"
            : "n\(random.below(30))"
    }

    /// Deletes the first objects of an order, so that windows use up their reserve.
    static func deleteFirst(_ transaction: BaseDataTransaction, _ count: Int) throws {
        let first = try transaction.fetchAll(
            From<Pet>().orderBy(.ascending(\.$rank), .ascending(\.$name)).tweak {
                $0.fetchLimit = count
            })
        transaction.delete(first)
    }

    static func addMany(
        _ transaction: BaseDataTransaction, _ random: inout SeededRandom, _ count: Int
    ) {
        for _ in 0..<count {
            let new = create(transaction, &random)
            (new.rank, new.name) = (random.below(12), name(&random))
            if random.below(2) == 0 { new.weight = Double(random.below(9)) }
        }
    }
}
