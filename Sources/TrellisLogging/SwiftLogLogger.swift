import Logging
import ObjectGraph

/// Passes the library's messages on to swift-log:
///
/// ```swift
/// CoreStoreDefaults.logger = SwiftLogLogger(Logger(label: "store"))
/// ```
///
/// An error has its code as metadata, and a failure of the engine the engine's code too.
public struct SwiftLogLogger: CoreStoreLogger {
    private let logger: Logging.Logger
    private let stopsAtMisuse: Bool

    /// A logger that passes messages on to another one.
    ///
    /// - Parameters:
    ///   - logger: receives the messages.
    ///   - stopsAtMisuse: whether misuse that the library can survive ends a debug build, as with
    ///     the default logger. In a release build it is an error in the log.
    public init(_ logger: Logging.Logger, stopsAtMisuse: Bool = true) {
        self.logger = logger
        self.stopsAtMisuse = stopsAtMisuse
    }

    /// Logs a message, at the level that corresponds to its own.
    public func log(
        level: ObjectGraph.LogLevel, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        write(Self.level(level), message, [:], fileName, lineNumber, functionName)
    }

    /// Logs an error at the level `error`.
    public func log(
        error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        var metadata: Logging.Logger.Metadata = ["code": "\(error.errorCode)"]
        if let fault = error.storeError { metadata["store"] = "\(fault.code.rawValue)" }
        write(.error, "\(message) \(error)", metadata, fileName, lineNumber, functionName)
    }

    /// Logs a failed check at the level `error`, and stops a debug build if the logger was made to.
    public func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String,
        fileName: StaticString, lineNumber: Int, functionName: StaticString
    ) {
        guard !condition() else { return }
        let message = message()
        write(.error, message, ["misuse": "true"], fileName, lineNumber, functionName)
        #if DEBUG
            if stopsAtMisuse {
                preconditionFailure(message, file: fileName, line: UInt(lineNumber))
            }
        #endif
    }

    /// Logs a message at the level `critical`, and stops the program.
    public func abort(
        _ message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString
    ) {
        write(.critical, message, [:], fileName, lineNumber, functionName)
        preconditionFailure(message, file: fileName, line: UInt(lineNumber))
    }

    private func write(
        _ level: Logging.Logger.Level, _ message: String, _ metadata: Logging.Logger.Metadata,
        _ fileName: StaticString, _ lineNumber: Int, _ functionName: StaticString
    ) {
        logger.log(
            level: level, "\(message)", metadata: metadata, source: "Trellis",
            file: "\(fileName)", function: "\(functionName)", line: UInt(lineNumber))
    }

    private static func level(_ level: ObjectGraph.LogLevel) -> Logging.Logger.Level {
        switch level {
        case .trace: .trace
        case .notice: .notice
        case .warning: .warning
        case .fatal: .critical
        }
    }
}
