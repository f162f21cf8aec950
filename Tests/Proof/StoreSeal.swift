import PageStore

/// Makes the hashes of a small store right again after its bytes were changed, as no accident
/// does.
package struct StoreSeal {
    /// Everything in the file that has the form and the hash of an extent.
    package private(set) var extents: [Range<Int>] = []
    private let uuid: (UInt64, UInt64)
    private let unitSizeInBytes: Int

    /// - Parameter bytes: the store before anything was changed.
    package init(_ bytes: [UInt8]) {
        uuid = bytes.withView {
            ($0.uint64(at: SuperblockLayout.uuid), $0.uint64(at: SuperblockLayout.uuid + 8))
        }
        let unit = max(64, bytes.withView { Int($0.uint32(at: SuperblockLayout.unitSize)) })
        unitSizeInBytes = unit
        extents = bytes.withView { view in
            stride(from: 8192, to: view.count - 48, by: unit).compactMap { start in
                let stored = Int(view.uint32(at: start + 32))
                let hash = view.uint64(at: start)
                guard hash != 0, stored > 0, stored <= view.count - start - 48 else { return nil }
                let covered = view.slice(from: start + 8, count: 40 + stored)
                guard Checksum.hash(covered, seed: seed(UInt64(start / unit))) == hash else {
                    return nil
                }
                return start..<(start + 48 + stored)
            }
        }
    }

    private func seed(_ first: UInt64, _ second: UInt64 = 0, _ third: UInt64 = 0) -> UInt64 {
        var bytes: [UInt8] = []
        for number in [uuid.0, uuid.1, first, second, third] { bytes += number.littleEndianBytes }
        return bytes.withView { Checksum.hash($0, seed: 0) }
    }

    /// The hash that an extent has of itself, and nobody's that names it.
    func sealAlone(_ place: Range<Int>, of bytes: inout [UInt8]) {
        bytes.set(hash(of: place, bytes), at: place.lowerBound)
    }

    private func hash(of place: Range<Int>, _ bytes: [UInt8]) -> UInt64 {
        let unit = UInt64(place.lowerBound / unitSizeInBytes)
        return Array(bytes[(place.lowerBound + 8)..<place.upperBound])
            .withView { Checksum.hash($0, seed: seed(unit)) }
    }

    /// Extents that were changed, whoever names them, up to the superblocks, and the log.
    package func seal(_ changed: [Range<Int>], of bytes: inout [UInt8]) {
        var open = changed
        var steps = 0
        while let place = open.popLast(), steps < 64 {
            steps += 1
            let hash = hash(of: place, bytes)
            let old = bytes.number(at: place.lowerBound)
            guard hash != old else { continue }
            bytes.set(hash, at: place.lowerBound)
            for offset in stride(from: 0, to: bytes.count - 8, by: 8)
            where bytes.number(at: offset) == old && offset != place.lowerBound {
                bytes.set(hash, at: offset)
                let holder = extents.first { $0.contains(offset) }
                if let holder, holder != place { open.append(holder) }
            }
        }
        sealSuperblock(0, of: &bytes)
        sealSuperblock(1, of: &bytes)
        sealLog(of: &bytes)
    }

    func sealSuperblock(_ slot: Int, of bytes: inout [UInt8]) {
        let start = slot * 4096
        let hash = Array(bytes[start..<(start + SuperblockLayout.hash)])
            .withView { Checksum.hash($0, seed: 0) }
        bytes.set(hash, at: start + SuperblockLayout.hash)
    }

    /// The head segment's frames as their lengths say.
    func frames(_ bytes: [UInt8]) -> [Range<Int>] {
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

    /// The head segment.
    func head(_ bytes: [UInt8]) -> Range<Int>? {
        let slot = newestSlot(bytes)
        let offset = bytes.number(at: slot + SuperblockLayout.headOffset)
        let length = bytes.number(at: slot + SuperblockLayout.headLength)
        guard offset < UInt64(bytes.count), length <= UInt64(bytes.count) - offset else {
            return nil
        }
        return Int(offset)..<Int(offset + length)
    }

    /// The hashes that frames have of images that are stored as they are, and of groups.
    func sealImages(of bytes: inout [UInt8]) {
        for frame in frames(bytes) {
            let start = frame.lowerBound
            switch FrameType(rawValue: bytes[start + FrameLayout.type]) {
            case .group where frame.count >= FrameLayout.groupSize:
                let covered = bytes[(start + 8)..<(start + FrameLayout.groupHash)]
                bytes.set(hash(covered, seed: 0), at: start + FrameLayout.groupHash)
            case .full
            where frame.count > FrameLayout.payload
                && bytes[start + FrameLayout.flags] & FrameLayout.flagCompressed == 0:
                let image = bytes[(start + FrameLayout.payload)..<frame.upperBound]
                let page = bytes.number(at: start + FrameLayout.pageID)
                bytes.set(hash(image, seed: page), at: start + FrameLayout.imageHash)
            default: break
            }
        }
    }

    private func hash(_ bytes: ArraySlice<UInt8>, seed: UInt64) -> UInt64 {
        Array(bytes).withView { Checksum.hash($0, seed: seed) }
    }

    /// Chains the frames of the head segment anew.
    func sealLog(of bytes: inout [UInt8]) {
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
