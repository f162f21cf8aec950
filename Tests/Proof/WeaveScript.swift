import PageStore
import Primitives
import TestSupport

/// One step of a strand.
package enum WeaveStep: String, CaseIterable, Sendable {
    /// A durable commit; one that needs a new log segment; one with its pages out of line.
    case commit, large, bulk
    /// A commit that waits for group commit; one that is not durable when it returns.
    case grouped, relaxed
    case checkpoint, vacuum
    /// A snapshot, read twice.
    case look
}

/// The steps of each strand of a run.
package struct WeaveScript: Sendable, CustomStringConvertible {
    var strands: [[WeaveStep]]
    /// Whether checkpoints run beside commits.
    var isInBackground = false
    /// Whether every page is read from the file.
    var isUncached = false

    package init(_ strands: [[WeaveStep]], isInBackground: Bool = false, isUncached: Bool = false) {
        self.strands = strands
        self.isInBackground = isInBackground
        self.isUncached = isUncached
    }

    package var description: String {
        strands.map { $0.map(\.rawValue).joined(separator: " ") }.joined(separator: " | ")
            + (isInBackground ? ", in the background" : "") + (isUncached ? ", uncached" : "")
    }

    var options: Engine.Options {
        var options = CrashProof.options
        options.outOfLineBytesMin = 1 << 20
        options.dirtyBytesMax = 1 << 20
        options.bulkBytesMin = 1 << 20
        options.cacheSizeInBytes = isUncached ? 0 : 1 << 20
        options.checkpointsInBackground = isInBackground
        options.logBytesMax = isInBackground ? 8000 : 1 << 20
        options.versionBytesMax = 1 << 20
        return options
    }
}

/// The strands' shared knowledge of the store's commits. Its lock is no meeting.
final class WeaveLedger: Sendable {
    struct Mark {
        var number: UInt64
        var effectCount: Int
    }

    private struct State {
        var newest: UInt64
        var begun: UInt64
        /// Commits that a power cut after so many effects must not lose.
        var safe: [Mark]
        var unsafe: Set<UInt64> = []
    }

    private let state: Mutex<State>

    init(_ number: UInt64) {
        state = Mutex(
            State(newest: number, begun: number, safe: [Mark(number: number, effectCount: 0)]))
    }

    /// The newest commit that returned; every later reader sees it.
    var newest: UInt64 { state.withLock { $0.newest } }
    /// The newest commit that may be there.
    var begun: UInt64 { state.withLock { $0.begun } }

    func begin(_ number: UInt64, isDurable: Bool) {
        state.withLock { state in
            state.begun = max(state.begun, number)
            if !isDurable { state.unsafe.insert(number) }
        }
    }

    /// A commit has returned.
    func acknowledge(_ number: UInt64, effectCount: Int) {
        state.withLock { state in
            state.newest = max(state.newest, number)
            if !state.unsafe.contains(number) {
                state.safe.append(Mark(number: number, effectCount: effectCount))
            }
        }
    }

    /// A reader sees a commit: a durable one must be durable by then.
    func see(_ number: UInt64, effectCount: Int) {
        state.withLock { state in
            if !state.unsafe.contains(number) {
                state.safe.append(Mark(number: number, effectCount: effectCount))
            }
        }
    }

    /// The counts of effects after which a cut must leave more than before it.
    var effectCounts: [Int] { state.withLock { $0.safe.map(\.effectCount) } }

    /// The oldest commit that a power cut after this many effects may leave.
    func least(at effectCount: Int) -> UInt64 {
        state.withLock { state in
            state.safe.filter { $0.effectCount <= effectCount }.map(\.number).max() ?? 0
        }
    }
}

/// The content of every commit, made from its number: each writes all the small values, so that
/// two commits can nowhere be mixed without it showing.
enum WeaveContent {
    private static let keys: Range<UInt64> = 0..<8
    private static let largeKeys: Range<UInt64> = 1000..<1012
    private static let sizeInBytes = 140
    private static let largeSizeInBytes = 1100

    static func value(_ number: UInt64, _ key: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: number &* 0x1_0001 &+ key)
        let count = key < keys.upperBound ? sizeInBytes : largeSizeInBytes
        var bytes = number.key
        while bytes.count < count {
            let next = random.next()
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: next >> (8 * shift))) }
        }
        return bytes
    }

    /// Makes the next commit's content; returns its number.
    static func write(_ isLarge: Bool, to transaction: WriteTransaction) throws -> UInt64 {
        let tree: TreeID
        var number: UInt64 = 1
        if let root = transaction.catalogRoot {
            tree = TreeID(root: root)
            let cursor = Cursor(transaction, tree: tree)
            guard try cursor.seekFirst() else { throw ProofFailure("the tree is empty") }
            number = try cursor.value().array().withView { $0.bigEndianUInt64(at: 0) } + 1
        } else {
            tree = try transaction.createTree()
            transaction.catalogRoot = tree.root
        }
        for key in keys {
            try transaction.insert(key.key.span, value(number, key).span, into: tree)
        }
        guard isLarge else { return number }
        for key in largeKeys {
            try transaction.insert(key.key.span, value(number, key).span, into: tree)
        }
        return number
    }

    static func check(_ snapshot: Snapshot, _ label: String) throws {
        guard let root = snapshot.catalogRoot else { throw ProofFailure("\(label): no tree") }
        let cursor = Cursor(snapshot, tree: TreeID(root: root))
        var (count, largeCount) = (0, 0)
        var largeNumber: UInt64?
        var isMore = try cursor.seekFirst()
        while isMore {
            let key = cursor.key.bigEndianUInt64(at: 0)
            let bytes = try cursor.value().array()
            guard bytes.count >= 8 else { throw ProofFailure("\(label): key \(key) is too short") }
            let number = bytes.withView { $0.bigEndianUInt64(at: 0) }
            let isLarge = largeKeys.contains(key)
            let expected = isLarge ? largeNumber ?? number : snapshot.commitNumber
            if isLarge { largeNumber = expected }
            guard number == expected, number <= snapshot.commitNumber,
                bytes == value(number, key)
            else {
                throw ProofFailure(
                    "\(label): commit \(snapshot.commitNumber) shows key \(key) of commit \(number)"
                        + (number == expected ? ", with other bytes" : ""))
            }
            if isLarge { largeCount += 1 } else { count += 1 }
            isMore = try cursor.next()
        }
        guard count == keys.count, [0, largeKeys.count].contains(largeCount) else {
            throw ProofFailure("\(label): \(count) small keys and \(largeCount) large ones")
        }
    }
}
