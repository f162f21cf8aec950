import SystemPackage

/// The typed error for a call that the system refused.
func systemFailure(
    _ action: String, _ reason: Errno, path: String, byteOffset: UInt64? = nil
) -> StoreError {
    let code: StoreError.Code =
        switch reason {
        case .noSpace, .diskQuotaExceeded: .diskFull
        case .permissionDenied, .notPermitted, .readOnlyFileSystem: .permissionDenied
        case .noSuchFileOrDirectory, .notDirectory: .notFound
        case .fileTooLarge: .tooLarge
        case .fileExists: .invalidArgument
        default: .io
        }
    return StoreError(
        code, "the system could not \(action): \(reason.description)", byteOffset: byteOffset,
        path: path, systemError: reason.rawValue)
}

/// Makes a call of swift-system, whose errors are `Errno`s, with typed ones.
@inline(__always)
func systemCall<Result>(
    _ action: @autoclosure () -> String, path: String, byteOffset: UInt64? = nil,
    _ call: () throws -> Result
) throws(StoreError) -> Result {
    do {
        return try call()
    } catch {
        let reason = error as? Errno ?? .ioError
        throw systemFailure(action(), reason, path: path, byteOffset: byteOffset)
    }
}

/// Throws when a call of the C library, which returns 0 or the reason, was refused.
func requireSuccess(_ reason: Int32, _ action: String, path: String) throws(StoreError) {
    guard reason != 0 else { return }
    throw systemFailure(action, Errno(rawValue: reason), path: path)
}
