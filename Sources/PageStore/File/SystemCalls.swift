#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The typed error for what the system reported last.
func systemFailure(
    _ action: String, path: String, byteOffset: UInt64? = nil, number: Int32 = errno
) -> StoreError {
    let code: StoreError.Code =
        switch number {
        case ENOSPC, EDQUOT: .diskFull
        case EACCES, EPERM, EROFS: .permissionDenied
        case ENOENT, ENOTDIR: .notFound
        case EFBIG: .tooLarge
        default: .io
        }
    // Safety: the system's text ends with a zero and is copied before anything else is called.
    let reason = unsafe String(cString: strerror(number))
    return StoreError(
        code, "the system could not \(action): \(reason)", byteOffset: byteOffset, path: path,
        systemError: number)
}

/// Repeats a call that a signal interrupted.
@inline(__always)
func retryingInterrupts(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
