import PageStore
import TestSupport
import Testing

@Suite struct SuperblockTests {
    private static let sample: Superblock? = {
        var superblock = try? Engine.inMemory().superblock
        superblock?.generation = 7
        superblock?.catalogRoot = 1
        superblock?.mapRoot = ExtentAddress(hash: 12, unit: 13, unitCount: 2)
        return superblock
    }()

    @Test func `a superblock reads back as it was written`() throws {
        let superblock = try #require(Self.sample)
        let bytes = superblock.encoded()
        #expect(try Superblock.decode(bytes.view, slot: 1) == superblock)
    }

    @Test func `a superblock in the other slot is refused`() throws {
        let bytes = try #require(Self.sample).encoded()
        let error = #expect(throws: StoreError.self) {
            try Superblock.decode(bytes.view, slot: 0)
        }
        #expect(error?.code == .corrupt)
    }

    @Test(arguments: 0..<4096)
    func `a superblock cut short or with a flipped bit is refused`(count: Int) throws {
        let encoded = try #require(Self.sample).encoded()
        let bytes = encoded.view.array()
        let cut = Array(bytes[..<count])
        #expect(throws: StoreError.self) {
            try cut.withView { view throws(StoreError) in try Superblock.decode(view, slot: 1) }
        }
        var flipped = bytes
        flipped[count] ^= UInt8(1 << (count % 8))
        #expect(throws: StoreError.self) {
            try flipped.withView { view throws(StoreError) in
                try Superblock.decode(view, slot: 1)
            }
        }
    }
}
