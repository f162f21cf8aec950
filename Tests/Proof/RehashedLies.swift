import PageStore
import TestSupport

/// Changes what a store says of itself and makes every hash right again, as no accident does:
/// whoever reads it must not trap, run for ever or take memory without bound.
struct RehashedLies {
    let sample: DamageProof.Sample
    private var random: SeededRandom
    private(set) var count = 0
    private(set) var foundCount = 0
    private let uuid: (UInt64, UInt64)

    init(sample: DamageProof.Sample, seed: UInt64) {
        self.sample = sample
        random = SeededRandom(seed: seed)
        uuid = sample.bytes.withView {
            ($0.uint64(at: SuperblockLayout.uuid), $0.uint64(at: SuperblockLayout.uuid + 8))
        }
    }

    mutating func run(budget: ProofBudget) throws {
        let extents = extents()
        for _ in 0..<3000 {
            if budget.isSpent { return }
            var bytes = sample.bytes
            let what: String
            switch random.below(4) {
            case 0: what = lieInSuperblock(&bytes)
            case 1, 2: what = lieInExtent(&bytes, extents)
            default: what = lieInLog(&bytes)
            }
            guard bytes != sample.bytes else { continue }
            count += 1
            do {
                if try use(bytes) { foundCount += 1 }
            } catch {
                throw ProofFailure("\(sample.name), lie \(what): \(error)")
            }
        }
    }

    /// Reads, checks, and where that finds nothing, writes. Whether something was found.
    private func use(_ bytes: [UInt8]) throws -> Bool {
        let start = ContinuousClock.now
        defer { precondition(ContinuousClock.now - start < .seconds(20), "it takes too long") }
        if case .found = try DamageVerdict.of(bytes, seed: 1) {
            try write(bytes)
            return true
        }
        try write(bytes)
        return false
    }

    /// A writer that does not check first.
    private func write(_ bytes: [UInt8]) throws {
        var image = DiskImage()
        image.files[1] = bytes
        image.names["store"] = 1
        let disk = SimulatedDisk(image, seed: 2)
        do throws(StoreError) {
            let engine = try Engine.open(
                path: "store", options: DamageProof.options, files: disk)
            let transaction = try engine.beginWrite()
            let key = UInt64(7).key
            if let root = transaction.catalogRoot {
                try transaction.insert(key.span, key.span, into: TreeID(root: root))
            }
            _ = try transaction.commit()
            try engine.close()
        } catch {
            let known: Set<StoreError.Code> = [
                .corrupt, .truncated, .notAStore, .newerFormat, .readOnly, .tooLarge,
            ]
            guard known.contains(error.code) else { throw error }
        }
    }

    // MARK: Where what lies

    private struct Extent {
        var place: Range<Int>
        var hash: UInt64
    }

    private func seed(_ first: UInt64, _ second: UInt64 = 0, _ third: UInt64 = 0) -> UInt64 {
        var bytes: [UInt8] = []
        for number in [uuid.0, uuid.1, first, second, third] { bytes += number.littleEndianBytes }
        return bytes.withView { Checksum.hash($0, seed: 0) }
    }

