import Foundation
import Proof

/// One line of a transaction's notes.
enum DiskChange: Equatable {
    case set(number: Int, tag: Int, owner: Int?, seed: Int, blobCount: Int)
    case delete(number: Int)

    var line: String {
        switch self {
        case .set(let number, let tag, let owner, let seed, let blobCount):
            "set \(number) \(tag) \(owner ?? -1) \(seed) \(blobCount)"
        case .delete(let number): "delete \(number)"
        }
    }

    init?(_ line: Substring) {
        let numbers = line.split(separator: " ").dropFirst().compactMap { Int($0) }
        if line.hasPrefix("set "), numbers.count == 5 {
            self = .set(
                number: numbers[0], tag: numbers[1], owner: numbers[2] < 0 ? nil : numbers[2],
                seed: numbers[3], blobCount: numbers[4])
        } else if line.hasPrefix("delete "), numbers.count == 1 {
            self = .delete(number: numbers[0])
        } else {
            return nil
        }
    }

    func apply(to rows: inout [Int: DiskRow]) {
        switch self {
        case .set(let number, let tag, let owner, let seed, let blobCount):
            rows[number] = DiskRow(
                number: number, tag: tag, owner: owner,
                text: DiskRow.text(number, seed: seed),
                blob: DiskRow.blob(blobCount, seed: seed))
        case .delete(let number):
            rows[number] = nil
            for (other, row) in rows where row.owner == number { rows[other]?.owner = nil }
        }
    }
}

/// The actions and promises noted in the trace: the transactions, the one that each builds on, and
/// how safe each is.
///
/// A transaction is *durable* when it was acknowledged as durable: no power cut loses it. It is
/// *acknowledged* when its call returned: the end of the process does not lose it. It is *refused*
/// when its call failed with an error that says that it is not there.
struct DiskLedger {
    private struct Attempt {
        var parent: Int
        var depth: Int
        var changes: [DiskChange]
        var isRefused = false
    }

    /// A copy of the store, and which transactions it may show.
    struct Copy {
        var heads: Set<Int> = []
        /// Whether the copy may be absent.
        var mayBeAbsent = true
        /// The oldest transaction that a running backup may contain.
        fileprivate var runningFrom: Int?
    }

    private var attempts: [Int: Attempt] = [0: Attempt(parent: 0, depth: 0, changes: [])]
    private(set) var durable = 0
    private(set) var acknowledged = 0
    private(set) var copies: [String: Copy] = [:]
    private var tasks: [String: Int] = [:]
    /// Errors that the program met, by their codes.
    private(set) var errors: [String: Int] = [:]
    private(set) var acknowledgedCount = 0
    /// The transaction that a stack of another process, which stays open, has shown last.
    private var followed = 0
    private var contents: [Int: [DiskRow]] = [0: []]

    init() {}

    /// After a power cut the store shows this transaction, and programs start from it.
    mutating func restart(at head: Int, copies found: [String: Int]) {
        durable = head
        acknowledged = head
        followed = head
        tasks = [:]
        copies = found.mapValues { Copy(heads: [$0], mayBeAbsent: false) }
    }

    // MARK: Notes

    mutating func take(_ note: String) throws {
        let lines = note.split(separator: "\n")
        let words = lines.first?.split(separator: " ").map(String.init) ?? []
        let number = words.count > 1 ? Int(words[1]) : nil
        switch words.first {
        case "attempt": try begin(words, lines.dropFirst())
        case "acknowledged": try acknowledge(number, isDurable: words.last != "relaxed")
        case "failed": fail(number, words.last ?? "")
        case "start": start(words)
        case "end": try end(words)
        case "stopped": stop(words)
        case "saw": try see(words, from: tasks["look"] ?? 0, "a reader")
        case "followed": followed = try see(words, from: followed, "a reader that follows")
        case "error": errors[words.last ?? "", default: 0] += 1
        case "wrong": throw ProofFailure("the program says: \(note)")
        case "arm", "begin", "step": break
        default: throw ProofFailure("the note “\(note)” says nothing")
        }
    }

    private mutating func begin(_ words: [String], _ lines: ArraySlice<Substring>) throws {
        guard words.count == 3, let number = Int(words[1]), let parent = Int(words[2]) else {
            throw ProofFailure("an attempt without numbers: \(words)")
        }
        guard let depth = attempts[parent]?.depth, attempts[number] == nil else {
            throw ProofFailure("attempt \(number) builds on \(parent), which is unknown")
        }
        let changes = lines.compactMap(DiskChange.init)
        attempts[number] = Attempt(parent: parent, depth: depth + 1, changes: changes)
        for (name, copy) in copies where copy.runningFrom != nil {
            copies[name]?.heads.insert(number)
        }
    }

