import PageStore

/// Reads the bytes of a fuzzer as changes of the log of a store, whose hashes are then made correct
/// again, those of images and groups included, so that each frame is read.
///
/// The low half of the first byte is the number of a store of ``DamageProof``. The rest are changes
/// of five bytes: the frame, the kind of change, and three bytes of its terms.
package struct FuzzedLog {
    private struct Sample {
        var bytes: [UInt8]
        var seal: StoreSeal
        var frames: [[UInt8]]
        var segment: Range<Int>
        /// What the newest snapshot shows of small pages.
        var images: [(page: UInt64, bytes: [UInt8])]
    }

    private let samples: [Sample]

    package init() throws {
        samples = try DamageProof.samples(1).compactMap { sample in
            let seal = StoreSeal(sample.bytes)
            let places = seal.frames(sample.bytes)
            guard !places.isEmpty, let segment = seal.head(sample.bytes) else { return nil }
            return Sample(
                bytes: sample.bytes, seal: seal, frames: places.map { Array(sample.bytes[$0]) },
                segment: segment, images: try Self.images(sample))
        }
    }

    private static func images(
        _ sample: DamageProof.Sample
    ) throws -> [(page: UInt64, bytes: [UInt8])] {
        guard case .shows(let engine) = try DamageVerdict.of(sample.bytes, seed: 1) else {
            throw ProofFailure("\(sample.name) is not sound")
        }
        let snapshot = try engine.snapshot()
        return (1..<64 as Range<UInt64>).compactMap { number in
            guard let page = try? snapshot.page(PageID(number)),
                page.count == DamageProof.options.pageSizeInBytes
            else { return nil }
            return (number, page.view.array())
        }
    }

    /// Opens the store with its changed log, checks it, reads all of it and writes to it. Returns
    /// whether damage was found. Throws what no file may lead to.
    package func run(_ input: [UInt8]) throws -> Bool {
        guard let first = input.first else { return true }
        let sample = samples[Int(first & 0x0F) % samples.count]
        var frames = sample.frames
        for start in stride(from: 1, to: input.count - 4, by: 5) {
            guard !frames.isEmpty else { break }
            let index = Int(input[start]) % frames.count
            change(&frames, index, sample, input[(start + 1)...(start + 4)].map { $0 })
        }
        var log = Array(frames.joined().prefix(sample.segment.count))
        log += [UInt8](repeating: 0, count: sample.segment.count - log.count)
        var bytes = sample.bytes
        bytes.replaceSubrange(sample.segment, with: log)
        sample.seal.sealImages(of: &bytes)
        sample.seal.sealLog(of: &bytes)
        return try DamageVerdict.use(bytes)
    }

    /// - Parameter terms: the kind of change and three bytes.
    private func change(
        _ frames: inout [[UInt8]], _ index: Int, _ sample: Sample, _ terms: [UInt8]
    ) {
        let (kind, first, second, third) = (
            Int(terms[0]), Int(terms[1]), Int(terms[2]), UInt64(terms[3])
        )
        // Whole numbers begin at multiples of eight, the hash excepted.
        let field = 8 + 8 * (first % max(1, min(frames[index].count, 64) / 8 - 1))
        switch kind % 8 {
        case 0: frames[index].store(third, size: 1, at: 8 + first)
        case 1: frames[index].store(UInt64(second) | third << 8, size: 2, at: 8 + first)
        case 2:
            // Powers of two, and what is a little less or more.
            let number = (UInt64(1) << UInt64(second & 63)) &+ (third & 7) &- 3
            frames[index].store(number, size: 8, at: field)
        case 3:
            // About the file's end, as offsets in bytes.
            let number = UInt64(sample.bytes.count) &+ UInt64(second) &* 512 &- third &* 512
            frames[index].store(number, size: 8, at: field)
        case 4: frames[index].store(UInt64(second) | third << 8, size: 8, at: field)
        case 5: frames.insert(frames[first % frames.count], at: second % (frames.count + 1))
        case 6: frames.remove(at: index)
        default: frames[index] = full(sample, kind / 8, first | second << 8, UInt8(third))
        }
    }

    /// A FULL frame of a page that has one other byte.
    private func full(
        _ sample: Sample, _ image: Int, _ offset: Int, _ byte: UInt8
    ) -> [UInt8] {
        guard !sample.images.isEmpty else { return [] }
        var (page, bytes) = sample.images[image % sample.images.count]
        bytes[offset % bytes.count] = byte
        var frame = [UInt8](repeating: 0, count: FrameLayout.payload)
        frame.store(UInt64(frame.count + bytes.count), size: 4, at: FrameLayout.length)
        frame.store(UInt64(FrameType.full.rawValue), size: 1, at: FrameLayout.type)
        frame.store(page, size: 8, at: FrameLayout.pageID)
        frame.store(UInt64(bytes.count), size: 4, at: FrameLayout.rawLength)
        frame.store(UInt64(bytes.count), size: 4, at: FrameLayout.storedLength)
        return frame + bytes
    }
}

extension [UInt8] {
    fileprivate mutating func store(_ number: UInt64, size: Int, at offset: Int) {
        for index in 0..<size where offset + index < count {
            self[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }
}
