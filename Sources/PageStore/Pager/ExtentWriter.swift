/// Writes extents to free space, neighbours in one run.
struct ExtentWriter {
    private let engine: Engine
    private let scratch = ByteBuffer(capacity: 32_768)
    private let run = ByteBuffer(capacity: 65_536)
    private var runUnit: UInt64 = 0
    private var written: [ExtentAddress] = []
    private static let runSizeInBytesMax = 1 << 20

    init(engine: Engine) {
        self.engine = engine
    }

    /// Encodes an image, takes space for it and queues it.
    mutating func append(
        _ image: ByteView, id: UInt64, kind: ExtentKind, generation: UInt64, commit: UInt64
    ) throws(StoreError) -> ExtentAddress {
        scratch.removeAll()
        ExtentCodec.encode(
            image, id: id, kind: kind, generation: generation, commit: commit,
            compresses: engine.options.isCompressed, into: scratch)
        let unitSize = engine.options.unitSizeInBytes
        let unitCount = (scratch.count + unitSize - 1) / unitSize
        let unit = engine.writer.space.allocate(unitCount)
        let address = ExtentCodec.seal(
            scratch, from: 0, unit: unit, unitCount: unitCount, unitSizeInBytes: unitSize,
            uuid: engine.uuid)
        written.append(address)
        try queue(unit)
        return address
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
        let address = ExtentCodec.seal(
            scratch, from: 0, unit: unit, unitCount: unitCount,
            unitSizeInBytes: engine.options.unitSizeInBytes, uuid: engine.uuid)
        try queue(unit)
        return address
    }

    private mutating func queue(_ unit: UInt64) throws(StoreError) {
        let unitSize = UInt64(engine.options.unitSizeInBytes)
        let isNeighbour = runUnit * unitSize + UInt64(run.count) == unit * unitSize
        if run.count > 0 && (!isNeighbour || run.count >= Self.runSizeInBytesMax) { try flush() }
        if run.count == 0 { runUnit = unit }
        run.append(scratch.view)
    }

    mutating func flush() throws(StoreError) {
        guard run.count > 0 else { return }
        let start = runUnit * UInt64(engine.options.unitSizeInBytes)
        try engine.file.write(run.view, at: start)
        engine.writer.fileEnd = max(engine.writer.fileEnd, start + UInt64(run.count))
        run.removeAll()
    }

    /// Gives back the space of everything that was appended.
    mutating func abandon() {
        for address in written { engine.writer.space.free(address) }
        written = []
        run.removeAll()
    }
}
