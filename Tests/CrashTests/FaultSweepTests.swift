import Foundation
import PageStore
import TestSupport
import Testing

/// Makes every call of a script fail, alone and with all later calls: acknowledged commits are
/// there afterwards, a full disk leaves the store usable, and any other failure ends writing.
@Suite struct FaultSweepTests {
    private static var isLong: Bool {
        ProcessInfo.processInfo.environment["TRELLIS_LONG"] != nil
    }

    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 64
        options.logSegmentSizeInBytes = 16_384
        options.logBytesMax = 12_000
        options.versionBytesMax = 8192
        options.outOfLineBytesMin = 6 * 512
        options.dirtyBytesMax = 5 * 512
        options.checkpointsInBackground = false
        options.relaxedIntervalInMilliseconds = 3_600_000
        return options
    }

    private typealias Content = [PageID: UInt8]

    /// The outcome of a run of the script.
    private struct Run {
        /// By commit number, from zero.
        var contents: [Content] = [[:]]
        /// The last commit that was acknowledged as durable.
        var acknowledged = 0
        /// Whether a commit failed while the log was written: it may be there or not.
        var isUnknown = false
        var failures: [StoreError] = []
    }

    /// Runs a script to its end or to the first failure that ends writing.
    private func run(_ files: FaultyFileSystem, seed: UInt64) throws -> Run {
        var random = Random(state: seed)
        var run = Run()
        var engine: Engine
        do throws(StoreError) {
            engine = try Engine.open(path: "store", options: Self.options, files: files)
        } catch {
            run.failures.append(error)
            return run
        }
        for step in 0..<14 {
            do throws(StoreError) {
                switch (step + Int(seed)) % 7 {
                case 3: try engine.checkpointNow()
                case 5:
                    try engine.close()
                    run.acknowledged = run.contents.count - 1
                    engine = try Engine.open(path: "store", options: Self.options, files: files)
                default: try commit(engine, &run, &random)
                }
            } catch {
                run.failures.append(error)
                // Lack of space before the log is written fails only the transaction.
                if error.code != .diskFull || run.isUnknown { break }
            }
        }
        return run
    }

    private func commit(
        _ engine: Engine, _ run: inout Run, _ random: inout Random
    ) throws(StoreError) {
        let transaction = try engine.beginWrite()
        var content = run.contents[run.contents.count - 1]
        for _ in 0..<(1 + random.next(9)) {
            try transaction.makeRoom()
            let known = content.keys.sorted()
            let fill = UInt8(1 + random.next(250))
            if !known.isEmpty && random.next(3) == 0 {
                let id = known[random.next(known.count)]
                try transaction.freePage(id)
                content[id] = nil
            } else {
                let page = try transaction.allocatePage(.overflow)
                page.fill(fill, from: 64, count: page.count - 64)
                content[page.id] = fill
            }
        }
        guard transaction.hasChanges else { return transaction.rollback() }
        let isRelaxed = random.next(4) == 0
        let staged = try transaction.stage(isRelaxed ? .relaxed : .durable)
        run.contents.append(content)
        do throws(StoreError) {
            try staged.finish()
        } catch {
            run.isUnknown = true
            throw error
        }
        if !isRelaxed { run.acknowledged = run.contents.count - 1 }
    }

    private struct Random {
        var state: UInt64

        mutating func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }

    /// Compares a file's content with the outcome of a run, and continues writing.
    private func check(_ files: FaultyFileSystem, _ run: Run, _ label: String) throws {
        let engine: Engine
        do {
            engine = try Engine.open(path: "store", options: Self.options, files: files)
        } catch {
            Issue.record("\(label): \(error)")
            return
        }
        let snapshot = try engine.snapshot()
        let number = Int(snapshot.commitNumber)
        guard number >= run.acknowledged, number < run.contents.count else {
            Issue.record(
                "\(label): commit \(number), \(run.acknowledged) of \(run.contents.count - 1)")
            return
        }
        for (id, byte) in run.contents[number] {
            let page = try snapshot.page(id)
            #expect(page[64] == byte && page[page.count - 1] == byte, "\(label): \(id)")
        }
        let transaction = try engine.beginWrite()
        let added = try transaction.allocatePage(.overflow).id
        #expect(run.contents[number][added] == nil, "\(label)")
        _ = try transaction.commit()
        try engine.close()
    }

    @Test(arguments: [StoreError.Code.io, .diskFull], [false, true])
    func `any call may fail and nothing acknowledged is lost`(
        _ code: StoreError.Code, _ goesOn: Bool
    ) throws {
        var faults = 0
        for seed in 1...UInt64(Self.isLong ? 20 : 3) {
            let whole = FaultyFileSystem()
            #expect(try run(whole, seed: seed).failures == [])
            for call in 1...whole.callCount {
                let files = FaultyFileSystem()
                files.fault = FaultyFileSystem.Fault(
                    at: call, calls: [.write, .durableWrite, .sync, .truncate, .syncDirectory],
                    code: code, goesOn: goesOn)
                let run = try run(files, seed: seed)
                faults += 1
                let label = "seed \(seed), call \(call), \(code), \(goesOn ? "on" : "once")"
                files.fault = nil
                try check(files.processDeath(), run, label)
                try check(files.powerCut(), run, label + ", power cut")
            }
        }
        print("\(faults) faults: \(code), \(goesOn ? "from then on" : "once")")
    }
}
