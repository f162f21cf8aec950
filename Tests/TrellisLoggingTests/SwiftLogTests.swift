import Logging
import ObjectGraph
import Primitives
import Testing
import TrellisLogging

/// The library's messages in swift-log.
@Suite(.serialized) struct SwiftLogTests {
    /// Keeps logged lines.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let code = event.metadata?["store"].map { " \($0)" } ?? ""
            lines.all.withLock { lines in
                lines.append("\(event.level) \(event.source)\(code): \(event.message)")
            }
        }
    }

    private final class Pot: CoreStoreObject {
        @Field.Stored("label") var label: String = ""
    }

    @Test func `a message and an error are one line each, with level and code`() throws {
        let lines = Lines()
        let logger = SwiftLogLogger(
            Logger(label: "test") { _ in Handler(lines: lines) }, stopsAtMisuse: false)
        // Other tests are logged too: the program's logger stays what it is.
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Pot>("Pot")]))
        let name = "none-\(UUID().uuidString)"
        var options = EngineOptions()
        options.isReadOnly = true
        let storage = LocalStore(
            fileURL: FileManager.default.temporaryDirectory.appendingPathComponent(name),
            engineOptions: options)
        let error = try #require(throws: CoreStoreError.self) {
            try stack.addStorageAndWait(storage)
        }
        logger.log(
            error: error, message: "no storage.", fileName: #fileID, lineNumber: #line,
            functionName: #function)
        let line = lines.all.withLock { $0 }.last
        #expect(line?.hasPrefix("error Trellis notFound: no storage. ") == true)
        logger.log(
            level: .warning, message: "a warning", fileName: #fileID, lineNumber: #line,
            functionName: #function)
        #expect(lines.all.withLock { $0 }.last == "warning Trellis: a warning")
        logger.assert(
            1 == 2, message: "misused", fileName: #fileID, lineNumber: #line,
            functionName: #function)
        #expect(lines.all.withLock { $0 }.last == "error Trellis: misused")
    }
}
