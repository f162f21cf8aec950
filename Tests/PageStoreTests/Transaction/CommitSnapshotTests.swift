import TestSupport
import Testing

@testable import PageStore

/// The snapshot of a commit shows that commit, however many others one write made durable.
@Suite(.timeLimit(.minutes(hangMinutes))) struct CommitSnapshotTests {
    private static func engine() throws -> Engine {
        var options = Engine.Options()
        options.checkpointsInBackground = false
        return try Engine.inMemory(options: options)
    }

    private static func stage(
        _ byte: UInt8, _ id: PageID, in engine: Engine, _ durability: Durability = .durable
    ) throws(StoreError) -> StagedCommit {
        let transaction = try engine.beginWrite()
        try transaction.editablePage(id)[100] = byte
        return try transaction.stage(durability)
    }

    private static func firstPage(in engine: Engine) throws -> PageID {
        let first = try engine.beginWrite()
        let id = try first.allocatePage(.overflow).id
        first.catalogRoot = id
        try first.commit()
        return id
    }

    @Test(arguments: [Durability.durable, .bulk, .relaxed])
    func `the snapshot of a commit does not show another commit of its group`(
        durability: Durability
    ) throws {
        let engine = try Self.engine()
        let id = try Self.firstPage(in: engine)
        let first = try Self.stage(2, id, in: engine, durability)
        let second = try Self.stage(3, id, in: engine, durability)
        try first.finish()
        #expect(try engine.snapshot().commitNumber == second.number)
        let shown = try first.snapshot()
        #expect(shown.commitNumber == first.number)
        #expect(shown.catalogRoot == id)
        #expect(try shown.page(id)[100] == 2)
        try second.finish()
        #expect(try second.snapshot().page(id)[100] == 3)
    }

    @Test func `a commit of a group can be read after checkpoints have stored the next ones`()
        throws
    {
        let engine = try Self.engine()
        let id = try Self.firstPage(in: engine)
        let first = try Self.stage(2, id, in: engine)
        let second = try Self.stage(3, id, in: engine)
        try second.finish()
        for byte in 4...9 as ClosedRange<UInt8> {
            try engine.checkpointNow()
            let later = try engine.beginWrite()
            try later.editablePage(id)[100] = byte
            _ = try later.allocatePage(.overflow)
            try later.commit(byte % 2 == 0 ? .durable : .bulk)
        }
        try first.finish()
        let shown = try first.snapshot()
        engine.parts.pager.state.withLock { $0.cache.removeAll() }
        #expect(try shown.page(id)[100] == 2)
        #expect(try second.snapshot().page(id)[100] == 3)
    }

    @Test func `a transaction without changes shows the commit that it built on`() throws {
        let engine = try Self.engine()
        let id = try Self.firstPage(in: engine)
        let first = try Self.stage(2, id, in: engine)
        let unchanged = try engine.beginWrite().stage()
        let second = try Self.stage(3, id, in: engine)
        try unchanged.finish()
        #expect(unchanged.number == first.number)
        #expect(try unchanged.snapshot().page(id)[100] == 2)
        try second.finish()
    }

    @Test func `a commit whose snapshot is not requested holds no generation`() throws {
        let engine = try Self.engine()
        let id = try Self.firstPage(in: engine)
        var staged: StagedCommit? = try Self.stage(2, id, in: engine)
        #expect(engine.statistics.oldestReaderGeneration != nil)
        try staged?.finish()
        staged = nil
        #expect(engine.statistics.oldestReaderGeneration == nil)
        staged = try Self.stage(3, id, in: engine)
        // Released before it was finished: the next write includes it.
        staged = nil
        #expect(engine.statistics.oldestReaderGeneration == nil)
        try Self.stage(4, id, in: engine).finish()
        #expect(try engine.snapshot().page(id)[100] == 4)
    }

    @Test func `the snapshot of a commit is refused after the store was closed`() throws {
        let engine = try Self.engine()
        let id = try Self.firstPage(in: engine)
        let staged = try Self.stage(2, id, in: engine)
        try staged.finish()
        try engine.close()
        let error = #expect(throws: StoreError.self) { try staged.snapshot() }
        #expect(error?.code == .closed)
    }
}
