import Foundation

/// Data that a program attaches to a stack, a transaction, a monitor or a publisher, keyed by the
/// address of a static variable. Any thread may use it.
public final class UserInfo: @unchecked Sendable {
    private let lock = NSRecursiveLock()
    /// By the address, which is never followed.
    private var values: [UInt: Any] = [:]

    init() {}

    /// The value of a key; nil when it has none. Setting nil removes it.
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

    /// The value of a key, made and kept on its first use. The closure runs with the lock held.
    public subscript(key: UnsafeRawPointer, lazyInit make: () -> Any) -> Any {
        lock.lock()
        defer { lock.unlock() }
        if let known = values[UInt(bitPattern: key)] { return known }
        let value = make()
        values[UInt(bitPattern: key)] = value
        return value
    }
}
