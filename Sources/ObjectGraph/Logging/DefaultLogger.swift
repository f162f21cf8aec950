/// Prints in debug builds, where failed assertions also stop the program. In release builds it
/// prints what the program might never hear of otherwise: that a storage could not be read or
/// written, that an object was read after its storage was closed, and fatal messages.
public final class DefaultLogger: CoreStoreLogger {
    #if DEBUG
        private static let isDebugBuild = true
    #else
        private static let isDebugBuild = false
    #endif

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

    public func log(
        level: LogLevel, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        guard Self.prints(level) else { return }
        FileHandle.standardError.write(Data("Trellis [\(level)] \(message)\n".utf8))
    }

    public func log(
        error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
        functionName: StaticString
    ) {
        guard Self.prints(error) else { return }
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
