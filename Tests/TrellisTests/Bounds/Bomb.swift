import TestSupport

@testable import PageStore

/// Small files that claim to be large, each in another part of the format. All hashes are right.
enum Bomb: String, CaseIterable {
    case images, imagesOfOnePage, repeats, deltas, deltasAfterFrees, frees, extents, pads
    case allocationZeros, allocationRuns, allocationZones, allocationHoles
    case mapEntries, mapNodes, longValue, hole

    /// A file of about so many bytes on the disk.
    func file(_ sizeInBytes: Int) throws -> CraftedFile {
        switch self {
        case .longValue:
            // A chunk of zeros takes some four kilobytes; the value is made in memory.
            return try CraftedFile(portraitBytes: min(sizeInBytes / 34_400, 1000) << 20)
        case .hole:
            let file = try CraftedFile(pageSize: 16_384)
            file.skip(UInt64(sizeInBytes) << 12)
            try file.finish()
            return file
        case .allocationZeros, .allocationRuns, .allocationZones, .allocationHoles:
            return try allocation(sizeInBytes)
        case .mapEntries, .mapNodes: return try map(sizeInBytes)
        default: return try log(sizeInBytes)
        }
    }

    // MARK: The log

    private func log(_ size: Int) throws -> CraftedFile {
        let file = try CraftedFile()
        try file.setLog { group in
            switch self {
            case .images, .imagesOfOnePage:
                var id: UInt64 = 1 << 20
                while group.count < size {
                    FrameCodec.appendFull(file.emptyPage(id), into: group)
                    if self == .images { id += 1 }
                }
            case .repeats: appendRepeats(file, group, size)
            case .deltas: appendDeltas(file, group, size / 2, size / 2)
            case .deltasAfterFrees:
                appendFrees(group, size * 4 / 5)
                appendDeltas(file, group, 1000, size / 5)
            case .frees: appendFrees(group, size)
            case .extents:
                var id: UInt64 = 1 << 20
                while group.count < size {
                    let address = ExtentAddress(hash: id, unit: 100, unitCount: 1)
                    FrameCodec.appendExtent(PageID(id), address, into: group)
                    id += 1
                }
            default:
                // The shortest frames that there are.
                while group.count < size {
                    let start = FrameCodec.begin(.pad, bodySize: 0, into: group)
                    FrameCodec.end(start, in: group)
                }
            }
            file.appendCommit(to: group)
        }
        try file.finish()
        return file
    }

    /// Pages that LZ4 makes fifteen times smaller, by a match that repeats three bytes: it decodes
    /// no other more slowly.
    private func appendRepeats(_ file: CraftedFile, _ group: ByteBuffer, _ size: Int) {
        let pattern = file.emptyPage(1)
        var random = SeededRandom(seed: 1)
        let start = 64
        random.bytes(pattern.count / 15 - start).withView { pattern.copy($0, to: start) }
        let rest = pattern.count - pattern.count / 15
        [UInt8]((0..<rest).map { UInt8($0 % 3) }).withView {
            pattern.copy($0, to: pattern.count - rest)
        }
        var id: UInt64 = 1 << 20
        while group.count < size {
            let page = PageBuffer(id: PageID(id), count: pattern.count)
            page.copy(pattern.view, to: 0)
            FrameCodec.appendFull(page, into: group)
            id += 1
        }
    }

    private func appendFrees(_ group: ByteBuffer, _ size: Int) {
        let end = group.count + size
        var next: UInt64 = 1 << 20
        while group.count < end {
            let ids = (0..<1024).map { PageID(next + 2 * $0) }
            FrameCodec.appendFree(ids[...], into: group)
            next += 2048
        }
    }

    /// Images first, and then deltas of one after the other.
    private func appendDeltas(
        _ file: CraftedFile, _ group: ByteBuffer, _ imageBytes: Int, _ deltaBytes: Int
    ) {
        let start = group.count
        var id: UInt64 = 1
        while group.count < start + imageBytes {
            id += 1
            FrameCodec.appendFull(file.emptyPage(1 << 30 | id), into: group)
        }
        let (last, end) = (id, group.count + deltaBytes)
        var byte: UInt8 = 0
        while group.count < end {
            id = id == last ? 2 : id + 1
            if id == 2 { byte &+= 1 }
            let (old, new) = (file.emptyPage(1 << 30 | id), file.emptyPage(1 << 30 | id))
            // Behind the payload, where a page may hold anything.
            old[5000] = byte &- 1
            new[5000] = byte
            guard FrameCodec.appendDelta(new, from: old, sizeMax: 32_768, into: group) != nil
            else { return }
        }
    }

