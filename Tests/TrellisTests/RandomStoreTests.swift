import Foundation
import PageStore
import RecordStore
import TestSupport
import Testing

/// Stores with a random past that the engine writes, for readers of the specification.
/// `TRELLIS_MAKE_STORES` says in which folder to leave them, and `TRELLIS_SEED` the first seed.
@Suite struct RandomStoreTests {
    @Test func `a store with a random past is sound and has deltas in its log`() throws {
        let environment = ProcessInfo.processInfo.environment
        let folder = environment["TRELLIS_MAKE_STORES"]
        var random = SeededRandom(for: "RandomStoreTests")
        for _ in 0..<(folder == nil ? 2 : 20) {
            let seed = random.next()
            let parent = folder ?? FileManager.default.temporaryDirectory.path
            let path = "\(parent)/random-\(seed).trellis"
            defer { if folder == nil { try? FileManager.default.removeItem(atPath: path) } }
            var maker = RandomStore(seed: seed)
            try maker.make(at: path)
            let check = try Tool.run("check", path)
            #expect(check.output == "nothing wrong was found\n", "seed \(seed)")
            if maker.expectsDeltas {
                let log = try Tool.run("wal", path)
                #expect(log.output.contains("\tdelta\t"), "seed \(seed)")
            }
        }
    }
}

/// One random store.
private struct RandomStore {
    private static let pageSizes = [512, 1024, 4096, 16_384]

    private var random: SeededRandom
    private var things: [ObjectNumber] = []
    private var boxes: [ObjectNumber] = []
    /// Small pages are logged whole now and then, and so are changes that do not compress; large
    /// transactions are not logged as images at all.
    private(set) var expectsDeltas = false

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Leaves a copy as a process that dies would: a checkpoint, and commits behind it.
    mutating func make(at path: String) throws {
        let working = path + ".working"
        defer { try? FileManager.default.removeItem(atPath: working) }
        var options = Engine.Options()
        options.pageSizeInBytes = Self.pageSizes[random.below(Self.pageSizes.count)]
        options.unitSizeInBytes = 64 << random.below(4)
        options.logSegmentSizeInBytes = 16_384
        options.isCompressed = random.below(4) > 0
        options.outOfLineBytesMin = random.below(2) == 0 ? 16_384 : 8 << 20
        expectsDeltas =
            options.isCompressed && options.pageSizeInBytes >= 4096
            && options.outOfLineBytesMin > 16_384
        let database = try RecordDatabase.open(
            .file(working), schema: SampleMaker.schema, options: options)
        for _ in 0..<2 + random.below(8) {
            let transaction = try database.beginWrite()
            for _ in 0..<1 + random.below(25) { try change(transaction) }
            _ = try transaction.commit()
            if random.below(3) == 0 { try database.checkpoint() }
        }
        try database.checkpoint()
        // Small changes of known pages: what the log has deltas for.
        for _ in 0..<6 {
            let transaction = try database.beginWrite()
            try addThing(transaction)
            _ = try transaction.commit()
        }
        try FileManager.default.copyItem(atPath: working, toPath: path)
        try database.close()
    }

    private mutating func change(_ transaction: RecordTransaction) throws {
        switch random.below(8) {
        case 0: try addBox(transaction)
        case 1: try delete(transaction)
        case 2, 3: try link(transaction)
        case 4: try update(transaction)
        default: try addThing(transaction)
        }
    }

    private mutating func addThing(_ transaction: RecordTransaction) throws {
        let name = random.below(5) == 0 ? "LargeThing" : "Thing"
        let entity = try #require(transaction.schema.entity(named: name))
        var row = entity.emptyRow()
        defer { row.deallocate() }
        fill(&row, entity)
        let number = try transaction.allocateNumber(in: entity.hierarchy)
        var batch = RecordBatch()
        batch.insert(entity, number, row: row)
        try transaction.apply(batch)
        things.append(number)
    }

    private mutating func fill(_ row: inout RowBuffer, _ entity: EntityLayout) {
        for field in entity.fields {
            guard let type = field.type else { continue }
            if field.isOptional && random.below(4) == 0 { continue }
            row.setValue(value(type), field)
        }
        if let field = entity.field(named: "box"), !boxes.isEmpty, random.below(2) == 0 {
            row.setLink(boxes[random.below(boxes.count)], at: field.byteOffset)
        }
    }

