import Dispatch
import Primitives
import TestSupport
import Testing

@testable import ObjectGraph

/// As the child program declares it.
private final class Entry: CoreStoreObject {
    @Field.Stored("batch") var batch: Int = 0
    @Field.Stored("position") var position: Int = 0
    @Field.Stored("text") var text: String = ""
    @Field.Relationship("previous", inverse: \.$next) var previous: Entry?
    @Field.Relationship("next") var next: Entry?
}

/// Checks at each change of a list with a section a batch that all batches are whole.
private final class WholeBatches: ListSectionObserver {
    typealias ListEntityType = Entry

    private let state = Mutex<(changeCount: Int, fault: String?)>((0, nil))

    var changeCount: Int { state.withLock { $0.changeCount } }
    var fault: String? { state.withLock { $0.fault } }

    func listMonitorDidChange(_ monitor: ListMonitor<Entry>) {
        let fault = Self.fault(of: monitor)
        state.withLock { state in
            state.changeCount += 1
            if state.fault == nil { state.fault = fault }
        }
    }

    func listMonitorDidRefetch(_ monitor: ListMonitor<Entry>) { listMonitorDidChange(monitor) }

    /// The child writes 1 to 40 entries a batch, and keeps the last 60 batches.
    static func fault(of monitor: ListMonitor<Entry>) -> String? {
        var last: Int?
        for (index, section) in monitor.sections().enumerated() {
            guard let batch = Int(section.name) else { return "a section named \(section.name)" }
            let entries = monitor.objects(in: index)
            guard entries.map(\.position) == Array(0..<(1 + batch % 40)) else {
                return "batch \(batch) has \(entries.count) entries"
            }
            guard entries.allSatisfy({ $0.text == "batch \(batch), entry \($0.position)" }) else {
                return "batch \(batch) has other texts"
            }
            if let last, batch != last + 1 { return "batch \(batch) follows \(last)" }
            last = batch
        }
        return monitor.numberOfSections() > 60 ? "batches that are gone are listed" : nil
    }
}

/// Lists that follow a program of another process, which is killed at any moment.
@Suite(.timeLimit(.minutes(hangMinutes))) struct KilledWriterTests {
    /// The child program, which writes until it is killed.
    private final class Writer {
        private let process = Process()
        private let output = Pipe()
        private var rest = ""
        private(set) var lastBatch = 0

        init(_ url: URL) throws {
            let own = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            process.executableURL = own.deletingLastPathComponent()
                .appendingPathComponent("KillChild")
            process.arguments = ["write", url.path]
            process.standardOutput = output
            try process.run()
        }

        /// Reads acknowledgements until there are this many batches; false if the child has ended.
        func acknowledge(_ count: Int) -> Bool {
            var left = count
            while left > 0 {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else { return false }
                let lines = (rest + String(decoding: data, as: UTF8.self))
                    .split(separator: "\n", omittingEmptySubsequences: false)
                for line in lines.dropLast() {
                    lastBatch = Int(line) ?? lastBatch
                    left -= 1
                }
                rest = String(lines.last ?? "")
            }
            return true
        }

        func kill() {
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            _ = acknowledge(.max)
        }
    }

    private func reader(_ url: URL, _ queue: DispatchQueue) throws -> DataStack {
        var options = EngineOptions()
        options.isReadOnly = true
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Entry>("Entry", indexes: [[\.$batch], [\.$text]])]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url, engineOptions: options))
        return stack
    }

    @Test func `a list shows whole batches of writers that are killed`() throws {
        var random = SeededRandom(for: "KilledWriterTests")
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let queue = DispatchQueue(label: "view")
        let observer = WholeBatches()
        var writer = try Writer(url)
        try #require(writer.acknowledge(1))
        let stack = try reader(url, queue)
        let monitor = queue.sync {
            let monitor = stack.monitorSectionedList(
                From<Entry>().sectionBy(\.$batch)
                    .orderBy(.ascending(\.$batch), .ascending(\.$position)))
            monitor.addObserver(observer)
            return monitor
        }
        for round in 0..<6 {
            if round > 0 { writer = try Writer(url) }
            try #require(writer.acknowledge(1 + random.below(40)))
            writer.kill()
            let last = writer.lastBatch
            // All acknowledged batches are shown, and at most the one commit that was not
            // acknowledged.
            let end = ContinuousClock.now + .seconds(30 * hangMinutes)
            var shown = 0
            while shown < last, ContinuousClock.now < end {
                shown = queue.sync { Int(monitor.sections().last?.name ?? "") ?? 0 }
                usleep(1000)
            }
            #expect(last...last + 1 ~= shown, "round \(round): \(shown), \(last)")
            queue.sync {
                #expect(WholeBatches.fault(of: monitor) == nil, "round \(round)")
            }
        }
        #expect(observer.fault == nil && observer.changeCount > 6)
        queue.sync { monitor.removeObserver(observer) }
    }
}
