import Dispatch
import TestSupport
import Testing

@testable import PageStore

/// The commit that readers see while later ones are staged.
@Suite(.timeLimit(.minutes(hangMinutes))) struct GroupVersionTests {
    /// A bug: a version that only the pending group shows was pruned when two more commits were
    /// staged.
    @Test func `a group becomes visible as written, whatever was staged meanwhile`() throws {
        let files = PausingFiles()
        var options = Engine.Options()
        options.checkpointsInBackground = false
        let engine = try Engine.open(path: "store", options: options, files: files)
        let first = try engine.beginWrite()
        let id = try first.allocatePage(.overflow).id
        _ = try first.commit()
        func stage(_ byte: UInt8) throws(StoreError) -> StagedCommit {
            let transaction = try engine.beginWrite()
            try transaction.editablePage(id)[100] = byte
            return try transaction.stage()
        }
        // The transaction is not staged, because a staged commit keeps its versions by itself.
        nonisolated(unsafe) let shown = try engine.beginWrite()
        try shown.editablePage(id)[100] = 2
        files.pauseNext()
        let isWritten = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            _ = try? shown.commit()
            isWritten.signal()
        }
        files.waitForPause()
        let later = [try stage(3), try stage(4)]
        files.goOn()
        isWritten.wait()
        let snapshot = try engine.snapshot()
        #expect(snapshot.commitNumber == 2)
        #expect(try snapshot.page(id)[100] == 2)
        for commit in later { try commit.finish() }
        #expect(try engine.snapshot().page(id)[100] == 4)
        #expect(try snapshot.page(id)[100] == 2)
    }

    /// The writer's lock must not be given up before: the commit could write over what the next
    /// writer stored.
    @Test func `a poisoned store closes after the write that is in flight`() throws {
        let files = PausingFiles()
        let engine = try Engine.open(path: "store", files: files)
        nonisolated(unsafe) let transaction = try engine.beginWrite()
        transaction.catalogRoot = try transaction.allocatePage(.overflow).id
        files.pauseNext()
        let (isWritten, isClosed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        DispatchQueue.global().async {
            _ = try? transaction.commit()
            isWritten.signal()
        }
        files.waitForPause()
        engine.parts.context.health.poison(StoreError(.io, "the test fails a sync"))
        DispatchQueue.global().async {
            try? engine.close()
            isClosed.signal()
        }
        #expect(isClosed.wait(timeout: .now() + .milliseconds(300)) == .timedOut)
        files.goOn()
        isWritten.wait()
        isClosed.wait()
        try Engine.open(path: "store", files: files).close()
    }

    /// A bug: a relaxed commit that wrote for a durable one showed it before it was on the medium.
    @Test func `a durable commit in a relaxed commit's group is durable when visible`() throws {
        let engine = try Engine.inMemory()
        func stage(_ durability: Durability) throws(StoreError) -> StagedCommit {
            let transaction = try engine.beginWrite()
            transaction.catalogRoot = try transaction.allocatePage(.overflow).id
            return try transaction.stage(durability)
        }
        let durable = try stage(.durable)
        let relaxed = try stage(.relaxed)
        try relaxed.finish()
        #expect(try engine.snapshot().commitNumber == relaxed.number)
        #expect(engine.parts.log.state.withLock { $0.durableCommit } == relaxed.number)
        try durable.finish()
        try stage(.relaxed).finish()
        #expect(engine.parts.log.state.withLock { $0.durableCommit } == relaxed.number)
    }
}
