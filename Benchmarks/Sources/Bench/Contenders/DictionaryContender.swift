/// Plain Swift collections: what is left when nothing is kept. The floor.
final class DictionaryContender: Contender {
    typealias Handle = Int64

    private struct Stored {
        var person: PersonSource
        var dogs: [Int] = []
    }

    private var persons: [Int64: Stored] = [:]
    private var idByEmail: [String: Int64] = [:]
    private var idsByAge: [Int: Set<Int64>] = [:]
    private var dogs: [Int: (nickname: String, age: Int, owner: Int64)] = [:]
    private var lastPerson: Int64 = 0
    private var lastDog = 0

    struct Refused: Error {}

    init(path: String, cacheSizeInBytes: Int) {}
    func settle() {}
    func close() {}

    func insert(persons supply: PersonSupply) throws {
        for person in supply {
            guard idByEmail[person.email] == nil else { throw Refused() }
            insert(person)
        }
    }

    private func insert(_ person: PersonSource) {
        lastPerson += 1
        persons[lastPerson] = Stored(person: person)
        idByEmail[person.email] = lastPerson
        idsByAge[person.age, default: []].insert(lastPerson)
    }

    func insert(dogs supply: DogSupply<Int64>) throws {
        for (dog, owner) in supply {
            lastDog += 1
            guard persons[owner]?.dogs.append(lastDog) != nil else { throw Refused() }
            dogs[lastDog] = (dog.nickname, dog.age, owner)
        }
    }

    func importUnique(persons supply: PersonSupply) {
        for person in supply {
            guard let id = idByEmail[person.email], let old = persons[id]?.person else {
                insert(person)
                continue
            }
            idsByAge[old.age]?.remove(id)
            idsByAge[person.age, default: []].insert(id)
            persons[id]?.person = person
        }
    }

    func update(ages: [(person: Int64, age: Int)]) {
        for (id, age) in ages {
            guard let old = persons[id]?.person.age else { continue }
            idsByAge[old]?.remove(id)
            idsByAge[age, default: []].insert(id)
            persons[id]?.person.age = age
        }
    }

    func delete(persons ids: [Int64]) {
        for id in ids {
            guard let stored = persons.removeValue(forKey: id) else { continue }
            idByEmail[stored.person.email] = nil
            idsByAge[stored.person.age]?.remove(id)
            for dog in stored.dogs { dogs[dog] = nil }
        }
    }

    func read(emails: [String], into checksum: inout Checksum) {
        for email in emails { read(email: email, into: &checksum) }
    }

    func read(email: String, into checksum: inout Checksum) {
        if let id = idByEmail[email], let stored = persons[id] { checksum.add(stored.person) }
    }

    func read(persons ids: [Int64], into checksum: inout Checksum) {
        for id in ids {
            if let stored = persons[id] { checksum.add(stored.person) }
        }
    }

    func readSorted(ages: ClosedRange<Int>, into checksum: inout Checksum) {
        let found = ages.flatMap { idsByAge[$0] ?? [] }.compactMap { persons[$0]?.person }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        var order = Checksum()
        for person in found {
            checksum.add(person)
            order.addNext(person.name)
        }
        checksum.addNext(order)
    }

    func count(balanceAbove: Double, nameContains: String) -> Int {
        let pattern = FoldedText(nameContains)
        return persons.values.count {
            $0.person.balance > balanceAbove && pattern.isContained(in: $0.person.name)
        }
    }

    func balances() -> BalanceSummary {
        var summary = BalanceSummary(
            count: 0, sum: 0, average: 0, minimum: .infinity, maximum: -.infinity)
        for stored in persons.values { summary.add(stored.person.balance) }
        summary.average = summary.sum / Double(summary.count)
        return summary
    }

    func ages() -> [AgeSummary] {
        var sums: [Int: (count: Int, sum: Double)] = [:]
        for stored in persons.values {
            sums[stored.person.age, default: (0, 0)].count += 1
            sums[stored.person.age, default: (0, 0)].sum += stored.person.balance
        }
        return sums.sorted { $0.key < $1.key }.map { age, sums in
            AgeSummary(
                age: age, count: sums.count, averageBalance: sums.sum / Double(sums.count))
        }
    }

    func readDogs(owners: [Int64], into checksum: inout Checksum) {
        for id in owners {
            guard let stored = persons[id] else { continue }
            let sum = stored.dogs.reduce(0) { $0 + (dogs[$1]?.age ?? 0) }
            checksum.add(name: stored.person.name, dogAges: sum)
        }
    }

    func readDogs(age: Int, into checksum: inout Checksum) {
        for dog in dogs.values where dog.age == age {
            checksum.add(
                nickname: dog.nickname, dogAge: age,
                owner: persons[dog.owner]?.person.email ?? "")
        }
    }
}

extension BalanceSummary {
    mutating func add(_ balance: Double) {
        count += 1
        sum += balance
        minimum = Swift.min(minimum, balance)
        maximum = Swift.max(maximum, balance)
    }
}

/// A text in ASCII that is looked for in any case, by hand: for contenders that have no search of
/// their own.
struct FoldedText {
    private let bytes: [UInt8]

    init(_ text: String) { bytes = text.utf8.map(Self.fold) }

    func isContained(in text: String) -> Bool {
        var text = text
        return text.withUTF8 { isContained(in: UnsafeRawBufferPointer($0)) }
    }

    func isContained(in text: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first else { return true }
        guard text.count >= bytes.count else { return false }
        for start in 0...(text.count - bytes.count) where Self.fold(text[start]) == first {
            var offset = 1
            while offset < bytes.count, Self.fold(text[start + offset]) == bytes[offset] {
                offset += 1
            }
            if offset == bytes.count { return true }
        }
        return false
    }

    private static func fold(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }
}
