import Foundation

/// Data that a program hangs on a stack or a transaction, keyed by the address of a static
/// variable. Any thread may use it.
public final class UserInfo: @unchecked Sendable {
    private let lock = NSRecursiveLock()
    /// By the address, which is never followed.
    private var values: [UInt: Any] = [:]

    init() {}

    public subscript(key: UnsafeRawPointer) -> Any? {
        get {
            lock.lock()
            defer { lock.unlock() }
            return values[UInt(bitPattern: key)]
        }
        set {
            lock.lock()
            defer { lock.unlock() }
            values[UInt(bitPattern: key)] = newValue
        }
    }

    /// The value, made and kept on the first use.
    public subscript(key: UnsafeRawPointer, lazyInit make: () -> Any) -> Any {
        lock.lock()
        defer { lock.unlock() }
        if let known = values[UInt(bitPattern: key)] { return known }
        let value = make()
        values[UInt(bitPattern: key)] = value
        return value
    }
}
