import PageStore
import TestSupport

/// Changes what a store says of itself and makes every hash correct again, as no accident does.
/// Reading it does not trap, does not run for ever and takes no memory without bound; either the
/// change is reported, or each answer is right by the rules of ``LieJudge``.
struct RehashedLies {
    /// One change.
    private struct Lie {
        var text: String
        var field: LieJudge.Field
    }

    let sample: DamageProof.Sample
    private var random: SeededRandom
    private(set) var count = 0
    private(set) var foundCount = 0
    /// Lies that nothing reported and whose answers were judged.
    private(set) var judgedCount = 0
    private let seal: StoreSeal
    private let judge: LieJudge

    init(sample: DamageProof.Sample, seed: UInt64) throws {
        self.sample = sample
        random = SeededRandom(seed: seed)
        seal = StoreSeal(sample.bytes)
        judge = try LieJudge(sample)
    }

    mutating func run(budget: ProofBudget) throws {
        for _ in 0..<3000 {
            if budget.isSpent { return }
            var bytes = sample.bytes
            let lie =
                switch random.below(4) {
                case 0: lieInSuperblock(&bytes)
                case 1, 2: lieInExtent(&bytes)
                default: lieInLog(&bytes)
                }
            guard bytes != sample.bytes else { continue }
            count += 1
            do {
                var isJudged = false
                let isFound = try DamageVerdict.use(bytes) { engine in
                    isJudged = try judge.judge(engine, lie.field)
                }
                if isFound || !isJudged { foundCount += 1 } else { judgedCount += 1 }
            } catch {
                throw ProofFailure("\(sample.name), lie \(lie.text): \(error)")
            }
        }
    }

    // MARK: Lies

    private mutating func lie(_ bytes: inout [UInt8], _ range: Range<Int>) -> String {
        let size = [1, 2, 4, 8][random.below(4)]
        guard range.count >= size else { return "nothing" }
        // Most lies begin where numbers do.
        let offset = range.lowerBound + random.below(range.count - size + 1) / size * size
        guard offset + size <= range.upperBound else { return "nothing" }
        let values: [UInt64] = [
            0, 1, 2, .max, 1 << 63, UInt64(sample.bytes.count), 0x7FFF, 0xFFFF, 0xFFFF_FFFF,
            UInt64(random.below(256)), random.next(),
        ]
        let value = values[random.below(values.count)]
        for index in 0..<size {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
        }
        return "\(value) in \(size) bytes at \(offset)"
    }

    private mutating func lieInSuperblock(_ bytes: inout [UInt8]) -> Lie {
        // Both superblocks have the change, or the other one is not valid.
        let slot = random.below(2)
        let start = slot * 4096
        let what = lie(&bytes, (start + 8)..<(start + 184))
        if random.below(2) == 0 {
            let other = 4096 - start
            bytes.replaceSubrange(other..<(other + 8), with: repeatElement(0, count: 8))
        }
        seal.sealSuperblock(slot, of: &bytes)
        let changed = (start..<(start + 184)).filter { bytes[$0] != sample.bytes[$0] }
        return Lie(
            text: "superblock \(slot): \(what)", field: .superblock(changed.map { $0 - start }))
    }

    /// Lies in an extent, then corrects the hashes in what names it, up to the superblocks.
    private mutating func lieInExtent(_ bytes: inout [UInt8]) -> Lie {
        guard !seal.extents.isEmpty else { return Lie(text: "nothing", field: .structure) }
        let extent = seal.extents[random.below(seal.extents.count)]
        let head = extent.lowerBound
        // Its header, the beginning of its content, or anywhere.
        let range =
            [
                (head + 8)..<(head + 48), (head + 48)..<min(head + 96, extent.upperBound),
                (head + 48)..<extent.upperBound,
            ][random.below(3)]
        let what = lie(&bytes, range)
        seal.seal([extent], of: &bytes)
        return Lie(
            text: "extent at \(head), kind \(bytes[head + 42]): \(what)",
            field: judge.field(in: extent))
    }

    private mutating func lieInLog(_ bytes: inout [UInt8]) -> Lie {
        let nothing = Lie(text: "nothing", field: .log)
        let frames = seal.frames(bytes)
        guard !frames.isEmpty else { return nothing }
        let frame = frames[random.below(frames.count)]
        let what: String
        switch random.below(4) {
        case 0:
            // Another frame in its place, or the same again.
            let other = frames[random.below(frames.count)]
            guard other.count == frame.count else { return nothing }
            bytes.replaceSubrange(frame, with: Array(bytes[other]))
            what = "the frame of \(other.lowerBound)"
        default:
            what = lie(
                &bytes, (frame.lowerBound + 8)..<min(frame.upperBound, frame.lowerBound + 64))
        }
        seal.sealLog(of: &bytes)
        return Lie(text: "frame at \(frame.lowerBound): \(what)", field: .log)
    }
}
