/// Space for the log.
extension LogWriter {
    /// Takes space for a segment whose blocks exist, so that writing into it cannot lack space.
    ///
    /// - Parameters:
    ///   - usualSizeInBytes: how long it is where the commit does not need more; nil for the
    ///     options' size.
    ///   - isSyncedLater: whether the caller synchronises the file before anything leads to the
    ///     segment.
    func allocateSegment(
        holding byteCount: UInt64, usualSizeInBytes: Int? = nil, isSyncedLater: Bool = false
    ) throws(StoreError) -> LogSegment {
        let options = context.options
        let block = UInt64(Limits.blockSizeInBytes)
        let wanted = byteCount + FrameCodec.linkReserve + block
        let usual = UInt64(
            max(usualSizeInBytes ?? options.logSegmentSizeInBytes, Limits.walSegmentSizeInBytesMin))
        // Each segment costs three waits for the disk, so the log doubles while commits fill it;
        // the zeros left over are at most as many bytes as the commits wrote.
        let shared = byteCount > 0 ? min(self.byteCount, options.logBytesMax / 8) : 0
        func rounded(_ size: UInt64) -> UInt64 { (size + block - 1) / block * block }
        let least = rounded(max(usual, wanted))
        guard least <= Limits.walSegmentSizeInBytesMax else {
            throw StoreError(
                .tooLarge, "the transaction has too many pages for a segment of the log",
                path: context.path)
        }
        do throws(StoreError) {
            return try segment(max(least, rounded(shared)), isSyncedLater: isSyncedLater)
        } catch {
            // A disk that is nearly full may have room for the commit itself.
            guard error.isForLackOfSpace, shared > least else {
                throw context.failedBeforeCommit(error)
            }
            do throws(StoreError) {
                return try segment(least, isSyncedLater: isSyncedLater)
            } catch {
                throw context.failedBeforeCommit(error)
            }
        }
    }

    private func segment(
        _ size: UInt64, isSyncedLater: Bool
    ) throws(StoreError) -> LogSegment {
        let number = (segments.last?.number ?? 0) + 1
        guard number <= Limits.numberMax else { throw context.numbersUsedUp() }
        let geometry = context.geometry
        let alignment = max(1, Limits.blockSizeInBytes / geometry.unitSizeInBytes)
        let unitCount = geometry.unitCount(holding: Int(size))
        let unit = try space.withSpace { space throws(StoreError) in
            try space.allocate(unitCount, alignment: alignment, isRecent: true)
        }
        do throws(StoreError) {
            try zeroFill(unit, UInt64(unitCount), isSyncedLater: isSyncedLater)
        } catch {
            space.withSpace { $0.free(unit, UInt64(unitCount)) }
            throw error
        }
        return LogSegment(
            byteOffset: geometry.byteOffset(ofUnit: unit), sizeInBytes: size,
            number: number,
            salt: StoreUUID(low: context.files.random(), high: context.files.random()),
            born: newestGeneration)
    }

    /// Where blocks were never written they are written now; elsewhere the new salt makes what an
    /// earlier owner left harmless.
    ///
    /// Afterwards the file's durable length covers the segment, unless the caller sees to that. A
    /// durable write guarantees only its own bytes, and recovery reports a LINK to a segment past
    /// the end of the file as damage.
    private func zeroFill(
        _ unit: UInt64, _ unitCount: UInt64, isSyncedLater: Bool
    ) throws(StoreError) {
        let end = unit + unitCount
        let (parts, isSynced) = space.withSpace {
            ($0.unwrittenParts(unit, unitCount), end <= $0.syncedEnd)
        }
        guard try writeZeros(over: parts, unit..<end) || !isSynced else { return }
        if !isSyncedLater { try context.sync() }
        space.withSpace { space in
            space.noteWritten(unit, unitCount)
            if !isSyncedLater { space.noteSynced(upTo: end) }
        }
    }

    /// Writes over the parts of a place that no block of the disk is for: those that were never
    /// written, and those that an earlier opening left so. Returns whether there were any.
    private func writeZeros(
        over unwritten: [Range<UInt64>], _ place: Range<UInt64>
    ) throws(StoreError) -> Bool {
        func fill(_ bytes: Range<UInt64>) throws(StoreError) {
            let zeros = ByteBuffer(capacity: 1 << 16)
            zeros.appendZeros(Int(min(1 << 16, UInt64(bytes.count))))
            var position = bytes.lowerBound
            while position < bytes.upperBound {
                let count = min(UInt64(zeros.count), bytes.upperBound - position)
                try context.file.write(zeros.view.slice(from: 0, count: Int(count)), at: position)
                position += count
            }
        }
        func byteOffset(_ unit: UInt64) -> UInt64 { context.geometry.byteOffset(ofUnit: unit) }
        for part in unwritten {
            try fill(byteOffset(part.lowerBound)..<byteOffset(part.upperBound))
        }
        let end = byteOffset(place.upperBound)
        var position = byteOffset(place.lowerBound)
        var isFilled = !unwritten.isEmpty
        while position < end {
            let hole = context.file.nextHole(from: position)
            let data = min(context.file.nextData(from: hole), end)
            // A system that does not know holes finds one where the file ends.
            guard hole >= position, data > hole else { break }
            try fill(hole..<data)
            isFilled = true
            position = data
        }
        return isFilled
    }
}
