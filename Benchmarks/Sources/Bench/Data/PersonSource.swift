import Foundation

/// One person of the benchmark data: what every contender stores.
struct PersonSource {
    var name: String
    var email: String
    var age: Int
    /// A multiple of 1/64, so that sums are exact in every order.
    var balance: Double
    /// Whole seconds, because some contenders keep no more than milliseconds.
    var createdAt: Date
    /// About 200 bytes.
    var bio: String

    static let ages = 18...90
}

extension PersonSource {
    /// The person with this number: the same for every contender, process and run. A later
    /// revision has the same e-mail address and other values.
    init(number: Int, revision: Int = 0) {
        var identity = SplitMix64(state: UInt64(number) &* 0x9E37_79B9 &+ 7)
        let local = Words.name(&identity).lowercased().replacing(" ", with: ".")
        email = "\(local).\(number)@example.org"
        var random = SplitMix64(state: identity.next() &+ UInt64(revision))
        name = Words.name(&random)
        age = Self.ages.lowerBound + Int(random.next() % UInt64(Self.ages.count))
        balance = Double(random.next() % 6_400_000) / 64
        createdAt = Date(timeIntervalSinceReferenceDate: Double(random.next() % 788_918_400))
        bio = Words.text(sizeInBytes: 180 + Int(random.next() % 40), &random)
    }

    /// The number that a person's e-mail address ends with.
    static func number(ofEmail email: String) -> Int? {
        guard let at = email.utf8.firstIndex(of: UInt8(ascii: "@")) else { return nil }
        let local = email[..<at]
        guard let dot = local.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        return Int(local[local.utf8.index(after: dot)...])
    }
}

/// One dog of the benchmark data.
struct DogSource {
    var nickname: String
    var age: Int
    /// The number of the person that owns it.
    var owner: Int

    init(number: Int, personCount: Int) {
        var random = SplitMix64(state: UInt64(number) &* 0x517C_C1B7 &+ 11)
        nickname = Words.nickname(&random)
        age = Int(random.next() % 16)
        owner = Int(random.next() % UInt64(personCount))
    }
}

/// A small generator whose numbers are the same on every machine.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
