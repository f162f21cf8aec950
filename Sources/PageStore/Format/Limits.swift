/// Every limit of the format: spec/08-limits.md, with its reasons.
package enum Limits {
    package static let pageSizeInBytesMin = 512
    package static let pageSizeInBytesMax = 65_536
    package static let unitSizeInBytesMin = 64
    package static let unitSizeInBytesMax = 4096
    /// An out-of-line page, such as a chunk of a blob.
    package static let chunkSizeInBytesMax = 1 << 20
    /// The largest input of one LZ4 call.
    package static let compressedBytesMax = 1 << 21
    package static let treeDepthMax = 24
    package static let mapDepthMax = 12
    /// The longest log frame: one chunk-sized image and its header.
    package static let frameSizeInBytesMax = (1 << 21) + 64
    package static let walSegmentSizeInBytesMin = 16_384
    /// Bounds what a log that lies makes a reader look through.
    package static let walSegmentSizeInBytesMax: UInt64 = 1 << 30
    /// Zones of the allocation state: bounds what a state that lies makes a reader keep.
    package static let zoneCountMax: UInt64 = 1 << 22
    package static let pageCountMax: UInt64 = 1 << 48
    /// Generations, commits and segments are counted up to this.
    package static let numberMax: UInt64 = 1 << 60
    /// Sessions of writers that a superblock has room for.
    package static let sessionCountMax = 240
    package static let blockSizeInBytes = 4096
    package static let sectorSizeInBytes = 512

    /// The longest key: four keys and their slots fit one branch page.
    @inlinable
    package static func keySizeInBytesMax(pageSizeInBytes: Int) -> Int {
        min((pageSizeInBytes - 128) / 6, 4096)
    }

    /// The largest value that stays in its leaf; a larger one moves to overflow pages.
    @inlinable
    package static func inlineValueSizeInBytesMax(pageSizeInBytes: Int) -> Int {
        (pageSizeInBytes - 128) / 4
    }
}
