import Foundation
import ObjectGraph

/// Goes on where the library asserts, and says nothing, unless a test asks for more.
struct TestLogger: CoreStoreLogger {
    enum Response {
        case none, print
        /// Ends the process with the code 77.
        case exit
    }

    var assertion = Response.none
    var printsMessages = false
    var onMessage: @Sendable () -> Void = {}

    func log(
        level: LogLevel, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        if printsMessages { write("\(level): \(message)") }
        onMessage()
    }

    func log(
        error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {}

    func assert(
        _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String,
        fileName: StaticString, lineNumber: Int, functionName: StaticString
    ) {
        guard assertion != .none, !condition() else { return }
        write("asserted: \(message())")
        if assertion == .exit { exit(77) }
    }

    private func write(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}
