import Dispatch
import Foundation
import Primitives
import TestSupport
import Testing

import struct Synchronization.Atomic

@testable import PageStore

/// The guarantee of each durability mode, and its cost.
@Suite struct DurabilityTests {
    private static var options: Engine.Options {
        var options = Engine.Options()
        options.relaxedIntervalInMilliseconds = 3_600_000
        options.checkpointsInBackground = false
        return options
    }

    @discardableResult
    private func commit(
        _ engine: Engine, _ byte: UInt8, _ durability: Durability
    ) throws -> UInt64 {
        let transaction = try engine.beginWrite()
        let page =
            try transaction.catalogRoot.map { try transaction.editablePage($0) }
            ?? transaction.allocatePage(.overflow)
        page[100] = byte
        transaction.catalogRoot = page.id
        return try transaction.commit(durability)
    }

    private func content(_ files: FaultyFileSystem) throws -> (commit: UInt64, byte: UInt8) {
        let snapshot = try Engine.open(path: "store", options: Self.options, files: files)
            .snapshot()
        guard let root = snapshot.catalogRoot else { return (0, 0) }
        return (snapshot.commitNumber, try snapshot.page(root)[100])
    }

    @Test func `a relaxed commit outlives the process and not a power cut`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        try commit(engine, 1, .durable)
        try commit(engine, 2, .relaxed)
        try commit(engine, 3, .relaxed)
        #expect(try content(files.processDeath()) == (3, 3))
        #expect(try content(files.powerCut()) == (1, 1))
        try commit(engine, 4, .durable)
        #expect(try content(files.powerCut()) == (4, 4))
        try commit(engine, 5, .relaxed)
        try engine.checkpointNow()
        #expect(try content(files.powerCut()) == (5, 5))
        try commit(engine, 6, .relaxed)
        try engine.close()
        #expect(try content(files.powerCut()) == (6, 6))
    }

    @Test func `relaxed commits become durable by themselves`() throws {
        var options = Self.options
        options.relaxedIntervalInMilliseconds = 5
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: options, files: files)
        try commit(engine, 1, .relaxed)
        let end = ContinuousClock.now + .seconds(60 * hangMinutes)
        while try content(files.powerCut()) != (1, 1), ContinuousClock.now < end {
            Thread.sleep(forTimeInterval: 0.005)
        }
        #expect(try content(files.powerCut()) == (1, 1))
        options.relaxedIntervalInMilliseconds = 3_600_000
        options.relaxedBytesMax = 3000
        let other = FaultyFileSystem()
        let second = try Engine.open(path: "store", options: options, files: other)
        for byte in 1...9 as ClosedRange<UInt8> { try commit(second, byte, .relaxed) }
        #expect(try content(other.powerCut()).commit >= 5)
    }

    @Test func `a commit without changes makes the commits that it read durable`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        try commit(engine, 1, .relaxed)
        #expect(try engine.beginWrite().commit() == 1)
        #expect(try content(files.powerCut()) == (1, 1))
    }

    @Test func `transactions that wait together share one write`() throws {
        let engine = try Engine.inMemory(options: Self.options)
        try commit(engine, 1, .durable)
        let before = try engine.logFrames().count { $0.type == .group }
        let rounds = 10
        let threads = 8
        let group = DispatchGroup()
        for number in 0..<threads {
            let thread = Thread {
                for round in 0..<rounds {
                    _ = try? commit(
                        engine, UInt8(number * rounds + round),
                        .grouped(maxDelay: .milliseconds(30)))
                }
                group.leave()
            }
            group.enter()
            thread.start()
        }
        group.wait()
        let groups = try engine.logFrames().count { $0.type == .group } - before
        #expect(engine.statistics.commitNumber == UInt64(1 + rounds * threads))
        #expect(groups <= rounds * threads / 2, "\(groups) writes")
    }

    /// A bug: the checkpoint of the closing lacked space, and the commit's thread wrote it later to
    /// a file that was closed by then.
    @Test func `closing on a full disk writes what waits for the log`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        try commit(engine, 1, .durable)
        let transaction = try engine.beginWrite()
        try transaction.editablePage(try #require(transaction.catalogRoot))[100] = 2
        let staged = try transaction.stage()
        files.fault = FaultyFileSystem.Fault(calls: [.write], code: .diskFull, goesOn: true)
        let error = #expect(throws: StoreError.self) { try engine.close() }
        #expect(error?.code == .diskFull)
        #expect(try content(files.powerCut()) == (2, 2))
        let callCount = files.callCount
        try staged.finish()
        #expect(files.callCount == callCount)
    }

    @Test func `readers see a staged transaction only when it is finished`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        try commit(engine, 1, .durable)
        let root = try #require(try engine.snapshot().catalogRoot)
        let first = try engine.beginWrite()
        try first.editablePage(root)[100] = 2
        let firstStaged = try first.stage()
        let second = try engine.beginWrite()
        #expect(try second.page(root)[100] == 2)
        try second.editablePage(root)[101] = 9
        let secondStaged = try second.stage()
        #expect(try engine.snapshot().page(root)[100] == 1)
        try secondStaged.finish()
        #expect(try engine.snapshot().commitNumber == 3)
        #expect(try engine.snapshot().page(root)[101] == 9)
        try firstStaged.finish()
        #expect(try content(files.powerCut()) == (3, 2))
    }

    @Test func `staged transactions are written when the store is closed`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        try commit(engine, 1, .durable)
        let transaction = try engine.beginWrite()
        try transaction.editablePage(try #require(transaction.catalogRoot))[100] = 7
        let staged = try transaction.stage()
        try engine.close()
        try staged.finish()
        #expect(try content(files.powerCut()) == (2, 7))
    }

    @Test func `the failure of a group fails every transaction in it`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        try commit(engine, 1, .durable)
        var staged: [StagedCommit] = []
        for byte in 2...4 as ClosedRange<UInt8> {
            let transaction = try engine.beginWrite()
            try transaction.editablePage(try #require(transaction.catalogRoot))[100] = byte
            staged.append(try transaction.stage())
        }
        files.fault = FaultyFileSystem.Fault(calls: [.durableWrite])
        for commit in staged {
            let error = #expect(throws: StoreError.self) { try commit.finish() }
            #expect(error?.code == .commitUncertain)
        }
        #expect(try engine.snapshot().commitNumber == 1)
        #expect(throws: StoreError.self) { try engine.beginWrite() }
        #expect(try content(files.processDeath()) == (1, 1))
    }

    @Test func `a bulk commit writes its pages once`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        try commit(engine, 1, .durable)
        let before = engine.statistics
        let transaction = try engine.beginWrite()
        var random = SeededRandom(for: "DurabilityTests bulk")
        for _ in 0..<50 {
            let page = try transaction.allocatePage(.overflow)
            random.bytes(16_000).withView { page.copy($0, to: 300) }
        }
        try transaction.commit(.bulk)
        try engine.checkpointNow()
        let written = engine.statistics.bytesWritten - before.bytesWritten
        #expect(written < 50 * 16_384 + 400_000, "\(written) bytes")
        #expect(try content(files.powerCut()) == (2, 1))
    }

    /// Found by the crash simulator, seed 379489270830: closing checked pages alone.
    @Test func `a relaxed commit that changes no page is durable when the store is closed`()
        throws
    {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        let transaction = try engine.beginWrite()
        transaction.catalogRoot = PageID(7)
        try transaction.commit(.relaxed)
        try engine.close()
        let again = try Engine.open(path: "store", options: Self.options, files: files.powerCut())
        #expect(try again.snapshot().catalogRoot == PageID(7))
    }

    /// A bug: such a delay ended the process.
    @Test(arguments: [
        Duration(secondsComponent: .min, attosecondsComponent: 0), .seconds(-1), .zero,
        .nanoseconds(1), .seconds(Int64.max) * -18,
    ])
    func `a delay that is over does not make a commit wait`(delay: Duration) throws {
        let engine = try Engine.open(
            path: "store", options: Self.options, files: FaultyFileSystem())
        #expect(try commit(engine, 1, .grouped(maxDelay: delay)) == 1)
    }

    @Test(arguments: [Duration(secondsComponent: .max, attosecondsComponent: 0), .seconds(3601)])
    func `a delay without end ends with the next durable commit`(delay: Duration) throws {
        let engine = try Engine.open(
            path: "store", options: Self.options, files: FaultyFileSystem())
        let isDone = Atomic<Bool>(false)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(throws: Never.self) { try commit(engine, 1, .grouped(maxDelay: delay)) }
            isDone.store(true, ordering: .sequentiallyConsistent)
            done.signal()
        }
        while !isDone.load(ordering: .sequentiallyConsistent) { try commit(engine, 2, .durable) }
        done.wait()
    }

    /// A bug: it slept on, for as long as its delay.
    @Test func `a grouped commit learns at once that its group failed`() throws {
        let files = FaultyFileSystem()
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        try commit(engine, 1, .durable)
        let done = DispatchSemaphore(value: 0)
        let code = Mutex<StoreError.Code?>(nil)
        Thread.detachNewThread {
            do {
                try commit(engine, 2, .grouped(maxDelay: .seconds(3000)))
            } catch {
                code.withLock { $0 = (error as? StoreError)?.code }
            }
            done.signal()
        }
        while engine.parts.log.state.withLock({ $0.waiting.isEmpty }) { usleep(1000) }
        files.fault = .init(calls: [.durableWrite, .sync], goesOn: true)
        #expect(throws: StoreError.self) { try commit(engine, 3, .durable) }
        #expect(done.wait(timeout: .now() + 30) == .success)
        #expect(code.withLock { $0 } == .commitUncertain)
    }

    /// A bug: each left a lock that the next durable write opened.
    @Test func `grouped commits without changes leave nothing behind`() throws {
        let engine = try Engine.open(
            path: "store", options: Self.options, files: FaultyFileSystem())
        try commit(engine, 1, .durable)
        for _ in 0..<10 {
            _ = try engine.beginWrite().commit(.grouped(maxDelay: .seconds(30)))
        }
        #expect(engine.parts.log.state.withLock { $0.waiting.isEmpty })
    }

    /// A bug: the time at which to give up was computed from whatever the program said.
    @Test(arguments: [
        Duration.seconds(Int64.max) * 18, Duration(secondsComponent: .max, attosecondsComponent: 0),
        Duration(secondsComponent: .min, attosecondsComponent: 0), .seconds(Int64.max) * -18,
    ])
    func `any timeout opens a file that is free`(timeout: Duration) throws {
        var options = Self.options
        options.writerTimeout = timeout
        options.snapshotAgeMax = timeout
        let engine = try Engine.open(path: "store", options: options, files: FaultyFileSystem())
        let snapshot = try engine.snapshot()
        try commit(engine, 1, .durable)
        try engine.checkpointNow()
        withExtendedLifetime(snapshot) {}
        try engine.close()
    }
}
