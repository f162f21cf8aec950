import PageStore
import Primitives
import Proof
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// The space that a migration needs is forecast, and without it the migration does not begin.
@Suite struct MigrationSpaceTests {
    private final class SmallDisk: ForwardingFileSystem {
        let base: any FileSystem
        let room: UInt64
        /// The space available beyond a file of this size.
        let fileSizeInBytes: UInt64?

        init(_ base: any FileSystem, room: UInt64, besides fileSizeInBytes: UInt64? = nil) {
            (self.base, self.room) = (base, room)
            self.fileSizeInBytes = fileSizeInBytes
        }

        func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
            try base.open(path, mode)
        }

        func freeBytes(at path: String) -> UInt64? {
            guard let fileSizeInBytes, let size = try? open(path, .readOnly).size() else {
                return room
            }
            return fileSizeInBytes + room - min(size, fileSizeInBytes + room)
        }
    }

    /// The largest size of a file while a migration reports its progress.
    private final class FileSizes: Sendable {
        private let files: any FileSystem
        private let largest = Mutex<UInt64>(0)
        let first: UInt64

        init(_ files: any FileSystem) throws {
            self.files = files
            first = try files.open("store", .readOnly).size()
        }

        /// By how much the file has grown at most.
        var growth: UInt64 {
            get throws {
                try note()
                return largest.withLock { max($0, first) } - first
            }
        }

        var control: MigrationControl {
            MigrationControl { [self] _, _, _ in
                (try? note()) != nil
            }
        }

        private func note() throws {
            let size = try files.open("store", .readOnly).size()
            largest.withLock { $0 = max($0, size) }
        }
    }

    private static func plants(_ objectCount: Int, isChunked: Bool) -> PottedPlants {
        var plants = PottedPlants(objectCount: objectCount)
        plants.options.migrationRowsMax = isChunked ? 0 : 1 << 20
        plants.options.migrationChunkRowsMax = 500
        plants.options.outOfLineBytesMax = 60_000
        return plants
    }

    private func forecast(_ plants: PottedPlants, _ files: any FileSystem) throws -> SpaceForecast {
        let step = MigrationStep(PottedPlants.new)
        return try #require(
            try RecordDatabase.forecast(
                path: "store", schema: PottedPlants.new, options: plants.options, files: files
            ) { _ in [step] }
        ).space
    }

    @Test(arguments: [false, true])
    func `a migration without room for it is refused before a byte is written`(
        isChunked: Bool
    ) throws {
        let plants = Self.plants(300, isChunked: isChunked)
        let start = try plants.storeOfOld()
        let space = try forecast(plants, SmallDisk(SimulatedDisk(start, seed: 3), room: 7))
        #expect(!space.fits && space.freeBytesOnDisk == 7 && space.recordCount == 600)
        let room = space.neededBytes - space.freeBytesInFile
        let disk = SimulatedDisk(start, seed: 3)
        let error = #expect(throws: StoreError.self) {
            try plants.migrate(SmallDisk(disk, room: room - 1))
        }
        #expect(error?.code == .diskFull)
        #expect(error?.message.contains("\(space.neededBytes) bytes") == true, "\(error as Any)")
        #expect(error?.message.contains("\(room - 1) on") == true, "\(error as Any)")
        #expect(disk.image.files == start.files)
        #expect(try plants.found(disk.image, "refused") == "V1")
        try plants.migrate(SmallDisk(disk, room: room))
        #expect(try plants.found(disk.image, "with room") == "V2")
    }

    @Test func `a migration of the catalog alone needs no free space`() throws {
        let plants = Self.plants(20, isChunked: true)
        let disk = SmallDisk(SimulatedDisk(try plants.storeOfOld(), seed: 3), room: 0)
        var schema = PottedPlants.old
        schema.entities[0].attributes.append(.optional("colour", .string))
        try RecordDatabase.open(
            .file("store"), schema: schema, options: plants.options, files: disk
        ).close()
    }

    @Test func `a discarded copy leaves room for the next migration`() throws {
        let plants = Self.plants(300, isChunked: true)
        let start = try plants.storeOfOld()
        let recorded = SimulatedDisk(start, seed: 3, records: true)
        try plants.migrate(recorded)
        // The last image of the earlier model, with a whole copy beside it.
        var (image, last) = (start, start)
        for effect in recorded.effects {
            image.apply(effect)
            guard case .durableWrite = effect else { continue }
            guard try plants.found(image, "before") == "V1" else { break }
            last = image
        }
        var other = plants
        other.mappings = [.copy(from: "Pot", to: "Pot")]
        let disk = SimulatedDisk(last, seed: 4)
        let size = UInt64(try #require(last.bytes(of: "store")).count)
        let small = SmallDisk(disk, room: 105_000, besides: size)
        #expect(try !forecast(other, small).fits)
        try other.migrate(small)
        #expect(try plants.found(disk.image, "with another plan") == "V2")
    }

    @Test(arguments: [false, true])
    func `a file grows by no more than forecast`(isChunked: Bool) throws {
        let plants = Self.plants(900, isChunked: isChunked)
        let disk = SimulatedDisk(try plants.storeOfOld(), seed: 3)
        let space = try forecast(plants, disk)
        let sizes = try FileSizes(disk)
        try plants.migrate(disk, sizes.control)
        let (growth, before) = (try sizes.growth, sizes.first)
        #expect(growth <= space.neededBytes, "\(growth) of \(space.neededBytes) from \(before)")
        // The forecast must not refuse a migration that would fit.
        #expect(space.neededBytes < 4 * before, "\(space.neededBytes) for \(before)")
    }

    /// Shelves get a superclass, which moves them to another tree; the books that stand in them
    /// get their links anew.
    private static func library(
        isMoved: Bool, books: RelationshipDescription.Kind, isWide: Bool
    ) -> SchemaDescription {
        let shelf = EntityDescription(
            "Shelf", below: isMoved ? "Place" : nil, required: ["uid": .int64],
            relationships: [
                RelationshipDescription(
                    name: "books", destinationEntityName: "Book", inverseName: "shelf", kind: books)
            ], indexes: [["uid"]])
        let book = EntityDescription(
            "Book", required: ["uid": .int64],
            relationships: [.toOne("shelf", to: "Shelf", inverse: "books")]
                + (isWide ? ["first", "second", "third"] : []).map { .toOne($0, to: "Shelf") },
            indexes: isWide ? [["uid"], ["shelf", "uid"]] : [])
        let place = EntityDescription("Place", isAbstract: true)
        return SchemaDescription(
            version: isMoved ? "V2" : "V1", isMoved ? [place, shelf, book] : [shelf, book])
    }

    private func store(
        _ schema: SchemaDescription, _ bookCount: Int, _ shelfCount: Int, _ options: Engine.Options
    ) throws -> DiskImage {
        let disk = SimulatedDisk(seed: 1)
        let database = try RecordDatabase.open(
            .file("store"), schema: schema, options: options, files: disk)
        let transaction = try database.beginWrite()
        let shelf = try #require(database.schema.entity(named: "Shelf"))
        let books = try #require(shelf.relationship(named: "books"))
        var shelves: [ObjectNumber] = []
        var booksByShelf: [[ObjectNumber]] = []
        for (name, count) in [("Shelf", shelfCount), ("Book", bookCount)] {
            let entity = try #require(database.schema.entity(named: name))
            var batch = RecordBatch()
            for uid in 0..<count {
                var row = entity.emptyRow()
                defer { row.deallocate() }
                row.setValue(.int(Int64(uid)), try #require(entity.field(named: "uid")))
                let number = try transaction.allocateNumber(in: entity.hierarchy)
                if name == "Shelf" {
                    shelves.append(number)
                    booksByShelf.append([])
                } else {
                    booksByShelf[uid % shelfCount].append(number)
                    let link = try #require(entity.relationship(named: "shelf")?.field)
                    row.setLink(shelves[uid % shelfCount], at: link.byteOffset)
                }
                batch.insert(entity, number, row: row)
            }
            try transaction.apply(batch)
        }
        var batch = RecordBatch()
        // A list without an order only mirrors its inverse.
        for (shelf, targets) in zip(shelves, booksByShelf) where !books.mirrorsToOne {
            batch.setLinks(books, owner: shelf, targets)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        #expect(try database.snapshot().check() == [])
        try database.close()
        return disk.image
    }

    /// A bug: the forecast left out that records grow by a slot for each link to what moves.
    @Test(arguments: [(9000, 20), (600, 9000)], [true, false])
    func `a file grows by no more than forecast where a hierarchy moves`(
        counts: (books: Int, shelves: Int), isOrdered: Bool
    ) throws {
        let kind: RelationshipDescription.Kind = isOrdered ? .toManyOrdered : .toManyUnordered
        for isWide in [false, true] {
            var options = Self.plants(0, isChunked: true).options
            (options.logBytesMax, options.migrationChunkBytesMax) = (64 << 10, 64 << 10)
            let old = Self.library(isMoved: false, books: kind, isWide: isWide)
            let image = try store(old, counts.books, counts.shelves, options)
            let disk = SimulatedDisk(image, seed: 3)
            let schema = Self.library(isMoved: true, books: kind, isWide: isWide)
            let step = MigrationStep(schema, isNamed: true)
            let space = try #require(
                try RecordDatabase.forecast(
                    path: "store", schema: schema, options: options, files: disk
                ) { _ in [step] }
            ).space
            let sizes = try FileSizes(disk)
            try RecordDatabase.open(
                .file("store"), schema: schema, options: options, files: disk,
                route: { _ in [step] }, control: sizes.control
            ).close()
            let (growth, before) = (try sizes.growth, sizes.first)
            #expect(growth <= space.neededBytes, "\(growth) from \(before)")
            #expect(space.neededBytes < 5 * before, "\(space.neededBytes) for \(before)")
        }
    }
}
