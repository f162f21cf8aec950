#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Locks of bytes far behind any content: spec/03-wal.md.
///
/// They are locks of the open file (`F_OFD_SETLK`) rather than of the process, and end with it,
/// also when the process dies.
extension DiskFile {
    /// The system's numbers for asking and for locking.
    private static let askCommand: Int32 = 36
    private static let lockCommand: Int32 = 37
    private static let writerByte: UInt64 = (1 << 62) - 1
    private static let readerBytes: UInt64 = 1 << 62
    /// More questions than there are readers in any reasonable program.
    private static let questionCountMax = 10_000

    func lockWriter() throws(StoreError) -> Bool {
        try lock(F_WRLCK, Self.writerByte) ?? true
    }

    func isLockedByWriter() throws(StoreError) -> Bool {
        try holder(of: Self.writerByte..<Self.writerByte + 1) != nil
    }

    func lockReader(of generation: UInt64) throws(StoreError) -> Bool {
        guard generation < Self.readerBytes else { return false }
        return try lock(F_RDLCK, Self.readerBytes + generation) ?? false
    }

    func unlockReader(of generation: UInt64) throws(StoreError) {
        guard generation < Self.readerBytes else { return }
        _ = try lock(F_UNLCK, Self.readerBytes + generation)
    }

    /// Gives all locks back, also where a child process holds a copy of the descriptor.
    func unlockAll() {
        var request = Self.request(F_UNLCK, 0..<0)
        // Safety: the call reads the request and keeps no pointer to it. A length of zero is
        // without end.
        _ = unsafe fcntl(data, Self.lockCommand, &request)
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
    private func lock(_ kind: Int32, _ byte: UInt64) throws(StoreError) -> Bool? {
        var request = Self.request(kind, byte..<byte + 1)
        // Safety: the call reads the request and keeps no pointer to it.
        if unsafe fcntl(data, Self.lockCommand, &request) == 0 { return true }
        if errno == EAGAIN || errno == EACCES { return false }
        if Self.isWithoutLocks(errno) { return nil }
        throw systemFailure("lock the file", path: path)
    }

    /// What of a range some other open file has locked: one such part, nil when there is none.
    private func holder(of range: Range<UInt64>) throws(StoreError) -> Range<UInt64>? {
        // The question who is in the way of a lock takes none.
        var request = Self.request(F_WRLCK, range)
        // Safety: the call fills the request in and keeps no pointer to it.
        guard unsafe fcntl(data, Self.askCommand, &request) == 0 else {
            if Self.isWithoutLocks(errno) { return nil }
            throw systemFailure("ask for locks of the file", path: path)
        }
        guard request.l_type != Int16(F_UNLCK) else { return nil }
        // A length of zero is without end.
        let start = UInt64(max(request.l_start, 0))
        let end = request.l_len > 0 ? start + UInt64(request.l_len) : .max
        let held = (start..<max(start, end)).clamped(to: range)
        return held.isEmpty ? range : held
    }

    private static func request(_ kind: Int32, _ range: Range<UInt64>) -> flock {
        var request = flock()
        request.l_type = Int16(kind)
        request.l_whence = Int16(SEEK_SET)
        request.l_start = off_t(range.lowerBound)
        request.l_len = off_t(range.count)
        return request
    }

    /// A file system without locks: there is nothing to wait for.
    private static func isWithoutLocks(_ number: Int32) -> Bool {
        number == ENOLCK || number == EINVAL || number == ENOTSUP
    }
}
