/// The sizes of a store's pages and of its allocation units, and the sizes derived from them.
struct Geometry: Hashable, Sendable {
    let pageSizeInBytes: Int
    let unitSizeInBytes: Int

    init(pageSizeInBytes: Int, unitSizeInBytes: Int) {
        self.pageSizeInBytes = pageSizeInBytes
        self.unitSizeInBytes = unitSizeInBytes
    }

    init(_ superblock: Superblock) {
        self.init(
            pageSizeInBytes: superblock.pageSizeInBytes,
            unitSizeInBytes: superblock.unitSizeInBytes)
    }

    /// How many addresses a node of the page map holds.
    var mapFanout: Int { pageSizeInBytes / ExtentAddress.size }

    // MARK: Units

    func byteOffset(ofUnit unit: UInt64) -> UInt64 { unit * UInt64(unitSizeInBytes) }
    func byteOffset(of address: ExtentAddress) -> UInt64 { byteOffset(ofUnit: address.unit) }
    func bytes(ofUnits count: UInt64) -> UInt64 { count * UInt64(unitSizeInBytes) }

    /// The units of a part of the file that begins and ends with one.
    func units(from byteOffset: UInt64, count byteCount: UInt64) -> Range<UInt64> {
        let first = byteOffset / UInt64(unitSizeInBytes)
        return first..<(first + byteCount / UInt64(unitSizeInBytes))
    }

    /// How many units hold so many bytes.
    func unitCount(holding byteCount: Int) -> Int {
        (byteCount + unitSizeInBytes - 1) / unitSizeInBytes
    }

    /// The units of the two superblocks.
    var superblockUnits: Range<UInt64> { units(from: 0, count: UInt64(2 * SuperblockLayout.size)) }

    /// How many units the saved bitmap of a zone takes.
    var zoneUnitCount: Int { unitCount(holding: ExtentLayout.size + pageSizeInBytes) }
}
