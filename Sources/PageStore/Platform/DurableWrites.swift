import CTrellis
import SystemPackage

/// How a write reaches the medium before its call returns.
enum DurableWrites {
    /// A flag for a descriptor of its own, whose writes are durable: one call for each commit.
    /// Nil where no flag promises that; a sync follows each write there.
    static var openOptions: FileDescriptor.OpenOptions? {
        let flag = trellis_durable_write_flag()
        return flag == 0 ? nil : FileDescriptor.OpenOptions(rawValue: flag)
    }
}
