import Foundation
import ObjectGraph
import TestSupport

/// A request in the forms for a monitor, a publisher and a fetch.
struct KennelRequest {
    var chain: FetchChainBuilder<Pet>
    var section: SectionBy<Pet>?
    /// The values of related objects whose changes are changes of the list's own.
    var followed: [@Sendable (Pet) -> AnyHashable?] = []

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

    private static let keyNames = [
        "rank", "name", "color", "weight", "isTame", "born", "owner.name", "owner.boss.age",
        "owner.boss.name",
    ]
    private static let sectionNames = ["rank", "color", "isTame", "owner.name", "owner.boss.name"]

    /// - Parameter allowsComputed: whether sections may be computed by a property.
    static func random(
        _ random: inout SeededRandom, allowsComputed: Bool = false
    ) -> KennelRequest {
        var names: [String] = []
        var section: SectionBy<Pet>?
        if random.below(2) == 0 {
            if allowsComputed, random.below(8) == 0 {
                section = SectionBy<Pet>(\.$band)
                names.append("rank")
            } else {
                let name = sectionNames[random.below(sectionNames.count)]
                section = SectionBy<Pet>(name)
                names.append(name)
            }
        }
        for _ in 0...random.below(3) {
            let name = keyNames[random.below(keyNames.count)]
            if !names.contains(name) { names.append(name) }
        }
        let keys = names.map { name -> OrderBy<Pet>.SortKey in
            random.below(3) == 0 ? .descending(name) : .ascending(name)
        }
        let limit = random.below(2) == 0 ? random.below(12) + 1 : 0
        let offset = random.below(3) == 0 ? random.below(6) : 0
        var chain = From<Pet>().where(condition(&random)).orderBy(keys).tweak {
            $0.fetchLimit = limit
            $0.fetchOffset = offset
        }
        if random.below(4) == 0 {
            chain = chain.watching(\.$owner ~ \.$name)
            names.append("owner.name")
        }
        return KennelRequest(
            chain: chain, section: section, followed: names.compactMap(related))
    }

    /// The value at the end of a path that crosses a relationship.
    private static func related(_ name: String) -> (@Sendable (Pet) -> AnyHashable?)? {
        if name == "owner.name" { return { $0.owner?.name } }
        if name == "owner.boss.age" { return { $0.owner?.boss?.age } }
        if name == "owner.boss.name" { return { $0.owner?.boss?.name } }
        return nil
    }

    private static func condition(_ random: inout SeededRandom) -> Where<Pet> {
        switch random.below(12) {
        case 0: Where<Pet>("name != nil AND rank < 10")
        case 1: Where<Pet>("name == nil OR color == nil")
        case 2: Where<Pet>("owner.name != %@", "k\(random.below(9))")
        case 3: Where<Pet>("owner.boss.age >= 1 OR rank < 5")
        case 4: Where<Pet>("weight == nil OR weight > 1")
        case 5: Where<Pet>("isTame == YES")
        case 6: Where<Pet>("born == nil OR chip != nil")
        case 7: Where<Pet>("name BEGINSWITH %@", "a name that is longer than")
        default: \.$rank >= random.below(6)
        }
    }
}

/// Lists of the classes that inherit, which must equal fetches.
struct InheritingLists {
    private let hounds: FetchChainBuilder<Hound>
    private let puppies: FetchChainBuilder<Puppy>
    private let houndMonitor: ListMonitor<Hound>
    private let puppyMonitor: ListMonitor<Puppy>
    private let puppyPublisher: ListPublisher<Puppy>

    init(_ stack: DataStack, _ random: inout SeededRandom) {
        let limit = random.below(2) == 0 ? random.below(5) + 1 : 0
        hounds = From<Hound>().where(\.$speed < 4).orderBy(
            .descending(\.$speed), .ascending("owner.boss.age")
        ).tweak { $0.fetchLimit = limit }
        puppies = From<Puppy>().where(Where<Puppy>("rank < 9")).orderBy(
            .ascending("name"), .descending(\.$toys))
        houndMonitor = stack.monitorList(hounds)
        puppyMonitor = stack.monitorSectionedList(
            puppies.from, SectionBy<Puppy>("name"), puppies.fetchClauses)
        puppyPublisher = stack.publishList(puppies)
    }

    /// What differs from a fetch; nil for nothing.
    func fault(_ stack: DataStack) throws -> String? {
        if try houndMonitor.objectsInAllSections() != stack.fetchAll(hounds) {
            return "a list of hounds is not what a fetch gives"
        }
        let fetched = try stack.fetchAll(puppies)
        if puppyMonitor.objectsInAllSections() != fetched {
            return "a list of puppies is not what a fetch gives"
        }
        if puppyPublisher.snapshot.itemIDs != fetched.map({ $0.objectID() }) {
            return "a publisher of puppies is not what a fetch gives"
        }
        return nil
    }
}
