import Foundation
import ObjectGraph
import PageStore
import Proof
import RecordStore
import TestSupport

/// Changes one field of stores of objects and makes every hash correct again, as no accident does.
/// The public API neither traps nor runs for ever, and gives no answer but those of ``Verdict``.
///
/// Some lies make another store that is as valid. Only these are permitted answers where `check`
/// finds nothing: objects differ in values that nothing else in the file repeats (`b`, `tag`,
/// `blob`, `marks`), or in a list that has no inverse. A lie in an entry concerns one object or
/// two; one in the bytes of a page as many as the page has entries, because LZ4 repeats bytes.
/// Values that an index repeats, links, the objects that there are and their entities are stored
/// twice, and a lie in one of the two must be found: by `check`, or by the call that meets it. A
/// lie in what only bounds (the largest number given out, free space, a fence) may have no effect.
struct GraphLies: GraphPart {
    /// What becomes of a lie.
    enum Verdict: String, CaseIterable {
        /// A call throws a typed error of damage, which names the page or the file.
        case named
        /// `check` has a finding.
        case reported
        /// Every answer is right.
        case harmless
        /// The answers are those of another store that is as valid.
        case anotherValue = "other values"
    }

    /// A store at rest and what it shows.
    struct Sample {
        var bytes: [UInt8]
        var state: GraphModel
        var names: GraphNames
        var policy: UniqueConflictPolicy
        var seed: UInt64
    }

    static let secondsMax = 20.0
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom
    private(set) var report = ProofReport()

    init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed ^ 0x11E5)
    }

    mutating func run() throws {
        repeat { try store(random.next()) } while !budget.isEndless && !budget.isSpent
    }

    private mutating func store(_ sampleSeed: UInt64) throws {
        let sample = try Self.sample(sampleSeed)
        let (pages, entries) = (try PageLies(sample.bytes), try EntryLies(sample.bytes))
        let judge = GraphLieJudge(sample)
        guard try judge.judge(sample.bytes) == .harmless else {
            throw ProofFailure("seed \(seed), lies, store \(sampleSeed): it is not sound")
        }
        report.count("stores lied in")
        for turn in 0..<(budget.isEndless ? 100 : 400) where budget.isEndless || !budget.isSpent {
            let lie = try turn % 3 == 0 ? pages.lie(&random) : entries.lie(&random)
            guard let lie, lie.bytes != sample.bytes else { continue }
            do {
                let start = ContinuousClock.now
                let verdict = try judge.judge(lie.bytes, reach: lie.reach)
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                guard seconds < Self.secondsMax else {
                    throw ProofFailure("it takes \(Int(seconds)) s")
                }
                guard verdict != .harmless || !lie.isStructural else {
                    throw ProofFailure("nothing reports it")
                }
                report.count("judged lies")
                report.count("lies in \(lie.kind) \(verdict.rawValue)")
                report.count("lies \(verdict.rawValue)")
            } catch let failure as ProofFailure {
                throw ProofFailure(
                    "seed \(seed), store \(sampleSeed), a lie in \(lie.kind), \(lie.text): "
                        + "\(failure)")
            }
        }
    }

    /// Objects with links of all kinds, long values and unique ones, in pages alone.
    static func sample(_ seed: UInt64) throws -> Sample {
        let disk = SimulatedDisk(seed: seed)
        let policy = GraphFileScript.policies[Int(seed % 4)]
        let graph = try GraphStack(GraphFileScript.storage(disk), policy: policy)
        let editor = GraphEditor(graph, seed: seed)
        editor.blobBytesMax = 7000
        var state = GraphModel()
        for _ in 0..<30 {
            var next = state
            var denials: GraphModel.Denials = []
            do {
                try graph.stack.perform(
                    synchronous: { transaction in
                        for _ in 0..<4 {
                            _ = try editor.edit(
                                transaction, &next, &denials, mates: true, codes: true)
                        }
                        if next.isDenied(denials, before: state) { try transaction.cancel() }
                    }, durability: .relaxed)
            } catch {
                guard case .userCancelled = try GraphFileScript.typed(error) else { throw error }
                continue
            }
            state = next
        }
        let names = graph.names
        try graph.stack.close()
        return Sample(
            bytes: disk.image.bytes(of: GraphFileScript.path) ?? [], state: state, names: names,
            policy: policy, seed: seed)
    }
}

/// A store with one field changed.
struct StoreLie {
    var bytes: [UInt8]
    /// Where: part of the names of counts.
    var kind: String
    var text: String
    /// Whether it contradicts the rest of the file, so that something must report it.
    var isStructural: Bool
    /// How many objects it may give other values.
    var reach = 2
}

