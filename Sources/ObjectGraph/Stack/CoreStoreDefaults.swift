import Primitives

/// The settings that all stacks of the program share.
public enum CoreStoreDefaults {
    private static let currentLogger = Mutex<any CoreStoreLogger>(DefaultLogger())
    private static let currentStack = Mutex<DataStack?>(nil)

    /// The logger that receives all messages; a ``DefaultLogger`` until the program sets another.
    public static var logger: any CoreStoreLogger {
        get { currentLogger.withLock { $0 } }
        set { currentLogger.withLock { $0 = newValue } }
    }

    /// The program's default stack. Set it before it is read; reading it before stops the program.
    public static var dataStack: DataStack {
        get {
            guard let stack = currentStack.withLock({ $0 }) else {
                Log.abort("CoreStoreDefaults.dataStack was read before it was set")
            }
            return stack
        }
        set { currentStack.withLock { $0 = newValue } }
    }
}
