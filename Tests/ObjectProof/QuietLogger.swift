import ObjectGraph

/// Logs no errors: proofs cause thousands and judge them where they are thrown.
package struct QuietLogger: CoreStoreLogger {
    package init() {}

    /// Installs the logger in a program that runs only proofs.
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
