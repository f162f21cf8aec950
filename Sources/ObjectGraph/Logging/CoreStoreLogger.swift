/// The severity of a message.
public enum LogLevel: Sendable {
    /// From details for debugging to a message after which the program ends.
    case trace, notice, warning, fatal
}

/// Receives the library's messages. Calls come from any thread.
public protocol CoreStoreLogger: Sendable {
    /// Receives a message.
    func log(
        level: LogLevel, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString)

    /// Receives an error that is also thrown or passed to a completion.
    func log(
        error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString)

    /// Receives the check of a use that the library can survive; the logger decides whether to stop
    /// the program when the condition is false.
    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String,
        fileName: StaticString, lineNumber: Int, functionName: StaticString)

    /// Receives misuse that the library cannot survive; the program ends when it returns.
    func abort(
        _ message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString)
}

extension CoreStoreLogger {
    /// Stops the program with the message.
    public func abort(
        _ message: String, fileName: StaticString, lineNumber: Int, functionName: StaticString
    ) {
        Swift.fatalError(message, file: fileName, line: UInt(lineNumber))
    }
}