    /// Everything in the file that has the form and the hash of an extent.
    private func extents() -> [Extent] {
        let unit = DamageProof.options.unitSizeInBytes
        return sample.bytes.withView { view in
            stride(from: 8192, to: view.count - 48, by: unit).compactMap { start in
                let stored = Int(view.uint32(at: start + 32))
                let hash = view.uint64(at: start)
                guard hash != 0, stored > 0, stored <= view.count - start - 48 else { return nil }
                let covered = view.slice(from: start + 8, count: 40 + stored)
                guard Checksum.hash(covered, seed: seed(UInt64(start / unit))) == hash else {
                    return nil
                }
                return Extent(place: start..<(start + 48 + stored), hash: hash)
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

    private mutating func lieInSuperblock(_ bytes: inout [UInt8]) -> String {
        // Both tell the same lie, or a whole one is read.
        let slot = random.below(2)
        let what = lie(&bytes, (slot * 4096 + 8)..<(slot * 4096 + 184))
        if random.below(2) == 0 {
            let other = (1 - slot) * 4096
            bytes.replaceSubrange(other..<(other + 8), with: repeatElement(0, count: 8))
        }
        sealSuperblock(&bytes, slot)
        return "superblock \(slot): \(what)"
    }

    private func sealSuperblock(_ bytes: inout [UInt8], _ slot: Int) {
        let start = slot * 4096
        let hash = Array(bytes[start..<(start + SuperblockLayout.hash)])
            .withView { Checksum.hash($0, seed: 0) }
        bytes.set(hash, at: start + SuperblockLayout.hash)
    }

    /// Lies in an extent, then corrects whoever names it, up to the superblocks.
    private mutating func lieInExtent(_ bytes: inout [UInt8], _ extents: [Extent]) -> String {
        guard !extents.isEmpty else { return "nothing" }
        let extent = extents[random.below(extents.count)]
        let head = extent.place.lowerBound
        // Its header, the beginning of what it holds, or anywhere.
        let range =
            [
                (head + 8)..<(head + 48), (head + 48)..<min(head + 96, extent.place.upperBound),
                (head + 48)..<extent.place.upperBound,
            ][random.below(3)]
        let what = lie(&bytes, range)
        var open = [extent]
        var steps = 0
        while let changed = open.popLast(), steps < 64 {
            steps += 1
            let unit = DamageProof.options.unitSizeInBytes
            let place = changed.place
            let hash = Array(bytes[(place.lowerBound + 8)..<place.upperBound])
                .withView { Checksum.hash($0, seed: seed(UInt64(place.lowerBound / unit))) }
            let old = bytes.number(at: place.lowerBound)
            bytes.set(hash, at: place.lowerBound)
            for offset in stride(from: 0, to: bytes.count - 8, by: 8)
            where bytes.number(at: offset) == old && offset != place.lowerBound {
                bytes.set(hash, at: offset)
                let holder = extents.first { $0.place.contains(offset) }
                if let holder, holder.place != place { open.append(holder) }
            }
        }
        sealSuperblock(&bytes, 0)
        sealSuperblock(&bytes, 1)
        sealLog(&bytes)
        return "extent at \(head), kind \(bytes[head + 42]): \(what)"
    }

    private mutating func lieInLog(_ bytes: inout [UInt8]) -> String {
        let frames = frames(bytes)
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
        sealLog(&bytes)
        return "frame at \(frame.lowerBound): \(what)"
    }

    /// The head segment's frames as their lengths say.
    private func frames(_ bytes: [UInt8]) -> [Range<Int>] {
        var frames: [Range<Int>] = []
        guard var position = head(bytes)?.lowerBound, let end = head(bytes)?.upperBound else {
            return []
        }
        while position + 16 <= end {
            let length = Int(bytes.number(at: position + 8) & 0xFFFF_FFFF)
            let type = bytes[position + 12]
            guard length >= 16, length % 8 == 0, length <= end - position, (1...8).contains(type)
            else { break }
            frames.append(position..<(position + length))
            position += length
        }
        return frames
    }

    private func newestSlot(_ bytes: [UInt8]) -> Int {
        let generations = [0, 4096].map { bytes.number(at: $0 + SuperblockLayout.generation) }
        return generations[0] > generations[1] ? 0 : 4096
    }

    private func head(_ bytes: [UInt8]) -> Range<Int>? {
        let slot = newestSlot(bytes)
        let offset = bytes.number(at: slot + SuperblockLayout.headOffset)
        let length = bytes.number(at: slot + SuperblockLayout.headLength)
        guard offset < UInt64(bytes.count), length <= UInt64(bytes.count) - offset else {
            return nil
        }
        return Int(offset)..<Int(offset + length)
    }

    /// Chains the frames of the head segment anew.
    private func sealLog(_ bytes: inout [UInt8]) {
        let slot = newestSlot(bytes)
        var chain = seed(
            bytes.number(at: slot + SuperblockLayout.headNumber),
            bytes.number(at: slot + SuperblockLayout.headSalt),
            bytes.number(at: slot + SuperblockLayout.headSalt + 8))
        for frame in frames(bytes) {
            chain = Array(bytes[(frame.lowerBound + 8)..<frame.upperBound])
                .withView { Checksum.hash($0, seed: chain) }
            bytes.set(chain, at: frame.lowerBound)
        }
    }
}

extension UInt64 {
    fileprivate var littleEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
    }
}

extension [UInt8] {
    fileprivate func number(at offset: Int) -> UInt64 { withView { $0.uint64(at: offset) } }

    fileprivate mutating func set(_ number: UInt64, at offset: Int) {
        replaceSubrange(offset..<(offset + 8), with: number.littleEndianBytes)
    }
}
