import Foundation
import PageStore
import TestSupport

/// One step of a script.
package enum ScriptStep: String, CaseIterable, Sendable {
    case insert, update, delete, blob, relaxed, bulk, grow, spill, build
    /// A large transaction that is taken back when parts of it have been written.
    case cancel
    /// One writer that edits leaves back and forth, as batches of one transaction do.
    case revisit
    /// Keys without values merged leaf by leaf, as a large batch does with an index.
    case merge
    case checkpoint, rotate, vacuum, backup, reopen, die
    /// `hold` takes a snapshot, which is compared after each step; `letGo` releases all snapshots.
    case hold, letGo

    /// The steps for scripts with power cuts.
    static let onMedium = allCases.filter { $0 != .hold && $0 != .letGo }
}

/// The expected content of a store: the seed of each value's bytes by key.
package typealias ScriptContent = [UInt64: ScriptValue]

/// A value that is made from its seed when it is needed.
package struct ScriptValue: Hashable, Sendable {
    var seed: UInt64
    var count: Int

    var bytes: [UInt8] {
        var random = SeededRandom(seed: seed)
        // Half of the values compress well.
        if seed & 1 == 0 { return random.bytes(count) }
        let part = random.bytes(4)
        return (0..<count).map { part[$0 & 3] }
    }
}

/// The history of a script: the commits, and the number of effects of the medium before each.
package struct ScriptHistory {
    /// By commit number; empty before the first.
    package var contents: [ScriptContent] = [[:]]
    /// The number of the first of `contents`.
    package var firstCommit: UInt64 = 0
    /// The count of effects when a commit began, and when it was known to be durable.
    package var begun: [Int] = [0]
    package var durable: [Int] = [0]
    /// The backups: the count of effects when the call returned, and what the copy holds.
    package var backups: [(path: String, doneAt: Int, content: ScriptContent)] = []
    /// The effects after which the store's own name is durable.
    package var namedAt = 0
    /// Whether a commit failed while the log was written: it may be there or not.
    package var isUnknown = false

    package init(content: ScriptContent = [:], commit: UInt64 = 0) {
        contents = [content]
        firstCommit = commit
    }

    /// The commits that may be there at the end.
    package var rangeAtEnd: ClosedRange<Int> {
        (durable.lastIndex { $0 != .max } ?? 0)...(contents.count - 1)
    }

    /// The history after a process opened the store: the commits up to the one it found; the later
    /// ones of these may not be durable yet.
    func seen(from least: Int, to found: Int) -> ScriptHistory {
        var history = ScriptHistory(
            content: contents[least], commit: firstCommit + UInt64(least))
        history.contents = Array(contents[least...found])
        history.begun = Array(repeating: 0, count: history.contents.count)
        history.durable = [0] + Array(repeating: .max, count: found - least)
        return history
    }

    package var last: ScriptContent { contents[contents.count - 1] }

    /// The commits that a power cut after this many effects may leave, as indices of `contents`.
    package func range(at effectCount: Int) -> ClosedRange<Int> {
        let least = durable.lastIndex { $0 <= effectCount } ?? 0
        let most = begun.lastIndex { $0 <= effectCount } ?? 0
        return least...max(least, most)
    }
}

