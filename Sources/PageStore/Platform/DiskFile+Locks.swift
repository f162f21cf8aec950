import CTrellis
import SystemPackage

/// Locks of bytes far after any content: spec/03-wal.md.
///
/// They are locks of the open file (`F_OFD_SETLK`) rather than of the process, and end with it,
/// also when the process dies. A system without them has the writer's lock alone, as one of the
/// whole file: nothing is kept for readers of other processes there.
extension DiskFile {
    private static let writerByte: UInt64 = (1 << 62) - 1
    private static let readerBytes: UInt64 = 1 << 62
    /// More questions than there are readers in any reasonable program.
    private static let questionCountMax = 10_000

    func lockWriter() throws(StoreError) -> Bool {
        guard Self.hasByteLocks else { return try lockWholeFile() }
        return try lock(TRELLIS_LOCK_EXCLUSIVE, Self.writerByte) ?? true
    }

    func isLockedByWriter() throws(StoreError) -> Bool {
        guard Self.hasByteLocks else { return try isWholeFileLocked() }
        return try holder(of: Self.writerByte..<Self.writerByte + 1) != nil
    }

    func lockReader(of generation: UInt64) throws(StoreError) -> Bool {
        guard generation < Self.readerBytes else { return false }
        return try lock(TRELLIS_LOCK_SHARED, Self.readerBytes + generation) ?? false
    }

    func unlockReader(of generation: UInt64) throws(StoreError) {
        guard generation < Self.readerBytes else { return }
        _ = try lock(TRELLIS_UNLOCK, Self.readerBytes + generation)
    }

    /// Releases all locks, also where a child process holds a copy of the descriptor.
    func unlockAll() {
        _ = trellis_lock_bytes(data.rawValue, Int32(TRELLIS_UNLOCK), 0, 0)
        if !Self.hasByteLocks { _ = trellis_lock_file(data.rawValue, Int32(TRELLIS_UNLOCK)) }
    }

    func heldGenerations(before end: UInt64) throws(StoreError) -> [Range<UInt64>] {
        var found: [Range<UInt64>] = []
        var open = [Self.readerBytes..<Self.readerBytes + min(end, Self.readerBytes)]
        var questionCount = 0
        while let range = open.popLast() {
            guard !range.isEmpty else { continue }
            questionCount += 1
            // Too many to tell: whatever was not asked for is taken for held.
            let held = questionCount > Self.questionCountMax ? range : try holder(of: range)
            guard let held else { continue }
            found.append(
                held.lowerBound - Self.readerBytes..<held.upperBound - Self.readerBytes)
            open.append(range.lowerBound..<held.lowerBound)
            open.append(held.upperBound..<range.upperBound)
        }
        return found
    }

    /// Sets one byte's lock. False when another open file is in the way, nil where there are no
    /// locks.
    private func lock(_ kind: Int, _ byte: UInt64) throws(StoreError) -> Bool? {
        let reason = try withDescriptors {
            Errno(rawValue: trellis_lock_bytes(data.rawValue, Int32(kind), byte, 1))
        }
        if reason.rawValue == 0 { return true }
        if Self.isHeldByOther(reason) { return false }
        if Self.isWithoutLocks(reason) { return nil }
        throw systemFailure("lock the file", reason, path: path)
    }

    /// A part of a range that another open file has locked; nil when there is none.
    private func holder(of range: Range<UInt64>) throws(StoreError) -> Range<UInt64>? {
        var (start, count) = (range.lowerBound, UInt64(range.count))
        var kind: Int32 = 0
        let reason = try withDescriptors {
            // Safety: the call fills in the three numbers and keeps no pointer to them.
            Errno(rawValue: unsafe trellis_find_lock(data.rawValue, &start, &count, &kind))
        }
        guard reason.rawValue == 0 else {
            if Self.isWithoutLocks(reason) { return nil }
            throw systemFailure("ask for locks of the file", reason, path: path)
        }
        guard kind != Int32(TRELLIS_UNLOCK) else { return nil }
        // A length of zero is without end.
        let end = count > 0 ? start + count : .max
        let held = (start..<max(start, end)).clamped(to: range)
        return held.isEmpty ? range : held
    }

    private static func isHeldByOther(_ reason: Errno) -> Bool {
        reason == .resourceTemporarilyUnavailable || reason == .wouldBlock
            || reason == .permissionDenied
    }

    /// A file system without locks: there is nothing to wait for.
    private static func isWithoutLocks(_ reason: Errno) -> Bool {
        reason == .noLocks || reason == .invalidArgument || reason == .notSupported
    }

    // MARK: Without locks of bytes

    private static let hasByteLocks = trellis_has_file_locks() != 0

    private func lockWholeFile() throws(StoreError) -> Bool {
        let reason = try withDescriptors {
            Errno(rawValue: trellis_lock_file(data.rawValue, Int32(TRELLIS_LOCK_EXCLUSIVE)))
        }
        if reason.rawValue == 0 || Self.isWithoutLocks(reason) { return true }
        if Self.isHeldByOther(reason) { return false }
        throw systemFailure("lock the file", reason, path: path)
    }

    /// Asked by readers alone: there is no question that takes no lock, and the writer's own would
    /// become a shared one.
    private func isWholeFileLocked() throws(StoreError) -> Bool {
        try withDescriptors {
            let reason = Errno(
                rawValue: trellis_lock_file(data.rawValue, Int32(TRELLIS_LOCK_SHARED)))
            if Self.isHeldByOther(reason) { return true }
            _ = trellis_lock_file(data.rawValue, Int32(TRELLIS_UNLOCK))
            return false
        }
    }
}
