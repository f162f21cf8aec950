import TestSupport
import Testing

@testable import DiskProof

/// The rules by which the disk proof decides what a power cut may leave.
@Suite struct DiskFileTests {
    private func block(_ byte: UInt8, _ count: Int = 512) -> ArraySlice<UInt8> {
        [UInt8](repeating: byte, count: count)[...]
    }

    /// All images that a power cut can leave of a file.
    private func images(_ file: DiskFile) -> Set<[UInt8]> {
        var random = SeededRandom(seed: 1)
        var found: Set<[UInt8]> = [file.bytes(.none, &random), file.bytes(.all, &random)]
        for _ in 0..<400 { found.insert(file.bytes(.sectors(1 + random.below(7)), &random)) }
        return found
    }

    @Test func `a write that was not synchronised may be lost sector by sector`() {
        var file = DiskFile([UInt8](repeating: 0, count: 1024))
        file.write(block(1, 1024), at: 0, time: 1)
        let expected: Set<[UInt8]> = Set(
            [0, 1].flatMap { first in
                [0, 1].map { Array(block(first) + block($0)) }
            })
        #expect(images(file) == expected)
        file.sync()
        #expect(images(file) == [Array(block(1, 1024))])
    }

    @Test func `a durable write keeps its own sectors and what is needed to read them`() {
        var file = DiskFile([UInt8](repeating: 0, count: 512))
        file.write(block(1), at: 0, time: 1)
        file.write(block(2), at: 512, time: 2)
        file.settle(512, at: 512)
        #expect(images(file) == [Array(block(0) + block(2)), Array(block(1) + block(2))])
    }

    @Test func `a file that grew may be longer without its bytes`() {
        var file = DiskFile()
        file.write(block(1), at: 0, time: 1)
        #expect(images(file) == [[], Array(block(0)), Array(block(1))])
    }

    @Test func `a sync after a failed one promises nothing of what was written before`() {
        var file = DiskFile([UInt8](repeating: 0, count: 1024))
        file.write(block(1), at: 0, time: 1)
        file.failSync(time: 2)
        file.write(block(2), at: 512, time: 3)
        file.sync()
        #expect(images(file) == [Array(block(0) + block(2)), Array(block(1) + block(2))])
        // A later write is uncertain again.
        file.write(block(1), at: 0, time: 4)
        file.sync()
        #expect(images(file) == [Array(block(1) + block(2))])
    }

    @Test func `bytes that were truncated do not reappear after a later write`() {
        var file = DiskFile(Array(block(1, 1024)))
        file.truncate(to: 512, time: 1)
        file.write(block(2), at: 512, time: 2)
        #expect(
            images(file) == [
                Array(block(1, 1024)), Array(block(1)), Array(block(1) + block(0)),
                Array(block(1) + block(2)),
            ])
        file.sync()
        #expect(images(file) == [Array(block(1) + block(2))])
    }
}
