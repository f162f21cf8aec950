import TestSupport
import Testing

@testable import PageStore

/// Wrong sizes with correct hashes, and logs that are larger than the piece read at a time.
@Suite struct LyingSizeTests {
    private static func options(segment: Int) -> Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 16_384
        options.unitSizeInBytes = 1024
        options.logSegmentSizeInBytes = segment
        options.checkpointsInBackground = false
        options.outOfLineBytesMin = .max
        return options
    }

    @Test func `a map deeper than the range of page IDs has no node beyond it`() throws {
        for fanout in [32, 256, 4096] {
            for level in 1...Limits.mapDepthMax {
                let parent = MapNode(level: level, firstID: 0, fanout: fanout)
                for index in [0, 1, fanout / 2, fanout - 1] {
                    parent.entries[index] = ExtentAddress(hash: 1, unit: 9, unitCount: 1)
                    let node = try #require(UnreadNode(below: parent, at: index))
                    #expect(node.ids.upperBound <= Limits.pageCountMax)
                    #expect(index > 0 || node.ids.lowerBound == 0)
                }
            }
        }
    }

    @Test func `a superblock with a log of more than a gigabyte is refused`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: .init(), files: files)
        var superblock = engine.superblock
        try engine.close()
        superblock.requiredLength = 1 << 40
        for (size, isFine) in [(1 << 30, true), ((1 << 30) + 4096, false), (1 << 36, false)] {
            superblock.head.sizeInBytes = UInt64(size)
            let bytes = superblock.encoded()
            let slot = Int(superblock.generation & 1)
            do throws(StoreError) {
                _ = try Superblock.decode(bytes.view, slot: slot)
                #expect(isFine, "\(size)")
            } catch {
                #expect(error.code == .corrupt && !isFine, "\(size)")
            }
        }
    }

    /// Commits random bytes until the log has this size; returns the offset of each commit's group.
    private func fill(_ files: FaultyFileSystem, _ byteCount: Int) throws -> [Int] {
        let options = Self.options(segment: 3 * byteCount)
        let engine = try Engine.open(path: "store", options: options, files: files)
        var random = SeededRandom(for: "LyingSizeTests")
        var pages: [PageID] = []
        while engine.statistics.logBytes < byteCount {
            let transaction = try engine.beginWrite()
            for index in 0..<20 {
                if pages.count <= index {
                    pages.append(try transaction.allocatePage(.overflow).id)
                }
                let page = try transaction.editablePage(pages[index])
                random.bytes(16_000).withView { page.copy($0, to: 300) }
            }
            _ = try transaction.commit()
        }
        return try engine.logFrames().filter { $0.type == .group }.map { Int($0.byteOffset) }
    }

    @Test func `a log is read in pieces and shows its last commit or its damage`() throws {
        let files = FaultyFileSystem()
        let groups = try fill(files, 10 << 20)
        #expect(groups.count > 20)
        let bytes = files.bytes
        let options = Self.options(segment: 30 << 20)
        let whole = try Engine.open(
            path: "store", options: options, files: FaultyFileSystem(bytes: bytes))
        #expect(try whole.snapshot().commitNumber == UInt64(groups.count))
        for index in [0, 3, groups.count / 2, groups.count - 2, groups.count - 1] {
            var damaged = bytes
            damaged[groups[index] + 5000] ^= 1
            do throws(StoreError) {
                let engine = try Engine.open(
                    path: "store", options: options, files: FaultyFileSystem(bytes: damaged))
                // Only the last group may be an incomplete write.
                #expect(index == groups.count - 1)
                #expect(try engine.snapshot().commitNumber == UInt64(index))
            } catch {
                #expect(error.code == .corrupt && index < groups.count - 1, "\(error)")
            }
        }
    }
}
