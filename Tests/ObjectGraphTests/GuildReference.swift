import ObjectGraph
import TestSupport

/// A reference for imports of members, written with dictionaries: each source, then its nested
/// sources, and the links last. It shares no code with the importer, only the keys of the sources.
struct GuildReference {
    struct Failure: Error {}

    /// A text that is compared by its bytes.
    struct Key: Hashable {
        var bytes: [UInt8]
        init(_ text: String) { bytes = Array(text.utf8) }
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private struct Person {
        var name = ""
        var master: Key?
        var friends: [Key] = []
        var badges: Set<Int> = []
        var notes: [Int] = []
    }

    private enum Target {
        case member(Key)
        case badge(Int)
        case note(Int)
    }

    private struct Links {
        /// The number of the source, in the order of processing.
        var source: Int
        var owner: Key
        var name: String
        var targets: [Target]
    }

    private var members: [Key: Person] = [:]
    private var badges: [Int: String] = [:]
    private var notes: [String] = []
    private var links: [Links] = []
    private var sourceCount = 0

    /// One pass; the caller drops the reference of a pass that fails.
    mutating func take(members: [[String: Any]], badges: [[String: Any]]) throws {
        for source in members { _ = try take(member: source) }
        for source in badges { _ = take(badge: source) }
        // The targets of each relationship of an object: its last source decides.
        var last: [Key: [String: [Target]]] = [:]
        for link in links.sorted(by: { $0.source < $1.source }) {
            last[link.owner, default: [:]][link.name] = link.targets
        }
        links = []
        for (owner, byName) in last {
            for (name, targets) in byName { try set(owner, name, targets) }
        }
    }

    private mutating func set(_ owner: Key, _ name: String, _ targets: [Target]) throws {
        var (people, numbers, texts): ([Key], [Int], [Int]) = ([], [], [])
        for target in targets {
            switch target {
            case .member(let key):
                guard members[key] != nil else { throw Failure() }
                if !people.contains(key) { people.append(key) }
            case .badge(let number):
                guard badges[number] != nil else { throw Failure() }
                numbers.append(number)
            case .note(let note): texts.append(note)
            }
        }
        switch name {
        case "master": members[owner]?.master = people.first
        case "friends": members[owner]?.friends = people
        case "badges": members[owner]?.badges = Set(numbers)
        default: members[owner]?.notes = texts
        }
    }

    /// The key of the member that a source leads to; nil where there is none.
    private mutating func take(member source: [String: Any]) throws -> Key? {
        guard let code = source["code"] as? String else { return nil }
        let key = Key(code)
        sourceCount += 1
        let number = sourceCount
        if members[key] != nil {
            if source["isNew"] != nil { return key }
        } else {
            if source["isKnown"] != nil { return nil }
            members[key] = Person()
        }
        if source["isRefused"] != nil { throw Failure() }
        members[key]?.name = source["name"] as? String ?? ""
        for name in ["master", "friends", "badges", "notes"] {
            guard let value = source[name] else { continue }
            let values = value is NSNull ? [] : value as? [Any] ?? [value]
            if name == "master", values.count > 1 { throw Failure() }
            var targets: [Target] = []
            for value in values {
                if let target = try target(name, value) { targets.append(target) }
            }
            links.append(Links(source: number, owner: key, name: name, targets: targets))
        }
        return key
    }

    private mutating func target(_ name: String, _ value: Any) throws -> Target? {
        switch (name, value) {
        case ("badges", let source as [String: Any]): return take(badge: source).map { .badge($0) }
        case ("badges", let number as Int): return .badge(number)
        case ("notes", let source as [String: Any]):
            guard let text = source["text"] as? String else { return nil }
            notes.append(text)
            return .note(notes.count - 1)
        case (_, let source as [String: Any]): return try take(member: source).map { .member($0) }
        case (_, let code as String): return .member(Key(code))
        default: throw Failure()
        }
    }

    private mutating func take(badge source: [String: Any]) -> Int? {
        guard let number = source["number"] as? Int else { return nil }
        badges[number] = source["text"] as? String ?? ""
        return number
    }

    /// The lines of a ``Guild`` with the same content.
    func lines() -> [String] {
        let people = members.map { key, person in
            let pupils = members.filter { $0.value.master == key }.map(\.key.text)
            return "\(key.text) “\(person.name)” of \(person.master?.text ?? "none"), "
                + "pupils \(pupils.sorted(by: Guild.byBytes)), "
                + "friends \(person.friends.map(\.text)), "
                + "badges \(person.badges.sorted()), notes \(person.notes.map { notes[$0] })"
        }
        return
            (people + badges.map { "\($0.key) “\($0.value)”" } + notes.map { "note “\($0)”" })
            .sorted(by: Guild.byBytes)
    }
}

/// Valid and invalid sources.
struct GuildSources {
    var random: SeededRandom
    /// Two of the codes are equal for Swift.
    private let codes = ["a", "b", "c", "\u{E9}", "e\u{301}", "", "a\u{0}", "f", "g", "h"]

    init(_ random: SeededRandom) { self.random = random }

    mutating func members(_ count: Int) -> [[String: Any]] {
        (0..<count).map { _ in member(depth: 0) }
    }

    mutating func badges(_ count: Int) -> [[String: Any]] { (0..<count).map { _ in badge() } }

    private mutating func member(depth: Int) -> [String: Any] {
        var source: [String: Any] = ["name": "name \(random.below(1000))"]
        if random.below(20) > 0 { source["code"] = codes[random.below(codes.count)] }
        if random.below(8) == 0 { source["isNew"] = true }
        if random.below(8) == 0 { source["isKnown"] = true }
        if random.below(300) == 0 { source["isRefused"] = true }
        if random.below(3) == 0 {
            source["master"] = random.below(4) == 0 ? NSNull() as Any : target(depth)
        }
        if random.below(3) == 0 {
            source["friends"] = (0..<random.below(4)).map { _ in target(depth) }
        }
        if random.below(3) == 0 {
            source["badges"] = (0..<random.below(3)).map { _ -> Any in
                random.below(2) == 0 ? badge() as Any : Int(random.below(5))
            }
        }
        if random.below(4) == 0 {
            source["notes"] = (0..<random.below(3)).map { _ -> [String: Any] in
                random.below(5) == 0 ? [:] : ["text": "text \(random.below(1000))"]
            }
        }
        return source
    }

    private mutating func target(_ depth: Int) -> Any {
        if depth < 3, random.below(2) == 0 { return member(depth: depth + 1) }
        return codes[random.below(codes.count)]
    }

    private mutating func badge() -> [String: Any] {
        ["number": Int(random.below(5)), "text": "text \(random.below(1000))"]
    }
}
