import ObjectGraph
import Proof
import TestSupport

/// An object in the lists of the observation proof.
final class Pet: CoreStoreObject {
    @Field.Stored("rank") var rank: Int = 0
    @Field.Stored("name") var name: String?
    @Field.Stored("color") var color: String?
    @Field.Relationship("owner") var owner: Keeper?
    @Field.Relationship("friends", inverse: \.$friendOf) var friends: Set<Pet>
    @Field.Relationship("friendOf") var friendOf: Set<Pet>
}

final class Keeper: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("age") var age: Int = 0
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
                Entity<Pet>("Pet", indexes: [[\.$rank]]), Entity<Keeper>("Keeper"),
                Entity<Mark>("Mark"),
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
            switch random.below(11) {
            case 0, 1:
                guard pets.count < countMax else { break }
                let new = transaction.create(Into<Pet>())
                new.rank = random.below(12)
                new.name = random.below(6) == 0 ? nil : "n\(random.below(30))"
                // Sometimes created and deleted at once.
                if random.below(6) == 0 { transaction.delete(new) }
            case 2:
                if let pet = pick(), pets.count > min(15, countMax / 4) { transaction.delete(pet) }
            case 3: pick()?.rank = random.below(12)
            case 4: pick()?.name = "n\(random.below(30))"
            case 5: pick()?.color = random.below(4) == 0 ? nil : "c\(random.below(4))"
            case 6: pick()?.owner = keepers.randomElement(using: &random)
            case 7, 8:
                if let pet = pick(), let other = pick() {
                    if pet.friends.remove(other) == nil { pet.friends.insert(other) }
                }
            case 9: keepers.randomElement(using: &random)?.age = random.below(4)
            default:
                keepers.randomElement(using: &random)?.name = "k\(random.below(9))"
                if keepers.count < 5 { _ = transaction.create(Into<Keeper>()) }
            }
        }
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
            let new = transaction.create(Into<Pet>())
            (new.rank, new.name) = (random.below(12), "n\(random.below(30))")
        }
    }
}

/// A request in the forms for a monitor, a publisher and a fetch.
struct KennelRequest {
    var chain: FetchChainBuilder<Pet>
    var section: SectionBy<Pet>?
    /// Whether the names of owners count.
    var followsOwners: Bool

    func monitor(_ stack: DataStack) -> ListMonitor<Pet> {
        guard let section else { return stack.monitorList(chain) }
        return stack.monitorSectionedList(chain.from, section, chain.fetchClauses)
    }

    func monitor(_ transaction: UnsafeDataTransaction) -> ListMonitor<Pet> {
        guard let section else { return transaction.monitorList(chain) }
        return transaction.monitorSectionedList(chain.from, section, chain.fetchClauses)
    }

    func publisher(_ stack: DataStack) -> ListPublisher<Pet> {
        guard let section else { return stack.publishList(chain) }
        return stack.publishList(chain.from, section, chain.fetchClauses)
    }

    static func random(_ random: inout SeededRandom) -> KennelRequest {
        let limit = random.below(2) == 0 ? random.below(12) + 1 : 0
        let offset = random.below(3) == 0 ? random.below(6) : 0
        let rankMin = random.below(6)
        let isByOwner = random.below(4) == 0
        let isWatching = random.below(4) == 0
        let isSectioned = random.below(2) == 0
        var keys: [OrderBy<Pet>.SortKey] = []
        if isSectioned { keys.append(.ascending(\.$rank)) }
        if isByOwner { keys.append(.descending("owner.name")) }
        keys.append(random.below(2) == 0 ? .ascending(\.$name) : .descending(\.$color))
        if !isSectioned, random.below(2) == 0 { keys.insert(.ascending(\.$rank), at: 0) }
        var chain = From<Pet>().where(\.$rank >= rankMin).orderBy(keys).tweak {
            $0.fetchLimit = limit
            $0.fetchOffset = offset
        }
        if isWatching { chain = chain.watching(\.$owner ~ \.$name) }
        return KennelRequest(
            chain: chain, section: isSectioned ? SectionBy<Pet>(\.$rank) : nil,
            followsOwners: isByOwner || isWatching)
    }
}
