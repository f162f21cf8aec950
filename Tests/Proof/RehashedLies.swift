import PageStore
import TestSupport

/// Changes fields of a store and corrects every hash, which no accident does: a reader must not
/// trap, loop forever or take unbounded memory.
struct RehashedLies {
    let sample: DamageProof.Sample
    private var random: SeededRandom
    private(set) var count = 0
    private(set) var foundCount = 0
    private let seal: StoreSeal

    init(sample: DamageProof.Sample, seed: UInt64) {
        self.sample = sample
        random = SeededRandom(seed: seed)
        seal = StoreSeal(sample.bytes)
    }

    mutating func run(budget: ProofBudget) throws {
        for _ in 0..<3000 {
            if budget.isSpent { return }
            var bytes = sample.bytes
            let what: String
            switch random.below(4) {
            case 0: what = lieInSuperblock(&bytes)
            case 1, 2: what = lieInExtent(&bytes)
            default: what = lieInLog(&bytes)
            }
            guard bytes != sample.bytes else { continue }
            count += 1
            do {
                if try DamageVerdict.use(bytes) { foundCount += 1 }
            } catch {
                throw ProofFailure("\(sample.name), lie \(what): \(error)")
            }
        }
    }

    // MARK: Lies

    private mutating func lie(_ bytes: inout [UInt8], _ range: Range<Int>) -> String {
        let size = [1, 2, 4, 8][random.below(4)]
        guard range.count >= size else { return "nothing" }
        // Most changes begin at offsets of numbers.
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

    private mutating func lieInSuperblock(_ bytes: inout [UInt8]) -> String {
        // Both superblocks get the same change, or a valid one is read.
        let slot = random.below(2)
        let what = lie(&bytes, (slot * 4096 + 8)..<(slot * 4096 + 184))
        if random.below(2) == 0 {
            let other = (1 - slot) * 4096
            bytes.replaceSubrange(other..<(other + 8), with: repeatElement(0, count: 8))
        }
        seal.sealSuperblock(slot, of: &bytes)
        return "superblock \(slot): \(what)"
    }

    /// Changes an extent, then corrects every reference to it, up to the superblocks.
    private mutating func lieInExtent(_ bytes: inout [UInt8]) -> String {
        guard !seal.extents.isEmpty else { return "nothing" }
        let extent = seal.extents[random.below(seal.extents.count)]
        let head = extent.lowerBound
        // The extent's header, the beginning of its content, or any part.
        let range =
            [
                (head + 8)..<(head + 48), (head + 48)..<min(head + 96, extent.upperBound),
                (head + 48)..<extent.upperBound,
            ][random.below(3)]
        let what = lie(&bytes, range)
        seal.seal([extent], of: &bytes)
        return "extent at \(head), kind \(bytes[head + 42]): \(what)"
    }

    private mutating func lieInLog(_ bytes: inout [UInt8]) -> String {
        let frames = seal.frames(bytes)
        guard !frames.isEmpty else { return "nothing" }
        let frame = frames[random.below(frames.count)]
        let what: String
        switch random.below(4) {
        case 0:
            // Another frame in its place, or the same again.
            let other = frames[random.below(frames.count)]
            guard other.count == frame.count else { return "nothing" }
            bytes.replaceSubrange(frame, with: Array(bytes[other]))
            what = "the frame of \(other.lowerBound)"
        default:
            what = lie(
                &bytes, (frame.lowerBound + 8)..<min(frame.upperBound, frame.lowerBound + 64))
        }
        seal.sealLog(of: &bytes)
        return "frame at \(frame.lowerBound): \(what)"
    }
}
