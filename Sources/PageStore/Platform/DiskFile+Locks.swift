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
        // A file system without locks: there is nothing to wait for.
        return try Self.isLocked(setLock(TRELLIS_LOCK_EXCLUSIVE, Self.writerByte), path) ?? true
    }

    func isLockedByWriter() throws(StoreError) -> Bool? {
        guard Self.hasByteLocks else { return try isWholeFileLocked() }
        return switch try holder(of: Self.writerByte..<Self.writerByte + 1) {
        case .locked: true
        case .free: false
        case .unknown: nil
        }
    }

    func lockReader(of generation: UInt64) throws(StoreError) -> Bool {
        guard generation < Self.readerBytes else { return false }
        let reason = try setLock(TRELLIS_LOCK_SHARED, Self.readerBytes + generation)
        // It can go on without, as where there are no locks.
        if reason == .noLocks { return false }
        return try Self.isLocked(reason, path) ?? false
    }

    func unlockReader(of generation: UInt64) throws(StoreError) {
        guard generation < Self.readerBytes else { return }
        let reason = try setLock(TRELLIS_UNLOCK, Self.readerBytes + generation)
        if reason != .noLocks { _ = try Self.isLocked(reason, path) }
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
            guard let held = try held(questionCount, range) else { continue }
            found.append(
                held.lowerBound - Self.readerBytes..<held.upperBound - Self.readerBytes)
            open.append(range.lowerBound..<held.lowerBound)
            open.append(held.upperBound..<range.upperBound)
        }
        return found
    }

    /// The part of a range that is held, by the first open file that is found to; nil for none.
    private func held(
        _ questionCount: Int, _ range: Range<UInt64>
    ) throws(StoreError) -> Range<UInt64>? {
        // Too many to tell: whatever was not asked for is taken for held.
        guard questionCount <= Self.questionCountMax else { return range }
        switch try holder(of: range) {
        case .locked(let held): return held
        case .free: return nil
        case .unknown(let reason):
            // Where there are no locks, no reader has one.
            if Self.isWithoutLocks(reason) { return nil }
            throw systemFailure("ask for locks of the file", reason, path: path)
        }
    }

    private func setLock(_ kind: Int, _ byte: UInt64) throws(StoreError) -> Errno {
        try withDescriptors {
            Errno(rawValue: trellis_lock_bytes(data.rawValue, Int32(kind), byte, 1))
        }
    }

    /// What a call for a lock has returned: whether the lock is this file's. False when another
    /// open file is in the way, nil where there are no locks.
    ///
    /// A system that has no more locks, or cannot ask for one, has them all the same: going on
    /// without would let two processes write one file.
    static func isLocked(_ reason: Errno, _ path: String) throws(StoreError) -> Bool? {
        if reason.rawValue == 0 { return true }
        if isHeldByOther(reason) { return false }
        if reason == .noLocks {
            throw StoreError(
                .io,
                "the file cannot be locked: the system has no more locks, or the lock service of "
                    + "its network file system does not answer",
                path: path, systemError: reason.rawValue)
        }
        if isWithoutLocks(reason) { return nil }
        throw systemFailure("lock the file", reason, path: path)
    }

    private enum Holder {
        /// Another open file has locked this part of the range.
        case locked(Range<UInt64>)
        case free
        /// The question has no answer: there are no locks, or the system has no more of them.
        case unknown(Errno)
    }

    private func holder(of range: Range<UInt64>) throws(StoreError) -> Holder {
        var (start, count) = (range.lowerBound, UInt64(range.count))
        var kind: Int32 = 0
        let reason = try withDescriptors {
            // Safety: the call fills in the three numbers and keeps no pointer to them.
            Errno(rawValue: unsafe trellis_find_lock(data.rawValue, &start, &count, &kind))
        }
        guard reason.rawValue == 0 else {
            if Self.isWithoutLocks(reason) || reason == .noLocks { return .unknown(reason) }
            throw systemFailure("ask for locks of the file", reason, path: path)
        }
        guard kind != Int32(TRELLIS_UNLOCK) else { return .free }
        // A length of zero is without end.
        let end = count > 0 ? start + count : .max
        let held = (start..<max(start, end)).clamped(to: range)
        return .locked(held.isEmpty ? range : held)
    }

    private static func isHeldByOther(_ reason: Errno) -> Bool {
        reason == .resourceTemporarilyUnavailable || reason == .wouldBlock
            || reason == .permissionDenied
    }

    /// A file system without locks.
    private static func isWithoutLocks(_ reason: Errno) -> Bool {
        reason == .invalidArgument || reason == .notSupported
    }

    // MARK: Without locks of bytes

    private static let hasByteLocks = trellis_has_file_locks() != 0

    private func lockWholeFile() throws(StoreError) -> Bool {
        let reason = try withDescriptors {
            Errno(rawValue: trellis_lock_file(data.rawValue, Int32(TRELLIS_LOCK_EXCLUSIVE)))
        }
        return try Self.isLocked(reason, path) ?? true
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