    private mutating func acknowledge(_ number: Int?, isDurable: Bool) throws {
        guard let number, attempts[number] != nil else {
            throw ProofFailure("an acknowledgement of nothing")
        }
        acknowledgedCount += 1
        acknowledged = try later(number, acknowledged)
        if isDurable { durable = try later(number, durable) }
    }

    private func later(_ first: Int, _ second: Int) throws -> Int {
        if descends(first, from: second) { return first }
        guard descends(second, from: first) else {
            throw ProofFailure(
                "\(first) and \(second) were acknowledged, and neither is on top of the other")
        }
        return second
    }

    private mutating func fail(_ number: Int?, _ code: String) {
        errors[code, default: 0] += 1
        guard let number, code != "commitUncertain" else { return }
        attempts[number]?.isRefused = true
    }

    /// Checkpoints, vacuums, closings and backups make durable what was acknowledged before.
    private mutating func start(_ words: [String]) {
        guard words.count > 1 else { return }
        tasks[words[1]] = acknowledged
        guard words[1] == "backup", words.count == 3 else { return }
        var copy = copies[words[2]] ?? Copy()
        copy.runningFrom = acknowledged
        copy.heads.formUnion(attempts.keys.filter { descends($0, from: acknowledged) })
        copies[words[2]] = copy
    }

    private mutating func end(_ words: [String]) throws {
        guard words.count > 1, let from = tasks.removeValue(forKey: words[1]) else { return }
        if !["look", "follow"].contains(words[1]) { durable = try later(from, durable) }
        guard words[1] == "backup", words.count == 3, var copy = copies[words[2]] else { return }
        copy.heads = copy.heads.filter { descends($0, from: from) }
        copy.mayBeAbsent = false
        copy.runningFrom = nil
        copies[words[2]] = copy
    }

    private mutating func stop(_ words: [String]) {
        errors[words.last ?? "", default: 0] += 1
        guard words.count > 1 else { return }
        tasks[words[1]] = nil
        if words[1] == "backup", words.count > 2 { copies[words[2]]?.runningFrom = nil }
    }

    /// Another process has read the store.
    @discardableResult
    private mutating func see(_ words: [String], from bound: Int, _ name: String) throws -> Int {
        guard words.count == 3, let head = Int(words[1]), let digest = UInt64(words[2]) else {
            throw ProofFailure("\(name) saw nothing: \(words)")
        }
        try require(head, from: bound, name)
        guard DiskRow.digest(rows(head)) == digest else {
            throw ProofFailure("\(name) saw \(head) and other objects than that has")
        }
        return head
    }

    // MARK: Judging

    /// Throws unless a store may show a transaction, where an earlier one must be there.
    func require(_ head: Int, from bound: Int, _ name: String) throws {
        guard let attempt = attempts[head] else {
            throw ProofFailure("\(name) shows \(head), which was never begun")
        }
        guard !attempt.isRefused else {
            throw ProofFailure(
                "\(name) shows \(head), of which the program was told that it is not there")
        }
        guard descends(head, from: bound) else {
            throw ProofFailure("\(name) shows \(head) and has lost \(bound)")
        }
    }

    /// Whether a transaction equals another one or builds on it.
    func descends(_ number: Int, from other: Int) -> Bool {
        guard let goal = attempts[other]?.depth, var depth = attempts[number]?.depth else {
            return false
        }
        var number = number
        while depth > goal {
            number = attempts[number]?.parent ?? 0
            depth -= 1
        }
        return number == other
    }

    /// The content of the store after a transaction.
    mutating func rows(_ head: Int) -> [DiskRow] {
        if let known = contents[head] { return known }
        var chain: [Int] = []
        var base = head
        while contents[base] == nil {
            chain.append(base)
            base = attempts[base]?.parent ?? 0
        }
        var rows = Dictionary(
            (contents[base] ?? []).map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        for number in chain.reversed() {
            for change in attempts[number]?.changes ?? [] { change.apply(to: &rows) }
            contents[number] = rows.values.sorted { $0.number < $1.number }
        }
        return contents[head] ?? []
    }

    /// The difference of a content from the expected one; nil if there is none.
    mutating func difference(_ found: [DiskRow], _ head: Int) -> String? {
        let expected = rows(head)
        guard found != expected else { return nil }
        let known = Dictionary(expected.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        let there = Dictionary(found.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        let numbers = Set(known.keys).union(there.keys).sorted()
        for number in numbers where known[number] != there[number] {
            return "\(there[number]?.description ?? "nothing") instead of "
                + "\(known[number]?.description ?? "nothing")"
        }
        return "\(found.count) items instead of \(expected.count)"
    }
}
