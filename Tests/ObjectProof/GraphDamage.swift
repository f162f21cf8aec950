import Foundation
import ObjectGraph
import PageStore
import Proof
import TestSupport

/// Changes one bit in sectors of stores: each answer of the public API is right, or an error says
/// what is damaged.
struct GraphDamage: GraphPart {
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom
    private(set) var report = ProofReport()

    init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed ^ 0xDA)
    }

    mutating func run() throws {
        repeat { try store(random.next()) } while !budget.isEndless && !budget.isSpent
    }

    /// A store, and the part that may be lost silently because a power cut could have taken it.
    private struct Sample {
        var bytes: [UInt8]
        var history: GraphHistory
        var judge: GraphJudge
        /// The writes of commits that the log's last group does not call durable: they may be those
        /// of an end that was not finished.
        var groups: [(commit: Int, place: Range<Int>)] = []
        var trace: String

        /// The oldest state that may be shown when a byte is damaged.
        func oldest(_ offset: Int) -> Int {
            let found = groups.filter { $0.place.contains(offset) }.map { $0.commit - 1 }.min()
            return max(0, found ?? history.states.count - 1)
        }
    }

    private mutating func store(_ scriptSeed: UInt64) throws {
        let disk = SimulatedDisk(seed: scriptSeed, records: true)
        var sample: Sample
        do {
            sample = try build(disk, scriptSeed)
        } catch {
            throw ProofFailure("seed \(seed), damage, script \(scriptSeed): \(error)")
        }
        report.count("damaged stores")
        // Sectors with content first.
        let sectors = Array(0..<((sample.bytes.count + 511) / 512)).shuffled(using: &random)
        let isWritten = sectors.map { sector in
            sample.bytes[(sector * 512)...].prefix(512).contains { $0 != 0 }
        }
        let order = zip(sectors, isWritten).filter(\.1) + zip(sectors, isWritten).filter { !$0.1 }
        // Only a part of most stores, so that there is time for many.
        let count = budget.isEndless || random.below(3) == 0 ? order.count : 120
        for (sector, _) in order.prefix(count) {
            let offset = min(sector * 512 + random.below(512), sample.bytes.count - 1)
            let bit = UInt8(1) << UInt8(random.below(8))
            do {
                try damage(&sample, offset, bit)
            } catch {
                throw ProofFailure(
                    "seed \(seed), damage, script \(scriptSeed), byte \(offset), bit \(bit): "
                        + "\(error)")
            }
            if budget.isSpent { return }
        }
        if count >= order.count { report.count("stores damaged in each sector") }
    }

    /// Some stores are closed, and some keep the log that a dead process leaves.
    private mutating func build(_ disk: SimulatedDisk, _ scriptSeed: UInt64) throws -> Sample {
        let policy = GraphFileScript.policies[Int(scriptSeed % 4)]
        let script = try GraphFileScript(
            disk, policy: policy, seed: scriptSeed, effectCount: { disk.effectCount })
        for _ in 0..<(8 + random.below(12)) { try script.step() }
        let isClosed = random.below(2) == 0
        if isClosed { try script.finish() }
        let effects = disk.effects
        let trace = script.trace.suffix(40).joined(separator: "; ")
        let image = disk.image
        let history = script.history
        let names = script.currentNames
        if !isClosed { try script.finish() }
        let bytes = image.bytes(of: GraphFileScript.path) ?? []
        let file = image.names[GraphFileScript.path] ?? 0
        var groups: [(commit: Int, place: Range<Int>)] = []
        var proven = 0
        if !isClosed {
            for (call, effect) in effects.enumerated() {
                guard let (start, count) = effect.written(to: file) else { continue }
                let range = history.range(at: call)
                proven = range.lowerBound
                let commit = range.upperBound
                let end = (start + count + 511) / 512 * 512
                groups.append((commit, (start / 512 * 512)..<end))
            }
        }
        return Sample(
            bytes: bytes, history: history,
            judge: GraphJudge(
                policy: policy, names: names, random: SeededRandom(seed: scriptSeed)),
            groups: groups.filter { $0.commit > proven }, trace: trace)
    }

    /// Closing a store whose log cannot be stored says that commits may be lost.
    private static let codes: [StoreError.Code] = [
        .corrupt, .truncated, .notAStore, .newerFormat, .commitUncertain, .poisoned,
    ]

    private mutating func damage(_ sample: inout Sample, _ offset: Int, _ bit: UInt8) throws {
        var image = DiskImage()
        sample.bytes[offset] ^= bit
        image.files[1] = sample.bytes
        image.names[GraphFileScript.path] = 1
        sample.bytes[offset] ^= bit
        let files = LockingFiles(SimulatedDisk(image, seed: 9))
        report.count("damaged sectors")
        let last = sample.history.states.count - 1
        do {
            _ = try sample.judge.judge(
                files, sample.history, sample.oldest(offset)...last,
                isReadOnly: random.below(2) == 0)
            report.count("right answers")
        } catch let failure as ProofFailure {
            throw ProofFailure("\(failure); \(sample.trace)")
        } catch let failure as CoreStoreError {
            guard let error = failure.storeError,
                Self.codes.contains(error.code),
                error.page != nil || error.byteOffset != nil || error.path != nil
            else { throw ProofFailure("an error that does not say what is damaged: \(failure)") }
            report.count("named damage")
        }
    }
}

extension DiskEffect {
    fileprivate func written(to file: Int) -> (start: Int, count: Int)? {
        switch self {
        case .write(file, let start, let bytes), .durableWrite(file, let start, let bytes):
            (start, bytes.count)
        default: nil
        }
    }
}
