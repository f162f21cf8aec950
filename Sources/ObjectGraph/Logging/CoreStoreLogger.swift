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
