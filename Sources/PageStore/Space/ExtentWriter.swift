/// Writes extents to free space, neighbours in one run.
struct ExtentWriter {
    private let context: StoreContext
    private let space: FileSpace
    /// Whether its allocations are not part of a checkpoint that runs now.
    private let isRecent: Bool
    private let scratch = ByteBuffer(capacity: 32_768)
    private let run = ByteBuffer(capacity: 65_536)
    private var runUnit: UInt64 = 0
    private var taken: [(unit: UInt64, unitCount: Int)] = []
    private static let runSizeInBytesMax = 1 << 20

    init(_ context: StoreContext, _ space: FileSpace, isRecent: Bool) {
        self.context = context
        self.space = space
        self.isRecent = isRecent
    }

    /// Encodes an image, takes space for it, before a limit where there is some, and queues it.
    mutating func append(
        _ image: ByteView, id: UInt64, kind: ExtentKind, generation: UInt64, commit: UInt64,
        below limit: UInt64? = nil
    ) throws(StoreError) -> ExtentAddress {
        scratch.removeAll()
        ExtentCodec.encode(
            image, id: id, kind: kind, generation: generation, commit: commit,
            compresses: context.options.isCompressed, into: scratch)
        let unitCount = context.geometry.unitCount(holding: scratch.count)
        return try queue(try take(unitCount, below: limit), unitCount)
    }

    /// Queues an extent that is not compressed at a place that was taken before.
    mutating func append(
        _ image: ByteView, id: UInt64, kind: ExtentKind, generation: UInt64, commit: UInt64,
        unit: UInt64, unitCount: Int
    ) throws(StoreError) -> ExtentAddress {
        scratch.removeAll()
        ExtentCodec.encode(
            image, id: id, kind: kind, generation: generation, commit: commit, compresses: false,
            into: scratch)
        return try queue(unit, unitCount)
    }

    /// Allocates space for an extent whose content depends on the other allocations.
    mutating func take(
        _ unitCount: Int, below limit: UInt64? = nil
    ) throws(StoreError) -> UInt64 {
        let unit = try space.withSpace { space throws(StoreError) in
            if let limit, let unit = space.allocate(unitCount, below: limit) { return unit }
            return try space.allocate(unitCount, isRecent: isRecent)
        }
        taken.append((unit, unitCount))
        return unit
    }

    private mutating func queue(
        _ unit: UInt64, _ unitCount: Int
    ) throws(StoreError) -> ExtentAddress {
        let unitSize = context.geometry.unitSizeInBytes
        let address = ExtentCodec.seal(
            scratch, from: 0, unit: unit, unitCount: unitCount, unitSizeInBytes: unitSize,
            uuid: context.uuid)
        let isNeighbour = Int(runUnit) * unitSize + run.count == Int(unit) * unitSize
        if run.count > 0 && (!isNeighbour || run.count >= Self.runSizeInBytesMax) { try flush() }
        if run.count == 0 { runUnit = unit }
        run.append(scratch.view)
        return address
    }

    mutating func flush() throws(StoreError) {
        guard run.count > 0 else { return }
        // A transaction may have begun before a fork: the child's free space is its parent's too.
        try context.checkProcess()
        let unitSize = UInt64(context.geometry.unitSizeInBytes)
        try context.file.write(run.view, at: runUnit * unitSize)
        let unitCount = UInt64(run.count) / unitSize
        space.withSpace { $0.noteWritten(runUnit, unitCount) }
        run.removeAll()
    }

    /// Gives back the space of everything that was appended.
    mutating func abandon() {
        space.withSpace { space in
            for (unit, unitCount) in taken { space.free(unit, UInt64(unitCount)) }
        }
        taken = []
        run.removeAll()
    }
}
