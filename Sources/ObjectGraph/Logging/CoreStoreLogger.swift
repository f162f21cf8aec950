import Foundation
import Synchronization

/// How much a message matters.
public enum LogLevel: Sendable {
    case trace, notice, warning, fatal
}

/// Where the library's messages go. Calls come from any thread.
public protocol CoreStoreLogger: Sendable {
    /// Takes a message.
    func log(
        level: LogLevel, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString)

    /// Takes an error that is also thrown or handed to a completion.
    func log(
        error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString)

    /// Is told of misuse that the library can survive; whether to stop is the logger's choice.
    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String,
        fileName: StaticString, lineNumber: Int, functionName: StaticString)

    /// Is told of misuse that the library cannot survive; the program ends when it returns.
    func abort(
        _ message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString)
}

extension CoreStoreLogger {
    public func abort(
        _ message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString
    ) {
        Swift.fatalError(message, file: fileName, line: UInt(lineNumber))
    }
}

/// Prints in debug builds, where failed assertions also stop the program; silent in release
/// builds.
public final class DefaultLogger: CoreStoreLogger {
    public init() {}

    public func log(
        level: LogLevel, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        #if DEBUG
            if case .trace = level { return }
            FileHandle.standardError.write(Data("Trellis [\(level)] \(message)\n".utf8))
        #endif
    }

    public func log(
        error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        #if DEBUG
            FileHandle.standardError.write(Data("Trellis [error] \(message) \(error)\n".utf8))
        #endif
    }

    public func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String,
        fileName: StaticString, lineNumber: Int, functionName: StaticString
    ) {
        #if DEBUG
            if !condition() {
                Swift.fatalError(message(), file: fileName, line: UInt(lineNumber))
            }
        #endif
    }
}

/// What all stacks of the program share.
public enum CoreStoreDefaults {
    private static let currentLogger = Mutex<any CoreStoreLogger>(DefaultLogger())
    private static let currentStack = Mutex<DataStack?>(nil)

    /// Where messages go; a ``DefaultLogger`` until the program sets another.
    public static var logger: any CoreStoreLogger {
        get { currentLogger.withLock { $0 } }
        set { currentLogger.withLock { $0 = newValue } }
    }

    /// The program's default stack. Set it before it is read: without a model file there is no
    /// stack to make up.
    public static var dataStack: DataStack {
        get {
            guard let stack = currentStack.withLock({ $0 }) else {
                Log.abort("CoreStoreDefaults.dataStack was read before it was set")
            }
            return stack
        }
        set { currentStack.withLock { $0 = newValue } }
    }
}

/// The library's own calls of the logger.
enum Log {
    static func message(
        _ level: LogLevel, _ message: String, fileName: StaticString = #fileID,
        lineNumber: Int = #line, functionName: StaticString = #function
    ) {
        CoreStoreDefaults.logger.log(
            level: level, message: message, fileName: fileName, lineNumber: lineNumber,
            functionName: functionName)
    }

    static func error(
        _ error: CoreStoreError, _ message: String, fileName: StaticString = #fileID,
        lineNumber: Int = #line, functionName: StaticString = #function
    ) {
        CoreStoreDefaults.logger.log(
            error: error, message: message, fileName: fileName, lineNumber: lineNumber,
            functionName: functionName)
    }

    static func assert(
        _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String,
        fileName: StaticString = #fileID, lineNumber: Int = #line,
        functionName: StaticString = #function
    ) {
        CoreStoreDefaults.logger.assert(
            condition(), message: message(), fileName: fileName, lineNumber: lineNumber,
            functionName: functionName)
    }

    static func abort(
        _ message: String, fileName: StaticString = #fileID, lineNumber: Int = #line,
        functionName: StaticString = #function
    ) -> Never {
        CoreStoreDefaults.logger.abort(
            message, fileName: fileName, lineNumber: lineNumber, functionName: functionName)
        Swift.fatalError(message)
    }
}