/// Lies in the bytes of pages, of the map, and of the allocation state.
private struct PageLies {
    private let bytes: [UInt8]
    private let seal: StoreSeal
    /// How many entries the pages have, by their IDs.
    private var entryCounts: [UInt64: Int] = [:]

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        seal = StoreSeal(bytes)
        let engine = try EntryLies.reader(bytes)
        defer { try? engine.close() }
        let snapshot = try engine.snapshot()
        for extent in seal.extents {
            let id = id(of: extent)
            guard let page = try? snapshot.page(PageID(id)) else { continue }
            entryCounts[id] = PageSummary(page).entries.count
        }
    }

    /// What an extent's header names: a page, unless the extent is of another kind.
    private func id(of extent: Range<Int>) -> UInt64 {
        bytes.withView { $0.uint64(at: extent.lowerBound + 8) }
    }

    func lie(_ random: inout SeededRandom) throws -> StoreLie? {
        guard !seal.extents.isEmpty else { throw ProofFailure("the store has no extents") }
        let extent = seal.extents[random.below(seal.extents.count)]
        let size = [1, 2, 4, 8][random.below(4)]
        // The header of the page, or anything in it.
        let start = extent.lowerBound + 48
        let end = random.below(3) == 0 ? min(start + 64, extent.upperBound) : extent.upperBound
        guard end - start >= size else { return nil }
        let offset = start + random.below(end - start - size + 1)
        let values: [UInt64] = [
            0, 1, 2, .max, 1 << 63, 0x7FFF, 0xFFFF, 0xFFFF_FFFF, UInt64(random.below(256)),
            random.next(),
        ]
        let value = values[random.below(values.count)]
        var changed = bytes
        for index in 0..<size {
            changed[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
        }
        guard changed != bytes else { return nil }
        seal.seal([extent], of: &changed)
        return StoreLie(
            bytes: changed, kind: "pages",
            text: "\(value) in \(size) bytes at \(offset) of the extent at \(extent.lowerBound)",
            isStructural: false, reach: max(2, entryCounts[id(of: extent)] ?? 0))
    }
}

/// Lies in entries of trees: the trees themselves stay sound.
private struct EntryLies {
    fileprivate enum Change: String, CaseIterable {
        case removed
        case keyByte = "changed key"
        case added
        case valueByte = "changed value"
        case cut = "shorter value"
        case longer = "longer value"
        case exchanged = "another's value"
    }

    fileprivate typealias Entry = (key: [UInt8], value: [UInt8])

    private static let path = "store"
    private let bytes: [UInt8]
    private var trees: [CatalogView.NamedTree] = []
    private var entries: [TreeID: [Entry]] = [:]

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        let engine = try Self.reader(bytes)
        defer { try? engine.close() }
        let snapshot = try engine.snapshot()
        guard let catalog = try CatalogView(snapshot) else {
            throw ProofFailure("the store has no catalog")
        }
        for tree in try catalog.trees() {
            let cursor = Cursor(snapshot, tree: tree.tree)
            var found: [Entry] = []
            var isMore = try cursor.seekFirst()
            while isMore {
                found.append((cursor.key.array(), try cursor.value().array()))
                isMore = try cursor.next()
            }
            guard !found.isEmpty else { continue }
            trees.append(tree)
            entries[tree.tree] = found
        }
    }

    static func reader(_ bytes: [UInt8]) throws -> Engine {
        var options = Engine.Options()
        options.mode = .reading
        return try Engine.open(path: path, options: options, files: disk(bytes))
    }

    private static func disk(_ bytes: [UInt8]) -> SimulatedDisk {
        var image = DiskImage()
        image.files[1] = bytes
        image.names[path] = 1
        return SimulatedDisk(image, seed: 5)
    }

    func lie(_ random: inout SeededRandom) throws -> StoreLie? {
        let tree = trees[random.below(trees.count)]
        let change = Change.allCases[random.below(Change.allCases.count)]
        let own = entries[tree.tree] ?? []
        let (old, other) = (own[random.below(own.count)], own[random.below(own.count)])
        guard var new = change.apply(to: old, other, &random), new != old else { return nil }
        if change == .added, own.contains(where: { $0.key == new.key }) { return nil }
        if case .keyByte = change, own.contains(where: { $0.key == new.key }) { return nil }
        if new.key.isEmpty { new.key = [0] }
        let disk = Self.disk(bytes)
        let engine = try Engine.open(path: Self.path, files: disk)
        let transaction = try engine.beginWrite()
        if change != .added { _ = try transaction.remove(old.key.span, from: tree.tree) }
        if change != .removed {
            _ = try transaction.insert(new.key.span, new.value.span, into: tree.tree)
        }
        _ = try transaction.commit()
        try engine.close()
        let folder = String(tree.name.split(separator: "/")[0])
        var movesEntries = [.removed, .keyByte, .added].contains(change)
        // The place of an element in a list is in its key alone, behind the owner's number.
        if change == .keyByte, tree.name == "links/Node/parts",
            new.key.starts(with: old.key.prefix(8))
        {
            movesEntries = false
        }
        return StoreLie(
            bytes: disk.image.bytes(of: Self.path) ?? [], kind: folder,
            text: "\(tree.name), \(change.rawValue): \(old) becomes \(new)",
            // A list without an inverse is in no other place.
            isStructural: movesEntries && tree.name != "links/Node/list"
                && ["records", "index", "unique", "links"].contains(folder))
    }
}

extension EntryLies.Change {
    fileprivate func apply(
        to old: EntryLies.Entry, _ other: EntryLies.Entry, _ random: inout SeededRandom
    ) -> EntryLies.Entry? {
        func changed(_ bytes: [UInt8]) -> [UInt8]? {
            guard !bytes.isEmpty else { return nil }
            var bytes = bytes
            let value = [0, 1, 0xFF, random.below(256)][random.below(4)]
            bytes[random.below(bytes.count)] = UInt8(value)
            return bytes
        }
        switch self {
        case .removed: return ([], [])
        case .keyByte, .added: return changed(old.key).map { ($0, old.value) }
        case .valueByte: return changed(old.value).map { (old.key, $0) }
        case .cut:
            guard !old.value.isEmpty else { return nil }
            return (old.key, Array(old.value.dropLast(1 + random.below(old.value.count))))
        case .longer: return (old.key, old.value + [UInt8(random.below(256))])
        case .exchanged: return (old.key, other.value)
        }
    }
}