    private mutating func update(_ transaction: RecordTransaction) throws {
        guard !things.isEmpty, let thing = transaction.schema.entity(named: "Thing") else { return }
        let number = things[random.below(things.count)]
        guard var row = try transaction.row(number, in: thing.hierarchy) else { return }
        defer { row.deallocate() }
        let entity = transaction.schema.knownEntity(tag: row.view.entityTag)
        fill(&row, entity)
        var batch = RecordBatch()
        batch.update(entity, number, row: row)
        try transaction.apply(batch)
    }

    private mutating func addBox(_ transaction: RecordTransaction) throws {
        let number = boxes.count + 1
        try SampleMaker.addBox("box \(number)", to: transaction)
        boxes.append(ObjectNumber(UInt64(number)))
    }

    private mutating func delete(_ transaction: RecordTransaction) throws {
        guard !things.isEmpty, let thing = transaction.schema.entity(named: "Thing") else { return }
        var batch = RecordBatch()
        batch.delete(things.remove(at: random.below(things.count)), in: thing.hierarchy)
        try transaction.apply(batch)
    }

    private mutating func link(_ transaction: RecordTransaction) throws {
        guard !boxes.isEmpty, !things.isEmpty,
            let box = transaction.schema.entity(named: "Box"),
            let favorites = box.relationship(named: "favorites"),
            let near = box.relationship(named: "near")
        else { return }
        let owner = boxes[random.below(boxes.count)]
        var batch = RecordBatch()
        let count = random.below(6)
        var targets: [ObjectNumber] = []
        for _ in 0..<count { targets.append(things[random.below(things.count)]) }
        batch.setLinks(favorites, owner: owner, targets)
        batch.addLink(near, owner: owner, target: boxes[random.below(boxes.count)])
        try transaction.apply(batch)
    }

    private mutating func value(_ type: AttributeType) -> Value {
        let number = random.next() >> UInt64(random.below(64))
        let signed = Int64(truncatingIfNeeded: random.below(2) == 0 ? number : 0 &- number)
        return switch type {
        case .bool: .bool(number & 1 == 1)
        case .int8: .int(Int64(Int8(truncatingIfNeeded: signed)))
        case .int16: .int(Int64(Int16(truncatingIfNeeded: signed)))
        case .int32: .int(Int64(Int32(truncatingIfNeeded: signed)))
        case .int64: .int(signed)
        case .uint8: .uint(number & 0xFF)
        case .uint16: .uint(number & 0xFFFF)
        case .uint32: .uint(number & 0xFFFF_FFFF)
        case .uint64: .uint(number)
        case .float: .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
        case .double: .double(Double(bitPattern: random.next()))
        case .decimal: .decimal(decimal(signed))
        case .string: .string(text())
        case .data: .data(random.bytes(random.below(random.below(3000) + 1)))
        case .date: .date(date(signed))
        case .uuid: .uuid(uuid())
        case .url: .url("https://example.org/\(number)")
        }
    }

    private mutating func decimal(_ number: Int64) -> Decimal {
        Decimal(number) * pow(10, random.below(60) - 30)
    }

    private mutating func date(_ number: Int64) -> Double {
        random.below(2) == 0
            ? Double(number % 100_000_000_000) / 7 : Double(bitPattern: random.next())
    }

    private mutating func uuid() -> UUID {
        let bytes = random.bytes(16).map { String(format: "%02x", $0) }.joined()
        var text = bytes
        for place in [20, 16, 12, 8] {
            text.insert("-", at: text.index(text.startIndex, offsetBy: place))
        }
        return UUID(uuidString: text) ?? UUID()
    }

    private mutating func text() -> String {
        let scalars = ["a", "ü", "€", "𝄞", "\"", "\\", "\n", "\t", "\u{1}", "\0", " ", "Z"]
        let count = random.below(random.below(500) + 1)
        return (0..<count).map { _ in scalars[random.below(scalars.count)] }.joined()
    }
}
