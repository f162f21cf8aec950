/// What programs that come from CoreStore call a store in a file, so that a port compiles first and
/// is cleaned up afterwards. It goes with version 2.
@available(*, deprecated, renamed: "LocalStore")
public typealias SQLiteStore = LocalStore
