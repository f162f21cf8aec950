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

    private static let lastErrorKey = "org.trellis.log.lastError"

    /// Whether the last error that the calling thread logged is this one. It may come back to the
    /// library through code of the program that threw it on, and is logged once.
    static func hasLogged(_ error: CoreStoreError) -> Bool {
        guard case .internalError(let cause) = error else { return false }
        return Thread.current.threadDictionary[lastErrorKey] as? NSError === cause
    }

    static func error(
        _ error: CoreStoreError, _ message: String, fileName: StaticString = #fileID,
        lineNumber: Int = #line, functionName: StaticString = #function
    ) {
        if case .internalError(let cause) = error {
            Thread.current.threadDictionary[lastErrorKey] = cause
        }
        CoreStoreDefaults.logger.log(
            error: error, message: message, fileName: fileName, lineNumber: lineNumber,
            functionName: functionName)
    }

    static func assert(
        _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String,
        fileName: StaticString = #fileID, lineNumber: Int = #line,
        functionName: StaticString = #function
    ) {
        // A condition that holds, as nearly all do, costs no look at the logger.
        guard !condition() else { return }
        CoreStoreDefaults.logger.assert(
            false, message: message(), fileName: fileName, lineNumber: lineNumber,
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
