/// Prints in debug builds, where failed assertions also stop the program. In release builds it
/// prints what the program might never hear of otherwise: that a storage could not be read or
/// written.
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
        #if !DEBUG
            guard error.isStorageFault else { return }
        #endif
        FileHandle.standardError.write(Data("Trellis [error] \(message) \(error)\n".utf8))
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
