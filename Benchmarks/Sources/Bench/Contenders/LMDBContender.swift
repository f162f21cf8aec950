import CLMDB
import Foundation

/// LMDB with packed values and indexes kept by hand: what a B+tree can do.
final class LMDBContender: Contender {
    struct Failure: Error { var message: String }

    typealias Handle = Int64

    private var environment: OpaquePointer?
    private var personTree = MDB_dbi()
    private var emailTree = MDB_dbi()
    private var nameTree = MDB_dbi()
    private var ageTree = MDB_dbi()
    private var dogTree = MDB_dbi()
    private var ownerTree = MDB_dbi()

    init(path: String, cacheSizeInBytes: Int) throws {
        try check(mdb_env_create(&environment))
        mdb_env_set_mapsize(environment, 64 << 30)
        mdb_env_set_maxdbs(environment, 8)
        try check(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR), 0o644))
        do {
            try transaction { try open($0, creates: false) }
        } catch {
            try transaction(writes: true) { try open($0, creates: true) }
        }
    }

    private func open(_ transaction: OpaquePointer, creates: Bool) throws {
        let creation = creates ? MDB_CREATE : 0
        let numbered = creation | MDB_INTEGERKEY
        let sets = MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP
        personTree = try open("person", numbered, transaction)
        dogTree = try open("dog", numbered, transaction)
        emailTree = try open("email", creation, transaction)
        nameTree = try open("name", creation | sets, transaction)
        ageTree = try open("age", numbered | sets, transaction)
        ownerTree = try open("owner", numbered | sets, transaction)
    }

    /// What is committed is where it stays.
    func settle() {}

    func close() { mdb_env_close(environment) }

    // MARK: Writing

    func insert(persons supply: PersonSupply) throws {
        try transaction(writes: true) { transaction in
            var id = try lastKey(personTree, transaction)
            for person in supply {
                id += 1
                try insert(person, id, transaction)
            }
        }
    }

    private func insert(_ person: PersonSource, _ id: Int64, _ transaction: OpaquePointer) throws {
        try put(emailTree, text: person.email, id, MDB_NOOVERWRITE, transaction)
        try putPerson(person, id, MDB_APPEND, transaction)
        try put(nameTree, text: person.name, id, 0, transaction)
        try put(ageTree, number: Int64(person.age), id, transaction)
    }

    func importUnique(persons supply: PersonSupply) throws {
        try transaction(writes: true) { transaction in
            var last = try lastKey(personTree, transaction)
            for person in supply {
                guard let id = try id(ofEmail: person.email, transaction) else {
                    last += 1
                    try insert(person, last, transaction)
                    continue
                }
                let (oldName, oldAge) = try value(personTree, id, transaction) { packed in
                    (packed.name, packed.age)
                }
                try putPerson(person, id, 0, transaction)
                if oldName != person.name {
                    try remove(nameTree, text: oldName, id, transaction)
                    try put(nameTree, text: person.name, id, 0, transaction)
                }
                if oldAge != person.age {
                    try remove(ageTree, number: Int64(oldAge), id, transaction)
                    try put(ageTree, number: Int64(person.age), id, transaction)
                }
            }
        }
    }

    func insert(dogs supply: DogSupply<Int64>) throws {
        try transaction(writes: true) { transaction in
            var id = try lastKey(dogTree, transaction)
            for (dog, owner) in supply {
                id += 1
                try value(personTree, owner, transaction) { _ in }
                try withPacked(dog, owner) { value in
                    try put(dogTree, number: id, bytes: value, MDB_APPEND, transaction)
                }
                try put(ownerTree, number: owner, id, transaction)
            }
        }
    }

    func update(ages updates: [(person: Int64, age: Int)]) throws {
        try transaction(writes: true) { transaction in
            for (id, age) in updates {
                let (old, bytes) = try value(personTree, id, transaction) { packed in
                    (packed.age, [UInt8](packed.bytes))
                }
                guard old != age else { continue }
                var changed = bytes
                try changed.withUnsafeMutableBytes { bytes in
                    bytes.storeBytes(of: Int64(age), toByteOffset: 16, as: Int64.self)
                    try put(
                        personTree, number: id, bytes: UnsafeRawBufferPointer(bytes), 0, transaction
                    )
                }
                try remove(ageTree, number: Int64(old), id, transaction)
                try put(ageTree, number: Int64(age), id, transaction)
            }
        }
    }

    func delete(persons ids: [Int64]) throws {
        try transaction(writes: true) { transaction in
            for id in ids {
                let (name, email, age) = try value(personTree, id, transaction) {
                    ($0.name, $0.email, $0.age)
                }
                try remove(nameTree, text: name, id, transaction)
                try remove(ageTree, number: Int64(age), id, transaction)
                try withKey(email) { key in
                    try check(mdb_del(transaction, emailTree, key, nil))
                }
                var dogIDs: [Int64] = []
                try forEach(ownerTree, id, transaction) { dogIDs.append($0) }
                for dog in dogIDs {
                    try withKey(dog) { key in try check(mdb_del(transaction, dogTree, key, nil)) }
                }
                if !dogIDs.isEmpty {
                    try withKey(id) { key in try check(mdb_del(transaction, ownerTree, key, nil)) }
                }
                try withKey(id) { key in try check(mdb_del(transaction, personTree, key, nil)) }
            }
        }
    }

    // MARK: Reading

    func read(emails: [String], into checksum: inout Checksum) throws {
        try transaction { transaction in
            for email in emails {
                if let id = try id(ofEmail: email, transaction) {
                    try add(id, to: &checksum, transaction)
                }
            }
        }
    }

    func read(email: String, into checksum: inout Checksum) throws {
        try read(emails: [email], into: &checksum)
    }

    func read(persons: [Int64], into checksum: inout Checksum) throws {
        try transaction { transaction in
            for id in persons { try add(id, to: &checksum, transaction) }
        }
    }

    func readSorted(ages range: ClosedRange<Int>, into checksum: inout Checksum) throws {
        try transaction { transaction in
            var found: [PersonSource] = []
            for age in range {
                try forEach(ageTree, Int64(age), transaction) { id in
                    found.append(try value(personTree, id, transaction) { $0.person })
                }
            }
            found.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            var order = Checksum()
            for person in found {
                checksum.add(person)
                order.addNext(person.name)
            }
            checksum.addNext(order)
        }
    }

    func count(balanceAbove: Double, nameContains: String) throws -> Int {
        let pattern = FoldedText(nameContains)
        var count = 0
        try scan(personTree) { packed, _ in
            if packed.balance > balanceAbove, pattern.isContained(in: packed.nameBytes) {
                count += 1
            }
        }
        return count
    }

    func balances() throws -> BalanceSummary {
        var summary = BalanceSummary(
            count: 0, sum: 0, average: 0, minimum: .infinity, maximum: -.infinity)
        try scan(personTree) { packed, _ in summary.add(packed.balance) }
        summary.average = summary.sum / Double(summary.count)
        return summary
    }

    func ages() throws -> [AgeSummary] {
        var counts = [Int](repeating: 0, count: 256)
        var sums = [Double](repeating: 0, count: 256)
        try scan(personTree) { packed, _ in
            counts[packed.age] += 1
            sums[packed.age] += packed.balance
        }
        return counts.indices.filter { counts[$0] > 0 }.map {
            AgeSummary(
                age: $0, count: counts[$0], averageBalance: sums[$0] / Double(counts[$0]))
        }
    }

    func readDogs(owners ids: [Int64], into checksum: inout Checksum) throws {
        try transaction { transaction in
            for id in ids {
                let name = try value(personTree, id, transaction) { $0.name }
                var sum = 0
                try forEach(ownerTree, id, transaction) { dog in
                    sum += try value(dogTree, dog, transaction) { $0.dogAge }
                }
                checksum.add(name: name, dogAges: sum)
            }
        }
    }

    func readDogs(age: Int, into checksum: inout Checksum) throws {
        try scan(dogTree) { dog, transaction in
            guard dog.dogAge == age else { return }
            let owner = try value(personTree, dog.owner, transaction) { $0.email }
            checksum.add(nickname: dog.nickname, dogAge: age, owner: owner)
        }
    }

    private func add(
        _ id: Int64, to checksum: inout Checksum, _ transaction: OpaquePointer
    ) throws {
        checksum.add(try value(personTree, id, transaction) { $0.person })
    }
}