    // MARK: The allocation state

    private func allocation(_ size: Int) throws -> CraftedFile {
        let file = try CraftedFile()
        // A commit makes an opening look for a lost link, by the state.
        try file.setLog { file.appendCommit(to: $0, pageCount: file.superblock.pageCount) }
        let units = UInt64(1) << 32
        let stream = ByteBuffer(capacity: 64)
        func header(_ counts: [UInt64]) { for count in counts { stream.appendUInt64(count) } }
        switch self {
        case .allocationZones:
            let unitsPerZone = file.geometry.pageSizeInBytes * 8
            let zone = PageBuffer(id: PageID(0), count: file.geometry.pageSizeInBytes)
            for index in 0..<zone.count { zone[index] = 0xFE }
            let zoneCount = min(UInt64(size / 1024), units / UInt64(unitsPerZone))
            header([zoneCount * UInt64(unitsPerZone), zoneCount, 0, 0])
            for number in 0..<zoneCount {
                let address = try file.append(zone.view, id: number, kind: .zone)
                stream.appendUInt64(address.hash)
                stream.appendUInt64(address.place)
            }
            file.skip(units * 1024)
        case .allocationHoles:
            header([units, units / UInt64(file.geometry.pageSizeInBytes * 8), 0, 0])
            file.skip(units * 1024)
        case .allocationRuns: header([0, 0, 1 << 40, 0])
        default: header([0, 0, 0, 0])
        }
        try setAllocation(stream, blockCount: max(1, size / 5120), of: file)
        try file.finish()
        return file
    }

    /// A chain of blocks of zeros, of which the first begins with a stream.
    private func setAllocation(
        _ stream: ByteBuffer, blockCount: Int, of file: CraftedFile
    ) throws {
        let blockCount = self == .allocationZones || self == .allocationHoles ? 1 : blockCount
        var next = ExtentAddress.none
        for number in (0..<blockCount).reversed() {
            let image = ByteBuffer(capacity: Limits.chunkSizeInBytesMax)
            image.appendUInt64(next.hash)
            image.appendUInt64(next.place)
            if number == 0 { image.append(stream.view) }
            image.appendZeros(Limits.chunkSizeInBytesMax - image.count)
            next = try file.append(image.view, id: UInt64(number), kind: .allocation)
        }
        file.change { $0.allocationRoot = next }
    }

    // MARK: The map

    private func map(_ size: Int) throws -> CraftedFile {
        let file = try CraftedFile()
        let fanout = file.geometry.mapFanout
        let count = min(size / 1024, fanout * fanout)
        let address = ExtentAddress(hash: 1, unit: 100, unitCount: 1)
        var nodes: [ExtentAddress] = []
        for number in 0..<count {
            let node = PageBuffer(id: PageID(0), count: file.geometry.pageSizeInBytes)
            for index in 0..<(self == .mapEntries ? fanout : 1) {
                address.store(in: node, at: index * ExtentAddress.size)
            }
            let first = UInt64(number * fanout)
            nodes.append(
                try file.append(
                    node.view, id: MapNode.storedID(level: 0, firstID: first), kind: .map))
        }
        var level = 0
        while nodes.count > 1 || level == 0 {
            level += 1
            var above: [ExtentAddress] = []
            for start in stride(from: 0, to: nodes.count, by: fanout) {
                let node = PageBuffer(id: PageID(0), count: file.geometry.pageSizeInBytes)
                for (index, child) in nodes[start..<min(start + fanout, nodes.count)].enumerated() {
                    child.store(in: node, at: index * ExtentAddress.size)
                }
                let first = UInt64(start) * PageMap.span(level: level, fanout: fanout)
                above.append(
                    try file.append(
                        node.view, id: MapNode.storedID(level: level, firstID: first), kind: .map))
            }
            nodes = above
        }
        let root = nodes[0]
        file.change {
            $0.mapRoot = root
            $0.mapDepth = level + 1
        }
        try file.finish()
        return file
    }
}