/// Runs steps on a store and records the expected content.
package struct ScriptPlayer {
    package let disk: any FileSystem
    package let options: Engine.Options
    /// Nil only while the engine is replaced.
    private var open: Engine?
    package var history: ScriptHistory
    private var random: SeededRandom
    private let effectCount: () -> Int
    private let path: String
    private var held: [(snapshot: Snapshot, content: ScriptContent)] = []
    private var backupCount = 0

    package init(
        disk: any FileSystem, options: Engine.Options, history: ScriptHistory,
        seed: UInt64, path: String = "store", effectCount: @escaping () -> Int = { 0 }
    ) throws {
        self.disk = disk
        self.path = path
        self.options = options
        self.history = history
        self.effectCount = effectCount
        random = SeededRandom(seed: seed)
        open = try Engine.open(path: path, options: options, files: disk)
        self.history.namedAt = effectCount()
    }

    package var engine: Engine {
        get throws {
            guard let open else { throw ProofFailure("the store is closed") }
            return open
        }
    }

    /// Takes a snapshot that is compared after each step.
    package mutating func holdSnapshot() throws {
        held.append((try engine.snapshot(), history.last))
    }

    package mutating func letGo() { held = [] }

    package var isOpen: Bool { open != nil }

    package mutating func run(_ step: ScriptStep) throws {
        switch step {
        case .checkpoint:
            try engine.checkpointNow()
            noteDurable()
        case .vacuum:
            _ = try engine.vacuum(byteBudget: 1 << 16)
            noteDurable()
        case .backup: try backUp()
        case .cancel:
            let transaction = try engine.beginWrite()
            var content = history.last
            // More than a segment of the log, so that one may begin where this has been.
            for _ in 0..<8 { try change(transaction, &content, .spill) }
            transaction.rollback()
        case .hold: try holdSnapshot()
        case .letGo: letGo()
        case .reopen:
            try close()
            open = try Engine.open(path: path, options: options, files: disk)
        case .die:
            // The process ends and the system continues: writes are visible, but not durable.
            letGo()
            open = nil
            open = try openWhenLetGo()
        case .rotate:
            // More than one segment of log, in commits that fit in a segment.
            for _ in 0..<2 { try commit(.rotate) }
        default: try commit(step)
        }
        for held in held.suffix(4) {
            try StoreComparison.compare(held.snapshot, held.content, "a snapshot that is held")
        }
    }

    package mutating func close() throws {
        letGo()
        let closing = try engine
        open = nil
        try closing.close()
        noteDurable()
    }

    /// A checkpoint beside commits keeps its store until it has ended.
    private func openWhenLetGo() throws(StoreError) -> Engine {
        for _ in 0..<10_000 {
            do throws(StoreError) {
                return try Engine.open(path: path, options: options, files: disk)
            } catch {
                guard error.code == .alreadyOpen else { throw error }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
        return try Engine.open(path: path, options: options, files: disk)
    }

    private mutating func backUp() throws {
        let path = "\(path).\(backupCount)"
        backupCount += 1
        try engine.copy(to: path)
        history.backups.append((path, effectCount(), history.last))
    }

    private mutating func noteDurable() {
        let now = effectCount()
        for index in history.durable.indices where history.durable[index] == .max {
            history.durable[index] = now
        }
    }

    private mutating func commit(_ step: ScriptStep) throws {
        history.begun.append(effectCount())
        var content = history.last
        let durability: Durability =
            switch step {
            case .relaxed: .relaxed
            case .bulk: .bulk
            default: .durable
            }
        let staged: StagedCommit
        do {
            let transaction = try engine.beginWrite()
            try change(transaction, &content, step)
            staged = try transaction.stage(durability)
        } catch {
            // Nothing of it is in the log.
            history.begun.removeLast()
            throw error
        }
        history.contents.append(content)
        history.durable.append(.max)
        do {
            try staged.finish()
        } catch {
            history.isUnknown = true
            throw error
        }
        let expected = history.firstCommit + UInt64(history.contents.count) - 1
        guard staged.number == expected else {
            throw ProofFailure("commit \(staged.number) was given, \(expected) was expected")
        }
        if durability != .relaxed { noteDurable() }
    }

    private mutating func change(
        _ transaction: WriteTransaction, _ content: inout ScriptContent, _ step: ScriptStep
    ) throws {
        let tree: TreeID
        if let root = transaction.catalogRoot {
            tree = TreeID(root: root)
        } else {
            tree = try transaction.createTree()
            transaction.catalogRoot = tree.root
        }
        let writer = TreeWriter(transaction, tree: tree)
        func put(_ key: UInt64, _ size: Int, _ random: inout SeededRandom) throws {
            let value = ScriptValue(seed: random.next(), count: size)
            try writer.insert(key.key.span, value.bytes.span)
            content[key] = value
        }
        let keys = content.keys.sorted()
        let next = (keys.last ?? 0) + 1
        switch step {
        case .update where !keys.isEmpty: try put(keys[random.below(keys.count)], 24, &random)
        case .delete where !keys.isEmpty:
            for _ in 0..<min(keys.count, 1 + random.below(3)) {
                guard let key = content.keys.min() else { break }
                try transaction.remove(key.key.span, from: tree)
                content[key] = nil
            }
        case .revisit where !keys.isEmpty:
            let visited = (0..<4).map { _ in keys[random.below(keys.count)] }
            for _ in 0..<12 { try put(visited[random.below(4)], 24, &random) }
        case .merge where !keys.isEmpty:
            try merge(around: keys[random.below(keys.count)], writer, &content)
        case .blob: try put(next, 1500 + random.below(2500), &random)
        case .grow: for index in 0..<12 { try put(next + UInt64(index), 300, &random) }
        case .spill:
            for index in 0..<40 { try put(next + UInt64(index % 30), 350, &random) }
        case .build:
            for index in 0..<30 {
                content[next + UInt64(index)] = ScriptValue(
                    seed: random.next(), count: random.below(index % 10 == 0 ? 700 : 90))
            }
            try rebuild(tree, of: transaction, content)
        case .rotate:
            // Two of these do not fit one segment, and none of them goes out of line.
            for index in 0..<6 {
                let value = ScriptValue(seed: random.next() & ~1, count: 1100)
                let key = next + UInt64(index)
                try transaction.insert(key.key.span, value.bytes.span, into: tree)
                content[key] = value
            }
        case .bulk: for index in 0..<3 { try put(next + UInt64(index), 90, &random) }
        default: try put(next, 10 + random.below(60), &random)
        }
    }

    /// Removes some keys around one, and inserts others without values.
    private mutating func merge(
        around key: UInt64, _ writer: TreeWriter, _ content: inout ScriptContent
    ) throws {
        var numbers: [UInt64] = []
        for number in (max(key, 30) - 30)...(key + 30) where random.below(8) > 0 {
            numbers.append(number)
        }
        let removed = Set(numbers.filter { content[$0] != nil && random.below(2) == 0 })
        try numbers.flatMap(\.key).withView { bytes throws(StoreError) in
            var edits: [KeyEdit] = []
            for (index, number) in numbers.enumerated() {
                let key = bytes.slice(from: index * 8, count: 8)
                let isRemoval = removed.contains(number)
                // Leaves of small pages have too few entries for one edit each to be merged.
                edits.append(KeyEdit(key, isRemoval: !isRemoval))
                edits.append(KeyEdit(key, isRemoval: isRemoval))
            }
            _ = try writer.apply(edits)
        }
        for number in numbers {
            content[number] =
                removed.contains(number) ? nil : ScriptValue(seed: random.next(), count: 0)
        }
    }

    /// Replaces the tree by one that is built from the same entries and new ones.
    private func rebuild(
        _ tree: TreeID, of transaction: WriteTransaction, _ content: ScriptContent
    ) throws {
        let new = try transaction.createTree()
        var builder = try TreeBuilder(transaction, tree: new)
        for (key, value) in content.sorted(by: { $0.key < $1.key }) {
            try key.key.withView { key in
                try value.bytes.withView { try builder.append(key, $0) }
            }
        }
        try builder.finish()
        try transaction.deleteTree(tree)
        transaction.catalogRoot = new.root
    }
}

extension UInt64 {
    /// Big-endian bytes, in the order of the numbers.
    package var key: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) } }
}

/// Compares a snapshot with its expected content.
package enum StoreComparison {
    package static func compare(
        _ snapshot: Snapshot, _ content: ScriptContent, _ label: String
    ) throws {
        guard let root = snapshot.catalogRoot else {
            guard content.isEmpty else { throw ProofFailure("\(label): there is no tree") }
            return
        }
        let cursor = Cursor(snapshot, tree: TreeID(root: root))
        var count = 0
        var isMore = try cursor.seekFirst()
        while isMore {
            let key = cursor.key.bigEndianUInt64(at: 0)
            guard let value = content[key] else {
                throw ProofFailure("\(label): key \(key) is there and should not be")
            }
            guard try cursor.value().array() == value.bytes else {
                throw ProofFailure("\(label): the value of key \(key) is another one")
            }
            count += 1
            isMore = try cursor.next()
        }
        guard count == content.count else {
            throw ProofFailure("\(label): \(count) keys, \(content.count) were expected")
        }
    }
}
