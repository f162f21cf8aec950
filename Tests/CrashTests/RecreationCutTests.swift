import PageStore
import Proof
import RecordStore
import SampleSchemas
import Testing

/// A new store that replaces a file of another schema: whenever that is cut or fails, the path
/// leads to the old store or to the new one.
@Suite struct RecreationCutTests {
    private static func schema(_ type: AttributeType) -> SchemaDescription {
        SchemaDescription([EntityDescription("Pot", optional: ["value": type])])
    }

    private static let (old, new) = (schema(.int64), schema(.string))
    private static let objectCount = 3

    private func storeOfOld() throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        let database = try RecordDatabase.open(
            .file("store"), schema: Self.old, options: CrashProof.options, files: disk)
        let pot = try #require(database.schema.entity(named: "Pot"))
        let field = try #require(pot.field(named: "value"))
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for _ in 0..<Self.objectCount {
            var row = pot.emptyRow()
            defer { row.deallocate() }
            row.setValue(.int(1), field)
            batch.insert(pot, try transaction.allocateNumber(in: pot.hierarchy), row: row)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
        return disk.image
    }

    /// The schema of a file, after comparing its whole content.
    private func found(_ image: DiskImage) throws -> SchemaDescription {
        let disk = SimulatedDisk(image, seed: 7)
        let database = try RecordDatabase.openReadOnly(
            path: "store", options: CrashProof.options, files: disk)
        defer { try? database.close() }
        let pot = try #require(database.schema.entity(named: "Pot"))
        let count = try database.snapshot().recordCount(of: pot)
        let found = database.schema.description
        #expect(count == (found == Self.old ? Self.objectCount : 0))
        return found
    }

    private func recreate(_ files: any FileSystem) throws(StoreError) {
        try RecordDatabase.open(
            .file("store"), schema: Self.new, options: CrashProof.options, files: files,
            recreatesOnMismatch: true
        ).close()
    }

    @Test func `each power cut leaves the old store or the new one, and a retry succeeds`()
        throws
    {
        let start = try storeOfOld()
        let disk = SimulatedDisk(start, seed: 2, records: true)
        try recreate(disk)
        var medium = PowerCut(start, seed: 3)
        var seen: Set<String> = []
        for effect in disk.effects {
            try medium.forEachImage(running: effect) { image in
                let description = try found(image.disk)
                #expect(description == Self.old || description == Self.new, "\(image.name)")
                seen.insert(description == Self.old ? "old" : "new")
                // Nothing that is left keeps the next try from succeeding.
                guard image.name == "none" else { return }
                let next = SimulatedDisk(image.disk, seed: 4)
                try recreate(next)
                #expect(try found(next.image) == Self.new)
                #expect(next.image.names.keys.sorted() == ["store"] || description == Self.new)
            }
            medium.complete(effect)
        }
        #expect(seen == ["old", "new"])
        #expect(try found(medium.visible) == Self.new)
    }

    @Test(arguments: [FaultKind.error, .diskFull, .errorAfter, .forgottenSync], [false, true])
    func `a failure leaves the old store with all it holds until the new one has its name`(
        kind: FaultKind, goesOn: Bool
    ) throws {
        let start = try storeOfOld()
        var failureCount = 0
        for call in 1... {
            let disk = SimulatedDisk(start, seed: 2)
            let faults = FaultInjector(
                disk, FaultInjector.Fault(call: call, kind: kind, goesOn: goesOn))
            do throws(StoreError) {
                try recreate(faults)
            } catch {
                failureCount += 1
                let isReplaced = disk.image.names["store"] != start.names["store"]
                #expect(try found(disk.image) == (isReplaced ? Self.new : Self.old), "\(call)")
            }
            guard faults.changeCount >= call else { break }
        }
        #expect(failureCount > 5)
    }

    @Test func `a damaged or later schema is not taken for another one`() throws {
        for text in ["{", "{\"formatVersion\": 2}"] {
            let disk = SimulatedDisk(seed: 5)
            let engine = try Engine.open(
                path: "store", options: CrashProof.options, files: disk)
            let editor = try engine.beginWrite()
            let root = try editor.createTree()
            let counters = try editor.createTree()
            let number = (0..<8).map {
                UInt8(truncatingIfNeeded: counters.root.rawValue >> ($0 * 8))
            }
            _ = try editor.insert(Array("counters".utf8).span, number.span, into: root)
            _ = try editor.insert(Array("schema".utf8).span, Array(text.utf8).span, into: root)
            editor.catalogRoot = root.root
            _ = try editor.commit()
            try engine.close()
            let before = disk.image.names
            let error = #expect(throws: StoreError.self) { try recreate(disk) }
            #expect(error?.code == (text == "{" ? .corrupt : .newerFormat))
            #expect(disk.image.names == before)
        }
    }
}
