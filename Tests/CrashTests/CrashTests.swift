import Foundation
import PageStore
import TestSupport
import Testing

/// Cuts the power at every moment of a workload, and again inside the recovery: the store opens as
/// one of the commits that had been attempted, none that was acknowledged is lost, no two mix.
@Suite struct CrashTests {
    private static let environment = ProcessInfo.processInfo.environment

    private static var seconds: Double {
        if let text = environment["TRELLIS_CRASH_SECONDS"] { return Double(text) ?? 8 }
        return environment["TRELLIS_LONG"] == nil ? 8 : 90
    }

    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 64
        options.logSegmentSizeInBytes = 16_384
        options.logBytesMax = 24_000
        options.versionBytesMax = 16_384
        options.outOfLineBytesMin = 6 * 512
        options.dirtyBytesMax = 4 * 512
        options.checkpointsInBackground = false
        options.relaxedIntervalInMilliseconds = 3_600_000
        return options
    }

    /// What each commit left: page to fill byte.
    private typealias Content = [PageID: UInt8]

    private struct Workload {
        var files: SimulatedFileSystem
        /// By commit number; nothing for commit 0.
        var contents: [Content] = [[:]]
        /// The count of effects when a commit began, and when it was acknowledged.
        var begun: [Int] = [0]
        var acknowledged: [Int] = [0]
    }

    private struct Random {
        var state: UInt64

        mutating func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }

    /// Every third workload has its checkpoints beside its commits; what happens when is then up to
    /// the machine, so that its seed does not repeat it.
    private func record(seed: UInt64) throws -> Workload {
        var random = Random(state: seed)
        var work = Workload(files: SimulatedFileSystem(seed: seed))
        var options = Self.options
        options.checkpointsInBackground = seed % 3 == 0
        var engine = try Engine.open(path: "store", options: options, files: work.files)
        var content: Content = [:]
        for _ in 0..<(8 + random.next(12)) {
            switch random.next(10) {
            case 0: try engine.checkpointNow()
            case 1:
                try engine.close()
                engine = try Engine.open(path: "store", options: options, files: work.files)
            default:
                work.begun.append(work.files.effectCount)
                let transaction = try engine.beginWrite()
                try change(transaction, &content, &random)
                transaction.catalogRoot = PageID(UInt64(work.contents.count))
                let isRelaxed = random.next(3) == 0
                let number = try transaction.commit(isRelaxed ? .relaxed : .durable)
                #expect(number == UInt64(work.contents.count))
                work.contents.append(content)
                work.acknowledged.append(.max)
                if isRelaxed { continue }
            }
            // All that returned is durable now, relaxed commits of before included.
            for index in work.acknowledged.indices where work.acknowledged[index] == .max {
                work.acknowledged[index] = work.files.effectCount
            }
        }
        // Nothing may be added to the effects while they are replayed.
        try engine.close()
        return work
    }

    private func change(
        _ transaction: WriteTransaction, _ content: inout Content, _ random: inout Random
    ) throws {
        for _ in 0..<(1 + random.next(12)) {
            try transaction.makeRoom()
            let known = content.keys.sorted()
            let fill = UInt8(1 + random.next(250))
            switch random.next(4) {
            case 0 where !known.isEmpty:
                let id = known[random.next(known.count)]
                try transaction.freePage(id)
                content[id] = nil
            case 1 where !known.isEmpty:
                let id = known[random.next(known.count)]
                Self.fill(try transaction.editablePage(id), fill)
                content[id] = fill
            default:
                let page = try transaction.allocatePage(.overflow)
                Self.fill(page, fill)
                content[page.id] = fill
            }
        }
    }

    private static func fill(_ page: PageBuffer, _ byte: UInt8) {
        page.fill(byte, from: 64, count: page.count - 64)
    }

    /// Opens an image and compares it with the commit that it says it is.
    private func check(
        _ bytes: [UInt8], _ work: Workload, atLeast: Int, atMost: Int, _ label: String
    ) throws -> Int? {
        let files = FaultyFileSystem(bytes: bytes)
        let engine: Engine
        do {
            engine = try Engine.open(path: "store", options: Self.options, files: files)
        } catch {
            Issue.record("\(label): \(error)")
            return nil
        }
        let snapshot = try engine.snapshot()
        let number = Int(snapshot.commitNumber)
        guard number >= atLeast, number <= atMost else {
            Issue.record("\(label): commit \(number) is outside \(atLeast)...\(atMost)")
            return nil
        }
        for (id, byte) in work.contents[number] {
            let page = try snapshot.page(id)
            #expect(page[64] == byte && page[page.count - 1] == byte, "\(label): \(id)")
        }
        #expect(
            snapshot.catalogRoot == (number == 0 ? nil : PageID(UInt64(number))), "\(label)")
        try goOn(engine, files, work.contents[number], label)
        return number
    }

    /// Writes after the recovery must not touch what the recovery found.
    private func goOn(
        _ engine: Engine, _ files: FaultyFileSystem, _ content: Content, _ label: String
    ) throws {
        var added: PageID?
        for round in 0..<3 {
            let transaction = try engine.beginWrite()
            let page =
                try added.map { try transaction.editablePage($0) }
                ?? transaction.allocatePage(.overflow)
            Self.fill(page, UInt8(200 + round))
            added = page.id
            _ = try transaction.commit()
        }
        let again = try Engine.open(
            path: "store", options: Self.options, files: files.processDeath())
        let snapshot = try again.snapshot()
        for (id, byte) in content {
            #expect(try snapshot.page(id)[64] == byte, "\(label), after going on: \(id)")
        }
        if let added { #expect(try snapshot.page(added)[64] == 202, "\(label)") }
    }

    @Test func `a power cut at any moment leaves a commit, whole`() throws {
        let seed =
            Self.environment["TRELLIS_SEED"].flatMap(UInt64.init)
            ?? UInt64.random(in: 0..<(1 << 40))
        print("seed", seed)
        let start = ContinuousClock.now
        var (images, nested, round) = (0, 0, UInt64(0))
        while ContinuousClock.now - start < .seconds(Self.seconds) {
            let work = try record(seed: seed &+ round)
            var random = seed &+ round
            var medium = MediumImage()
            let effects = work.files.effects
            for (index, effect) in effects.enumerated() {
                if ContinuousClock.now - start >= .seconds(Self.seconds) { break }
                var running: (start: Int, bytes: [UInt8])?
                if case .durableWrite(let place, let bytes) = effect { running = (place, bytes) }
                let least = (work.acknowledged.lastIndex { $0 <= index }) ?? 0
                let most = (work.begun.lastIndex { $0 <= index }) ?? 0
                for image in medium.images(running: running, random: &random) {
                    images += 1
                    let label = "seed \(seed &+ round), effect \(index), image \(images)"
                    let number = try check(
                        image, work, atLeast: least, atMost: most, label)
                    if images % 40 == 0, let number {
                        nested += try cutRecovery(image, work, number, most, label)
                    }
                }
                medium.complete(effect)
            }
            round += 1
        }
        print("\(images) images of \(round) workloads, \(nested) inside recovery")
        #expect(images > 100)
    }

    /// Runs a recovery on a simulated disk, and cuts that too.
    private func cutRecovery(
        _ image: [UInt8], _ work: Workload, _ least: Int, _ most: Int, _ label: String
    ) throws -> Int {
        let files = SimulatedFileSystem(seed: 99)
        let seeded = try files.open("store", .create)
        try image.withView { view throws(StoreError) in try seeded.write(view, at: 0) }
        try seeded.sync()
        let before = files.effectCount
        let engine = try Engine.open(path: "store", options: Self.options, files: files)
        try engine.checkpointNow()
        var medium = MediumImage()
        var random: UInt64 = 5
        var count = 0
        for (index, effect) in files.effects.enumerated() {
            if index >= before {
                var running: (start: Int, bytes: [UInt8])?
                if case .durableWrite(let place, let bytes) = effect { running = (place, bytes) }
                for inner in medium.images(running: running, random: &random).prefix(6) {
                    count += 1
                    _ = try check(
                        inner, work, atLeast: least, atMost: least,
                        "\(label), recovery effect \(index)")
                }
            }
            medium.complete(effect)
        }
        return count
    }
}
