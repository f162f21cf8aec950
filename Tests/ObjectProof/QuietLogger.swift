import ObjectGraph

/// Says nothing of errors, which proofs make by the thousand and judge where they are thrown.
package struct QuietLogger: CoreStoreLogger {
    package init() {}

    /// For a program that runs proofs alone.
    package static func install() { CoreStoreDefaults.logger = QuietLogger() }

    package func log(
        level: LogLevel, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        if level == .fatal { print(message) }
    }

    package func log(
        error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {}

    package func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String,
        fileName: StaticString, lineNumber: Int, functionName: StaticString
    ) {
        precondition(condition(), message())
    }
}
