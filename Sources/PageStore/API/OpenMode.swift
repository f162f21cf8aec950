/// The purpose for which a store is opened.
package enum OpenMode: Hashable, Sendable {
    /// For writing, by one process at a time. Creates the store when nothing is there.
    case writing
    /// For reading, beside a writer of another process or without one. Nothing is written.
    case reading
    /// For reading the state of the checkpoint before the newest one; the log is not replayed.
    case readingPrevious
    /// For tools that look into a damaged file: a map or a log that cannot be read is reported in
    /// ``Engine/damage``, and the rest is shown.
    case readingDamaged

    package var isReadOnly: Bool { self != .writing }
    package var showsPrevious: Bool { self == .readingPrevious }
    package var toleratesDamage: Bool { self == .readingDamaged }
    /// Whether the store can move on to commits of other processes.
    package var follows: Bool { isReadOnly && !showsPrevious }
}
