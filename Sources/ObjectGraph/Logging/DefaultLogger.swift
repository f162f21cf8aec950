/// Prints to standard error in debug builds, where failed assertions also stop the program. In
/// release builds it prints only the messages that a program might not receive otherwise: a storage
/// that could not be read or written, an object that was read after its storage was closed, and
/// fatal messages.
public final class DefaultLogger: CoreStoreLogger {
    #if DEBUG
        private static let isDebugBuild = true
    #else
        private static let isDebugBuild = false
    #endif

    /// The library's logger until the program sets another.
    public init() {}

    static func prints(_ level: LogLevel, isDebugBuild: Bool = isDebugBuild) -> Bool {
        switch level {
        case .trace: false
        case .notice, .warning: isDebugBuild
        case .fatal: true
        }
    }

    static func prints(_ error: CoreStoreError, isDebugBuild: Bool = isDebugBuild) -> Bool {
        isDebugBuild || error.storeError?.leavesValuesUnread == true
    }

    /// Prints a message: in debug builds from notices on, in release builds a fatal one only.
    public func log(
        level: LogLevel, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        guard Self.prints(level) else { return }
        FileHandle.standardError.write(Data("Trellis [\(level)] \(message)\n".utf8))
    }

    /// Prints an error: in debug builds every one, in release builds a storage's failure only.
    public func log(
        error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        guard Self.prints(error) else { return }
        FileHandle.standardError.write(Data("Trellis [error] \(message) \(error)\n".utf8))
    }

    /// Stops the program in a debug build when the condition is false. In a release build the
    /// condition is not evaluated.
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