// MARK: Calls

extension LMDBContender {
    private func open(
        _ name: String, _ flags: Int32, _ transaction: OpaquePointer
    ) throws -> MDB_dbi {
        var tree = MDB_dbi()
        try check(mdb_dbi_open(transaction, name, UInt32(flags), &tree))
        return tree
    }

    private func transaction(
        writes: Bool = false, _ body: (OpaquePointer) throws -> Void
    ) throws {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, writes ? 0 : UInt32(MDB_RDONLY), &transaction))
        guard let transaction else { throw Failure(message: "no transaction began") }
        do {
            try body(transaction)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try check(mdb_txn_commit(transaction))
    }

    private func lastKey(_ tree: MDB_dbi, _ transaction: OpaquePointer) throws -> Int64 {
        try withCursor(tree, transaction) { cursor in
            var (key, value) = (MDB_val(), MDB_val())
            guard mdb_cursor_get(cursor, &key, &value, MDB_LAST) == MDB_SUCCESS else { return 0 }
            return key.mv_data.loadUnaligned(as: Int64.self)
        }
    }

    private func id(ofEmail email: String, _ transaction: OpaquePointer) throws -> Int64? {
        try withKey(email) { key in
            var value = MDB_val()
            let code = mdb_get(transaction, emailTree, key, &value)
            if code == MDB_NOTFOUND { return nil }
            try check(code)
            return value.mv_data.loadUnaligned(as: Int64.self)
        }
    }

    @discardableResult
    private func value<Result>(
        _ tree: MDB_dbi, _ id: Int64, _ transaction: OpaquePointer,
        _ body: (Packed) throws -> Result
    ) throws -> Result {
        try withKey(id) { key in
            var value = MDB_val()
            try check(mdb_get(transaction, tree, key, &value))
            return try body(
                Packed(bytes: UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)))
        }
    }

    /// The numbers that an index has under a key, a page of them at a time.
    private func forEach(
        _ tree: MDB_dbi, _ number: Int64, _ transaction: OpaquePointer,
        _ body: (Int64) throws -> Void
    ) throws {
        try withCursor(tree, transaction) { cursor in
            try withKey(number) { key in
                var value = MDB_val()
                var code = mdb_cursor_get(cursor, key, &value, MDB_SET)
                if code == MDB_SUCCESS {
                    code = mdb_cursor_get(cursor, key, &value, MDB_GET_MULTIPLE)
                }
                while code == MDB_SUCCESS {
                    for offset in stride(from: 0, to: value.mv_size, by: 8) {
                        try body(
                            value.mv_data.loadUnaligned(fromByteOffset: offset, as: Int64.self))
                    }
                    code = mdb_cursor_get(cursor, key, &value, MDB_NEXT_MULTIPLE)
                }
                if code != MDB_NOTFOUND { try check(code) }
            }
        }
    }

    private func scan(
        _ tree: MDB_dbi, _ body: (Packed, OpaquePointer) throws -> Void
    ) throws {
        try transaction { transaction in
            try withCursor(tree, transaction) { cursor in
                var (key, value) = (MDB_val(), MDB_val())
                while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS {
                    try body(
                        Packed(
                            bytes: UnsafeRawBufferPointer(
                                start: value.mv_data, count: value.mv_size)), transaction)
                }
            }
        }
    }

    private func putPerson(
        _ person: PersonSource, _ id: Int64, _ flags: Int32, _ transaction: OpaquePointer
    ) throws {
        try withPacked(person) { bytes in
            try put(personTree, number: id, bytes: bytes, flags, transaction)
        }
    }

    private func put(
        _ tree: MDB_dbi, number: Int64, bytes: UnsafeRawBufferPointer, _ flags: Int32,
        _ transaction: OpaquePointer
    ) throws {
        try withKey(number) { key in
            var value = MDB_val(
                mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            try check(mdb_put(transaction, tree, key, &value, UInt32(flags)))
        }
    }

    private func put(
        _ tree: MDB_dbi, number: Int64, _ id: Int64, _ transaction: OpaquePointer
    ) throws {
        try withKey(number) { key in
            try withKey(id) { value in try check(mdb_put(transaction, tree, key, value, 0)) }
        }
    }

    private func put(
        _ tree: MDB_dbi, text: String, _ id: Int64, _ flags: Int32, _ transaction: OpaquePointer
    ) throws {
        try withKey(text) { key in
            try withKey(id) { value in
                try check(mdb_put(transaction, tree, key, value, UInt32(flags)))
            }
        }
    }

    private func remove(
        _ tree: MDB_dbi, text: String, _ id: Int64, _ transaction: OpaquePointer
    ) throws {
        try withKey(text) { key in
            try withKey(id) { value in try check(mdb_del(transaction, tree, key, value)) }
        }
    }

    private func remove(
        _ tree: MDB_dbi, number: Int64, _ id: Int64, _ transaction: OpaquePointer
    ) throws {
        try withKey(number) { key in
            try withKey(id) { value in try check(mdb_del(transaction, tree, key, value)) }
        }
    }

    private func withCursor<Result>(
        _ tree: MDB_dbi, _ transaction: OpaquePointer, _ body: (OpaquePointer) throws -> Result
    ) throws -> Result {
        var cursor: OpaquePointer?
        try check(mdb_cursor_open(transaction, tree, &cursor))
        guard let cursor else { throw Failure(message: "no cursor opened") }
        defer { mdb_cursor_close(cursor) }
        return try body(cursor)
    }

    private func withKey<Result>(
        _ number: Int64, _ body: (UnsafeMutablePointer<MDB_val>) throws -> Result
    ) throws -> Result {
        var number = number
        return try withUnsafeMutableBytes(of: &number) { bytes in
            var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
            return try body(&key)
        }
    }

    private func withKey<Result>(
        _ text: String, _ body: (UnsafeMutablePointer<MDB_val>) throws -> Result
    ) throws -> Result {
        var text = text
        return try text.withUTF8 { bytes in
            var key = MDB_val(
                mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            return try body(&key)
        }
    }

    private func check(_ code: Int32) throws {
        guard code == MDB_SUCCESS else {
            throw Failure(message: String(cString: mdb_strerror(code)))
        }
    }
}
