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
