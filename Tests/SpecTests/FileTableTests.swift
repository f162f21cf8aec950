import Foundation
import PageStore
import Testing

/// Chapters 1 to 3 of the specification and the constants say the same.
@Suite struct FileTableTests {
    private func rows(_ chapter: String, _ title: String) throws -> [String: Int] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "spec/\(chapter)"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "Table: \(title)"))
        var rows: [String: Int] = [:]
        for line in lines[(start + 2)...].prefix(while: { !$0.isEmpty }) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count > 4, let offset = Int(cells[1]) else { continue }
            rows[cells[3]] = offset
        }
        return rows
    }

    private func compare(
        _ chapter: String, _ title: String, _ constants: [String: Int]
    ) throws {
        var rows = try rows(chapter, title)
        if constants["reserved"] == nil { rows["reserved"] = nil }
        #expect(rows == constants, "\(title)")
    }

    /// Names and numbers of the table of limits.
    private func limits() throws -> [String: UInt64] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "spec/08-limits.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").compactMap { line -> (String, UInt64)? in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3 else { return nil }
            return UInt64(cells[1].filter { $0 != "," }).map { (cells[0], $0) }
        }
        return Dictionary(rows) { first, _ in first }
    }

    @Test func `limits match the specification's table`() throws {
        #expect(
            try limits() == [
                "pageSizeInBytesMin": UInt64(Limits.pageSizeInBytesMin),
                "pageSizeInBytesMax": UInt64(Limits.pageSizeInBytesMax),
                "unitSizeInBytesMin": UInt64(Limits.unitSizeInBytesMin),
                "unitSizeInBytesMax": UInt64(Limits.unitSizeInBytesMax),
                "chunkSizeInBytesMax": UInt64(Limits.chunkSizeInBytesMax),
                "compressedBytesMax": UInt64(Limits.compressedBytesMax),
                "treeDepthMax": UInt64(Limits.treeDepthMax),
                "mapDepthMax": UInt64(Limits.mapDepthMax),
                "frameSizeInBytesMax": UInt64(Limits.frameSizeInBytesMax),
                "walSegmentSizeInBytesMin": UInt64(Limits.walSegmentSizeInBytesMin),
                "walSegmentSizeInBytesMax": Limits.walSegmentSizeInBytesMax,
                "zoneCountMax": Limits.zoneCountMax,
                "pageCountMax": Limits.pageCountMax,
                "numberMax": Limits.numberMax,
                "sessionCountMax": UInt64(Limits.sessionCountMax),
                "blockSizeInBytes": UInt64(Limits.blockSizeInBytes),
                "sectorSizeInBytes": UInt64(Limits.sectorSizeInBytes),
            ])
    }

    @Test func `the superblock matches the specification's table`() throws {
        typealias Layout = SuperblockLayout
        try compare(
            "01-file.md", "superblock",
            [
                "magic": Layout.magic, "formatVersion": Layout.formatVersion,
                "pageSize": Layout.pageSize, "generation": Layout.generation,
                "uuid": Layout.uuid, "unitSize": Layout.unitSize, "mapDepth": Layout.mapDepth,
                "featuresCompatible": Layout.featuresCompatible,
                "featuresReadOnly": Layout.featuresReadOnly,
                "featuresIncompatible": Layout.featuresIncompatible,
                "commitNumber": Layout.commitNumber, "commitTime": Layout.commitTime,
                "pageCount": Layout.pageCount, "catalogRoot": Layout.catalogRoot,
                "mapRoot": Layout.mapRoot, "allocationRoot": Layout.allocationRoot,
                "headOffset": Layout.headOffset, "headLength": Layout.headLength,
                "headNumber": Layout.headNumber, "headSalt": Layout.headSalt,
                "requiredLength": Layout.requiredLength, "lineage": Layout.lineage,
                "originLineage": Layout.originLineage, "originCommit": Layout.originCommit,
                "originMark": Layout.originMark, "sessionCount": Layout.sessionCount,
                "sessions": Layout.sessions,
                "hash": Layout.hash,
            ])
    }

    @Test func `sessions match the specification's table`() throws {
        typealias Layout = SuperblockLayout
        try compare(
            "01-file.md", "session",
            ["sessionBase": Layout.sessionBase, "sessionMark": Layout.sessionMark])
        #expect(Layout.sessions + Limits.sessionCountMax * Layout.sessionSize == 4064)
    }

    @Test func `extents and the allocation state match the specification's tables`() throws {
        typealias Layout = ExtentLayout
        try compare(
            "02-pages.md", "extent header",
            [
                "hash": Layout.hash, "pageID": Layout.pageID, "generation": Layout.generation,
                "commit": Layout.commit, "storedLength": Layout.storedLength,
                "rawLength": Layout.rawLength, "flags": Layout.flags, "kind": Layout.kind,
                "uuidPart": Layout.uuidPart,
            ])
        try compare(
            "02-pages.md", "allocation block",
            [
                "blockNext": AllocationLayout.blockNext,
                "blockStream": AllocationLayout.blockStream,
            ])
        try compare(
            "02-pages.md", "allocation stream",
            [
                "unitCount": AllocationLayout.unitCount, "zoneCount": AllocationLayout.zoneCount,
                "pendingCount": AllocationLayout.pendingCount,
                "freeRunCount": AllocationLayout.freeRunCount, "zones": AllocationLayout.zones,
            ])
    }

    @Test func `log frames match the specification's tables`() throws {
        typealias Layout = FrameLayout
        try compare(
            "03-wal.md", "frame header",
            [
                "hash": Layout.hash, "length": Layout.length, "type": Layout.type,
                "flags": Layout.flags, "reserved": Layout.reserved,
            ])
        try compare(
            "03-wal.md", "FULL and DELTA",
            [
                "pageID": Layout.pageID, "imageHash": Layout.imageHash,
                "rawLength": Layout.rawLength, "storedLength": Layout.storedLength,
                "payload": Layout.payload,
            ])
        try compare(
            "03-wal.md", "EXTENT",
            [
                "pageID": Layout.pageID, "extentHash": Layout.extentHash,
                "extentPlace": Layout.extentPlace,
            ])
        try compare(
            "03-wal.md", "FREE", ["freeCount": Layout.freeCount, "freeIDs": Layout.freeIDs])
        try compare(
            "03-wal.md", "COMMIT",
            [
                "commitNumber": Layout.commitNumber, "commitPageCount": Layout.commitPageCount,
                "commitCatalogRoot": Layout.commitCatalogRoot, "commitTime": Layout.commitTime,
            ])
        try compare(
            "03-wal.md", "GROUP",
            [
                "groupSalt": Layout.groupSalt, "groupNumber": Layout.groupNumber,
                "groupDurableCommit": Layout.groupDurableCommit, "groupHash": Layout.groupHash,
            ])
        try compare(
            "03-wal.md", "LINK",
            [
                "linkOffset": Layout.linkOffset, "linkLength": Layout.linkLength,
                "linkNumber": Layout.linkNumber, "linkSalt": Layout.linkSalt,
            ])
    }
}
