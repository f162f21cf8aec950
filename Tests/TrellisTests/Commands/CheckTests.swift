import Foundation
import RecordStore
import Testing

@testable import PageStore

/// Findings of `trellis check` in files whose checksums are right and whose content is wrong.
@Suite struct CheckTests {
    struct Lie: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var tell: @Sendable (WriteTransaction, (String) throws -> TreeID) throws -> Void
        /// The texts that the findings must contain, each in a separate one.
        var said: [String]
    }

    static let lies: [Lie] = [
        Lie(
            testDescription: "an index lacks an entry",
            tell: { transaction, tree in
                let index = try tree("index/Player/age")
                let cursor = Cursor(transaction, tree: index)
                #expect(try cursor.seekFirst())
                let key = cursor.key.array()
                try transaction.remove(key.span, from: index)
            }, said: ["index/Player/age lacks the entry of object 1"]),
        Lie(
            testDescription: "an index has entries without a matching object",
            tell: { transaction, tree in
                let index = try tree("index/Player/age")
                let columns: [UInt8] = [1, 0x80, 0, 0, 0, 0, 0, 0, 21]
                for number in [UInt64(77), 2] {
                    let key = columns + LinkedStore.key(number)
                    try transaction.insert(key.span, [UInt8]().span, into: index)
                }
            },
            said: [
                "index/Player/age names object 77, which is not there",
                "index/Player/age names object 2 under columns that are not its own",
            ]),
        Lie(
            testDescription: "a tree of a migration exists without a migration",
            tell: { transaction, _ in
                let catalog = TreeID(root: try #require(transaction.catalogRoot))
                let root = try transaction.createTree().root.encoded()
                _ = try transaction.insert(
                    Array("old/blobs".utf8).span, root.span, into: catalog)
            }, said: ["old/blobs is there without its migration"]),
        Lie(
            testDescription: "a migration is in an unknown phase",
            tell: { transaction, _ in
                let catalog = TreeID(root: try #require(transaction.catalogRoot))
                let state: [UInt8] = [1, 0, 9, 0] + [UInt8](repeating: 0, count: 44)
                _ = try transaction.insert(
                    Array("migration".utf8).span, state.span, into: catalog)
            }, said: ["the catalog's entry migration has phase 9"]),
        Lie(
            testDescription: "the tree of a to-one lacks a link and has another",
            tell: { transaction, tree in
                let links = try tree("links/Player/team")
                try transaction.remove(LinkedStore.key(1, 2).span, from: links)
                try transaction.insert(LinkedStore.key(2, 4).span, [UInt8]().span, into: links)
            },
            said: [
                "the links lack Player.team of object 2",
                "Player.team has a link from object 4 to object 2, which its record does not say",
                "Player.team lacks the link between objects 1 and 2 that its inverse Team.players",
                "Team.players lacks the link between objects 2 and 4 that its inverse Player.team",
            ]),
        Lie(
            testDescription: "a link refers to objects that do not exist",
            tell: { transaction, tree in
                try transaction.insert(
                    LinkedStore.key(1, 99).span, [UInt8]().span, into: tree("links/Player/clubs"))
                try transaction.insert(
                    LinkedStore.key(98, 1 << 32).span, LinkedStore.key(1).span,
                    into: tree("links/Club/members"))
            },
            said: [
                "Player.clubs has a link of object 99, which is not there",
                "Club.members has a link of object 98, which is not there",
            ]),
        Lie(
            testDescription: "one direction of a many-to-many lacks a link",
            tell: { transaction, tree in
                try transaction.remove(
                    LinkedStore.key(3, 1).span, from: tree("links/Player/clubs"))
            },
            said: [
                "Player.clubs lacks the link between objects 3 and 1 that its inverse Club.members"
            ]),
        Lie(
            testDescription: "an ordered list has one object twice",
            tell: { transaction, tree in
                try transaction.insert(
                    LinkedStore.key(1, 9 << 32).span, LinkedStore.key(3).span,
                    into: tree("links/Club/members"))
            }, said: ["Club.members of 1 has object 3 twice"]),
        Lie(
            testDescription: "an unordered link has a value",
            tell: { transaction, tree in
                try transaction.insert(
                    LinkedStore.key(3, 1).span, [UInt8]([1]).span, into: tree("links/Player/clubs"))
            }, said: ["a link of clubs has a value"]),
        Lie(
            testDescription: "two names lead to one tree",
            tell: { transaction, tree in
                try transaction.insert(
                    Array("tree/links/Club/members".utf8).span,
                    LinkedStore.little(tree("links/Player/clubs").root).span,
                    into: tree("catalog"))
            }, said: ["two names lead to one root", "the catalog does not know this tree"]),
        Lie(
            testDescription: "a commit names no catalog",
            tell: { transaction, _ in transaction.catalogRoot = nil },
            said: ["names no catalog"]),
        Lie(
            testDescription: "the schema is of a later version",
            tell: { transaction, tree in
                try transaction.insert(
                    Array("schema".utf8).span, Array(#"{"formatVersion": 2}"#.utf8).span,
                    into: tree("catalog"))
            }, said: ["the saved schema has version 2; this program knows 1"]),
    ]

    private func findings(_ path: String) throws -> [[String: Any]] {
        let outcome = try Tool.run("check", path, "--json")
        let members = try #require(try outcome.json() as? [String: Any])
        let findings = try #require(members["findings"] as? [[String: Any]])
        #expect(outcome.exitCode == (findings.isEmpty ? 0 : 1))
        return findings
    }

    private func messages(_ path: String) throws -> [String] {
        try findings(path).compactMap { $0["message"] as? String }
    }

    @Test func `check finds nothing in a store with every kind of relationship`() throws {
        let store = try LinkedStore()
        #expect(try messages(store.path) == [])
    }

    @Test(arguments: lies)
    func `a false claim in a file is reported by check`(_ lie: Lie) throws {
        let store = try LinkedStore()
        try store.lie(lie.tell)
        let messages = try messages(store.path)
        for said in lie.said {
            #expect(messages.contains { $0.contains(said) }, "\(messages)")
        }
    }

    @Test func `two objects with equal values of a unique constraint are reported`() throws {
        let store = try LinkedStore()
        let database = try RecordDatabase.open(.file(store.path), schema: LinkedStore.schema)
        let player = try #require(database.schema.entity(named: "Player"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        // The keys of the long ones are equal, and the first two of them are not.
        let long = String(repeating: "long ", count: 2_000)
        let names = ["player 3", "another", "another", long + "1", long + "2", long + "1"]
        for name in names {
            var row = player.emptyRow()
            defer { row.deallocate() }
            row.setValue(.string(name), try #require(player.field(named: "name")))
            batch.insert(player, try transaction.allocateNumber(in: player.hierarchy), row: row)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        #expect(
            try messages(store.path) == [
                "unique/Player/name: objects 12 and 13 have the same values",
                "unique/Player/name: objects 14 and 16 have the same values",
                "unique/Player/name: objects 3 and 11 have the same values",
            ])
    }

    @Test func `a schema of a later version is refused with its code`() throws {
        let store = try LinkedStore()
        try store.lie { transaction, tree in
            try transaction.insert(
                Array("schema".utf8).span, Array(#"{"formatVersion": 2}"#.utf8).span,
                into: tree("catalog"))
        }
        for isReadOnly in [true, false] {
            let error = #expect(throws: StoreError.self) {
                isReadOnly
                    ? try RecordDatabase.openReadOnly(path: store.path)
                    : try RecordDatabase.open(.file(store.path), schema: LinkedStore.schema)
            }
            #expect(error?.code == .newerFormat)
        }
    }

    /// A bug: its objects stayed in unreachable pages, below an empty catalog.
    @Test func `a file whose superblock lost the catalog was opened as a new one`() throws {
        let store = try LinkedStore()
        let engine = try Engine.open(path: store.path)
        try engine.checkpointNow()
        try engine.close()
        let url = URL(fileURLWithPath: store.path)
        var bytes = try [UInt8](Data(contentsOf: url))
        for start in [0, Limits.blockSizeInBytes] {
            let end = start + Limits.blockSizeInBytes - 8
            let root = start + SuperblockLayout.catalogRoot
            bytes.replaceSubrange(root..<(root + 8), with: repeatElement(0, count: 8))
            let hash = Array(bytes[start..<end]).withView { Checksum.hash($0, seed: 0) }
            withUnsafeBytes(of: hash.littleEndian) { sum in
                bytes.replaceSubrange(end..<(end + 8), with: sum)
            }
        }
        try Data(bytes).write(to: url)
        #expect(try messages(store.path).contains { $0.contains("names no catalog") })
        for isReadOnly in [true, false] {
            let error = #expect(throws: StoreError.self) {
                isReadOnly
                    ? try RecordDatabase.openReadOnly(path: store.path)
                    : try RecordDatabase.open(.file(store.path), schema: LinkedStore.schema)
            }
            #expect(error?.code == .corrupt)
            #expect(error?.path == store.path)
        }
        #expect(try [UInt8](Data(contentsOf: url)) == bytes)
    }

    // MARK: The allocation state

    /// Changes the allocation state and saves it.
    private func lieAboutSpace(
        _ store: LinkedStore, _ body: (inout SpaceMap) throws -> Void
    ) throws {
        let engine = try Engine.open(path: store.path)
        try engine.checkpointNow()
        try engine.parts.space.withSpace { try body(&$0) }
        try engine.checkpointNow()
        try engine.close()
    }

    @Test func `space that nothing uses is reported`() throws {
        let store = try LinkedStore()
        var unit: UInt64 = 0
        try lieAboutSpace(store) { unit = try $0.allocate(3, isRecent: false) }
        let findings = try findings(store.path)
        #expect(findings.count == 1)
        #expect(findings.first?["byteOffset"] as? UInt64 == unit * 1024)
        #expect(
            findings.first?["message"] as? String
                == "3072 bytes: marked as used, and nothing uses it")
    }

    @Test func `a page in free space is reported`() throws {
        let store = try LinkedStore()
        let pages = try #require(
            try Tool.run("pages", store.path, "--json").json() as? [[String: Any]])
        let place = try #require(pages.compactMap { $0["byteOffset"] as? UInt64 }.max())
        try lieAboutSpace(store) { $0.free(place / 1024, 1) }
        let findings = try findings(store.path)
        #expect(
            findings.contains {
                $0["byteOffset"] as? UInt64 == place
                    && $0["message"] as? String == "1024 bytes: in use and marked as free"
            }, "\(findings)")
    }

    @Test func `space that is both in use and pending is reported`() throws {
        let store = try LinkedStore()
        let pages = try #require(
            try Tool.run("pages", store.path, "--json").json() as? [[String: Any]])
        let place = try #require(pages.compactMap { $0["byteOffset"] as? UInt64 }.max())
        try lieAboutSpace(store) {
            let space = PendingSpace(unit: place / 1024, unitCount: 1, born: 1, died: 1 << 40)
            $0.retire([space, space])
        }
        let messages = try messages(store.path)
        #expect(messages.contains("1024 bytes: in use and waiting to be used again"))
        #expect(messages.contains("the place waits twice to be used again"))
    }

    @Test func `a used page whose ID is marked as free is reported`() throws {
        let store = try LinkedStore()
        let engine = try Engine.open(path: store.path)
        try engine.checkpointNow()
        engine.parts.writer.withState { $0.freeIDs.insert(PageID(2)) }
        try engine.checkpointNow()
        try engine.close()
        let findings = try findings(store.path)
        #expect(findings.count == 1)
        #expect(findings.first?["page"] as? Int == 2)
        #expect(
            findings.first?["message"] as? String
                == "the page exists and its name is marked as free")
    }
}

extension LinkedStore {
    static func little(_ page: PageID) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: page.rawValue >> UInt64(8 * $0)) }
    }
}
