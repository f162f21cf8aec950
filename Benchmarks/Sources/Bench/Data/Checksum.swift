import Foundation

/// Sums what a contender read, so that two contenders can be compared before their times are.
/// Every contender hands over Swift values: text that a program could keep.
struct Checksum {
    private(set) var value: UInt64 = 0
    /// How many persons were added.
    private(set) var count = 0

    mutating func add(
        name: String, email: String, age: Int, balance: Double, createdAt: Date, bio: String
    ) {
        var hash = Self.hash(name, 0xCBF2_9CE4_8422_2325)
        hash = Self.hash(email, hash)
        hash = Self.hash(bio, hash)
        hash = Self.mix(hash, UInt64(bitPattern: Int64(age)))
        hash = Self.mix(hash, balance.bitPattern)
        hash = Self.mix(hash, createdAt.timeIntervalSinceReferenceDate.bitPattern)
        // A sum does not depend on the order of equal keys.
        value &+= hash
        count += 1
    }

    mutating func add(_ person: PersonSource) {
        add(
            name: person.name, email: person.email, age: person.age, balance: person.balance,
            createdAt: person.createdAt, bio: person.bio)
    }

    /// A person's name and the sum of the ages of their dogs.
    mutating func add(name: String, dogAges: Int) {
        value &+= Self.mix(Self.hash(name, 0), UInt64(bitPattern: Int64(dogAges)))
        count += 1
    }

    mutating func add(nickname: String, dogAge: Int, owner: String) {
        value &+= Self.mix(
            Self.hash(owner, Self.hash(nickname, 0)), UInt64(bitPattern: Int64(dogAge)))
        count += 1
    }

    /// What depends on the order of the calls.
    mutating func addNext(_ text: String) { value = Self.hash(text, value) }

    mutating func addNext(_ number: Int) {
        value = Self.mix(value, UInt64(bitPattern: Int64(number)))
    }

    mutating func addNext(_ other: Checksum) { value = Self.mix(value, other.value) }

    mutating func addNext(_ number: Double) { value = Self.mix(value, number.bitPattern) }

    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        ((hash << 5 | hash >> 59) ^ word) &* 0x9E37_79B9_7F4A_7C15
    }

    /// Eight bytes at a time: the same little work for all.
    private static func hash(_ text: String, _ seed: UInt64) -> UInt64 {
        var text = text
        return text.withUTF8 { bytes in
            let raw = UnsafeRawBufferPointer(bytes)
            var hash = mix(seed, UInt64(raw.count))
            var offset = 0
            while offset + 8 <= raw.count {
                hash = mix(hash, raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
            }
            while offset < raw.count {
                hash = mix(hash, UInt64(raw[offset]))
                offset += 1
            }
            return hash
        }
    }
}
