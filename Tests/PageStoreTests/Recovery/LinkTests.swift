import TestSupport
import Testing

@testable import PageStore

/// A LINK that contradicts its segment although every hash is right, which no accident produces.
@Suite struct LinkTests {
    /// A store whose log continues in a second segment.
    private struct Log {
        var bytes: [UInt8]
        let uuid: StoreUUID
        let commit: UInt64
        let first: LogSegment
        private let frames: [LogFrame]
        private let link: Int

        init() throws {
            let files = FaultyFileSystem()
            let engine = try Engine.open(path: "store", options: .small, files: files)
            var random = SeededRandom(for: "LinkTests")
            var frames: [LogFrame] = []
            let second = engine.superblock.head.number + 1
            // Some commits past the LINK.
            while frames.count(where: { $0.segmentNumber == second }) < 9 {
                let transaction = try engine.beginWrite()
                let page =
                    try transaction.catalogRoot.map { try transaction.editablePage($0) }
                    ?? transaction.allocatePage(.overflow)
                random.bytes(800).withView { page.copy($0, to: 100) }
                transaction.catalogRoot = page.id
                _ = try transaction.commit()
                frames = try engine.logFrames()
            }
            bytes = files.bytes
            uuid = engine.uuid
            commit = try engine.snapshot().commitNumber
            first = engine.superblock.head
            link = try #require(frames.firstIndex { $0.type == .link })
            self.frames = frames
        }

        private func number(at offset: Int) -> UInt64 { bytes.withView { $0.uint64(at: offset) } }

        private mutating func set(_ number: UInt64, at offset: Int) {
            for index in 0..<8 {
                bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
            }
        }

        /// The segment that the LINK names.
        var target: LogSegment {
            let start = Int(frames[link].byteOffset)
            return LogSegment(
                byteOffset: number(at: start + FrameLayout.linkOffset),
                sizeInBytes: number(at: start + FrameLayout.linkLength),
                number: number(at: start + FrameLayout.linkNumber),
                salt: StoreUUID(
                    low: number(at: start + FrameLayout.linkSalt),
                    high: number(at: start + FrameLayout.linkSalt + 8)))
        }

        /// Makes the LINK name another segment and corrects each hash after it.
        mutating func setTarget(_ segment: LogSegment) {
            let frame = frames[link]
            let start = Int(frame.byteOffset)
            set(segment.byteOffset, at: start + FrameLayout.linkOffset)
            set(segment.sizeInBytes, at: start + FrameLayout.linkLength)
            set(segment.number, at: start + FrameLayout.linkNumber)
            _ = seal(frame, chain: number(at: Int(frames[link - 1].byteOffset)))
            var chain = segment.chainStart(uuid)
            for frame in frames where frame.segmentNumber > first.number {
                chain = seal(frame, chain: chain)
            }
        }

        private mutating func seal(_ frame: LogFrame, chain: UInt64) -> UInt64 {
            let start = Int(frame.byteOffset)
            let hash = Array(bytes[(start + 8)..<(start + frame.length)])
                .withView { Checksum.hash($0, seed: chain) }
            set(hash, at: start)
            return hash
        }

        /// Renumbers commits and segments in the log and the superblocks, starting at later
        /// numbers.
        mutating func shift(commits: UInt64, segments: UInt64) throws {
            var chain: UInt64 = 0
            var (segment, current) = (first, UInt64(0))
            for frame in frames {
                if frame.segmentNumber != current {
                    if current > 0 { segment = target } else { segment.number += segments }
                    current = frame.segmentNumber
                    chain = segment.chainStart(uuid)
                }
                let start = Int(frame.byteOffset)
                switch frame.type {
                case .commit:
                    let offset = start + FrameLayout.commitNumber
                    set(number(at: offset) + commits, at: offset)
                case .link:
                    let offset = start + FrameLayout.linkNumber
                    set(number(at: offset) + segments, at: offset)
                default: break
                }
                chain = seal(frame, chain: chain)
            }
            let size = SuperblockLayout.size
            for slot in 0..<2 {
                let range = slot * size..<(slot + 1) * size
                var superblock = try Array(bytes[range]).withView { view throws(StoreError) in
                    try Superblock.decode(view, slot: slot)
                }
                superblock.commitNumber += commits
                superblock.head.number += segments
                let encoded = superblock.encoded()
                bytes.replaceSubrange(range, with: encoded.view.array())
                withExtendedLifetime(encoded) {}
            }
        }

        /// The commit that a reader shows.
        func shownCommit() throws -> UInt64 {
            var options = Engine.Options.small
            options.mode = .reading
            let reader = try Engine.open(
                path: "store", options: options, files: FaultyFileSystem(bytes: bytes))
            return try reader.snapshot().commitNumber
        }
    }

    private func expectRefused(_ log: Log) {
        let error = #expect(throws: StoreError.self) { try log.shownCommit() }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("leads astray") == true)
        #expect(error?.byteOffset != nil)
    }

    @Test func `a valid LINK with recomputed hashes is followed`() throws {
        var log = try Log()
        log.setTarget(log.target)
        #expect(try log.shownCommit() == log.commit)
    }

    @Test(arguments: [0, 1, 3, UInt64.max - 1])
    func `a LINK to a segment of another number is refused`(more: UInt64) throws {
        var log = try Log()
        var target = log.target
        target.number = log.first.number &+ 1 &+ (more == 0 ? UInt64.max : more)
        log.setTarget(target)
        expectRefused(log)
    }

    @Test func `a LINK into a segment of the log is refused`() throws {
        let log = try Log()
        let block = UInt64(Limits.blockSizeInBytes)
        for (start, size) in [
            (log.first.byteOffset, log.first.sizeInBytes),
            (log.first.byteOffset + block, block),
            (log.first.byteOffset + log.first.sizeInBytes - block, block),
        ] {
            var changed = log
            var target = log.target
            target.byteOffset = start
            target.sizeInBytes = size
            changed.setTarget(target)
            expectRefused(changed)
        }
    }

    @Test func `a log that counts commits past their end is damaged`() throws {
        var log = try Log()
        var last = log
        try last.shift(commits: Limits.numberMax - log.commit, segments: 0)
        #expect(try last.shownCommit() == Limits.numberMax)
        try log.shift(commits: Limits.numberMax - log.commit + 1, segments: 0)
        let error = #expect(throws: StoreError.self) { try log.shownCommit() }
        #expect(error?.code == .corrupt)
        #expect(error?.byteOffset != nil)
    }

    @Test func `a log that counts segments past their end is damaged`() throws {
        var log = try Log()
        var last = log
        let number = log.first.number + 1
        try last.shift(commits: 0, segments: Limits.numberMax - number)
        #expect(try last.shownCommit() == log.commit)
        try log.shift(commits: 0, segments: Limits.numberMax - number + 1)
        expectRefused(log)
    }
}
