import PageStore
import Primitives
import TestSupport
import Testing

/// A writer that checkpoints while a reader is between reading the superblock and taking its lock:
/// the reader reads the superblock again and starts over.
@Suite struct MovedReaderTests {
    /// Commits and checkpoints in turn while the reader takes a step.
    private func commit(_ count: Int, _ shared: FollowTests.Shared, at files: SteppingFiles) {
        let (writer, ids) = (shared.writer, shared.ids)
        files.beforeLock {
            for _ in 0..<count {
                do {
                    let transaction = try writer.beginWrite()
                    let number = try writer.snapshot().commitNumber + 1
                    for id in ids { try transaction.editablePage(id).setUInt64(number, at: 100) }
                    _ = try transaction.commit()
                    try writer.checkpointNow()
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
    }

    @Test func `a reader that opens during checkpoints starts again`() throws {
        let files = SteppingFiles()
        let shared = try FollowTests.Shared(files: files)
        commit(10, shared, at: files)
        let reader = try shared.reader()
        #expect(files.isIdle)
        #expect(try shared.number(reader.snapshot()) == 11)
        #expect(reader.superblock.generation == shared.writer.superblock.generation)
    }

    @Test func `a reader that advances during checkpoints starts again`() throws {
        let files = SteppingFiles()
        let shared = try FollowTests.Shared(files: files)
        let reader = try shared.reader()
        let before = try reader.snapshot()
        for round in 1...5 as ClosedRange<UInt64> {
            try shared.commit(1, checkpoints: true)
            commit(6, shared, at: files)
            #expect(try reader.advance())
            #expect(files.isIdle)
            let snapshot = try reader.snapshot()
            #expect(try shared.number(snapshot) == 1 + 7 * round)
            // The writer keeps the pages of the reader's snapshot.
            for _ in 0..<3 { try shared.writer.checkpointNow() }
            #expect(try shared.number(snapshot) == 1 + 7 * round)
        }
        #expect(try shared.number(before) == 1)
    }
}

/// The machine's files; a step can run before a reader's lock is taken.
private final class SteppingFiles: ForwardingFileSystem {
    let base: any FileSystem = DiskFileSystem.shared
    private let step = Mutex<(@Sendable () -> Void)?>(nil)

    /// Runs once, before the next lock of a generation is taken.
    func beforeLock(_ step: @escaping @Sendable () -> Void) { self.step.withLock { $0 = step } }

    var isIdle: Bool { step.withLock { $0 == nil } }

    func takeStep() {
        let step = step.withLock { step in
            defer { step = nil }
            return step
        }
        step?()
    }

    func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        SteppingFile(try base.open(path, mode), self)
    }
}

private final class SteppingFile: ForwardingFile {
    let file: any StoreFile
    private let files: SteppingFiles

    init(_ file: any StoreFile, _ files: SteppingFiles) {
        self.file = file
        self.files = files
    }

    func lockReader(of generation: UInt64) throws(StoreError) -> Bool {
        files.takeStep()
        return try file.lockReader(of: generation)
    }

    func unlockReader(of generation: UInt64) throws(StoreError) {
        try file.unlockReader(of: generation)
    }

    func isLockedByWriter() throws(StoreError) -> Bool { try file.isLockedByWriter() }
    func nameCount() throws(StoreError) -> UInt64 { try file.nameCount() }

    func heldGenerations(before end: UInt64) throws(StoreError) -> [Range<UInt64>] {
        try file.heldGenerations(before: end)
    }
}
