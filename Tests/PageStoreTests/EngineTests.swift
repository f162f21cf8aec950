import PageStore
import Testing

@Suite struct EngineTests {
    private func put(_ byte: UInt8, _ transaction: WriteTransaction) throws -> PageID {
        let page = try transaction.allocatePage(.overflow)
        page[100] = byte
        return page.id
    }

    @Test func `a committed page is there after a reopening without a close`() throws {
        let files = MemoryFileSystem()
        var ids: [PageID] = []
        do {
            let engine = try Engine.open(path: "store", files: files)
            for byte in 1...20 as ClosedRange<UInt8> {
                let transaction = try engine.beginWrite()
                ids.append(try put(byte, transaction))
                transaction.catalogRoot = ids.first
                _ = try transaction.commit()
            }
        }
        for _ in 0..<3 {
            let engine = try Engine.open(path: "store", files: files)
            let snapshot = try engine.snapshot()
            #expect(snapshot.commitNumber >= 20)
            #expect(snapshot.catalogRoot == ids.first)
            for (index, id) in ids.enumerated() {
                #expect(try snapshot.page(id)[100] == UInt8(index + 1))
            }
            let transaction = try engine.beginWrite()
            _ = try put(99, transaction)
            _ = try transaction.commit()
        }
    }

    @Test func `a snapshot keeps what it saw while checkpoints run`() throws {
        let engine = try Engine.inMemory()
        let first = try engine.beginWrite()
        let id = try put(1, first)
        _ = try first.commit()
        let snapshot = try engine.snapshot()
        for byte in 2...30 as ClosedRange<UInt8> {
            let transaction = try engine.beginWrite()
            try transaction.editablePage(id)[100] = byte
            _ = try transaction.commit()
            try engine.checkpointNow()
            #expect(try snapshot.page(id)[100] == 1)
        }
        #expect(try engine.snapshot().page(id)[100] == 30)
    }

    @Test func `snapshots and transactions outlive the engine that began them`() throws {
        let files = MemoryFileSystem()
        var engine: Engine? = try Engine.open(path: "store", files: files)
        let first = try #require(try engine?.beginWrite())
        let id = try put(1, first)
        first.catalogRoot = id
        _ = try first.commit()
        let snapshot = try #require(try engine?.snapshot())
        let later = try #require(try engine?.beginWrite())
        engine = nil
        #expect(try snapshot.page(id)[100] == 1)
        try later.editablePage(id)[100] = 2
        _ = try later.commit()
        #expect(throws: StoreError.self, "its file is open still") {
            try Engine.open(path: "store", files: files)
        }
        #expect(try snapshot.page(id)[100] == 1)
    }

    @Test func `space that is not needed any more is used again`() throws {
        let engine = try Engine.inMemory()
        let first = try engine.beginWrite()
        let id = try put(1, first)
        _ = try first.commit()
        for round in 0..<200 {
            let transaction = try engine.beginWrite()
            try transaction.editablePage(id)[100] = UInt8(round)
            _ = try transaction.commit()
            try engine.checkpointNow()
        }
        #expect(engine.statistics.fileSizeInBytes < 2 << 20)
    }

    @Test func `a rolled back transaction leaves nothing`() throws {
        let engine = try Engine.inMemory()
        let transaction = try engine.beginWrite()
        let id = try put(1, transaction)
        transaction.rollback()
        #expect(throws: StoreError.self) { try engine.snapshot().page(id) }
        let next = try engine.beginWrite()
        #expect(try put(2, next) == id)
        _ = try next.commit()
        #expect(try engine.snapshot().page(id)[100] == 2)
    }

    @Test func `large transactions and chunks survive a reopening`() throws {
        let files = MemoryFileSystem()
        var options = Engine.Options()
        options.outOfLineBytesMin = 1 << 20
        var ids: [PageID] = []
        var chunk = PageID(0)
        do {
            let engine = try Engine.open(path: "store", options: options, files: files)
            let transaction = try engine.beginWrite()
            for number in 0..<300 { ids.append(try put(UInt8(number % 250), transaction)) }
            var bytes = [UInt8](repeating: 7, count: 900_000)
            // A chunk's header: kind, no flags, size of the payload, no next page.
            let size = UInt32(bytes.count - BlobLayout.payload)
            bytes.replaceSubrange(
                0..<BlobLayout.payload,
                with: [PageKind.blobChunk.rawValue, 0, 0, 0]
                    + (0..<4).map { UInt8(truncatingIfNeeded: size >> UInt32(8 * $0)) }
                    + Array(repeating: 0, count: 8))
            chunk = try bytes.withView { view throws(StoreError) in
                try transaction.allocateChunk(view)
            }
            _ = try transaction.commit()
            try engine.close()
        }
        let engine = try Engine.open(path: "store", options: options, files: files)
        let snapshot = try engine.snapshot()
        for (number, id) in ids.enumerated() {
            #expect(try snapshot.page(id)[100] == UInt8(number % 250))
        }
        #expect(try snapshot.page(chunk).view.count == 900_000)
    }
}
