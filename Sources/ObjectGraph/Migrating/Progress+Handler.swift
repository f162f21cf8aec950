import Primitives

extension Progress {
    /// Sets the closure that is called with the progress of a migration: once for its state now,
    /// then as its fraction changes, at most 20 times a second, and at its end. It replaces an
    /// earlier handler; nil removes it.
    ///
    /// The handler is called where the view of the migrating stack lives. For any other progress it
    /// is called once, on the main queue.
    @preconcurrency
    public func setProgressHandler(_ closure: (@Sendable (Progress) -> Void)?) {
        MigrationProgressTable.setHandler(closure, of: self)
    }
}

#if canImport(ObjectiveC)
    typealias DescribedProgress = Progress
#else
    /// A progress with the descriptions that Foundation gives on Apple's platforms alone.
    final class DescribedProgress: Progress, @unchecked Sendable {
        override var localizedDescription: String! {
            "\(Int(fractionCompleted * 100))% completed"
        }

        override var localizedAdditionalDescription: String! {
            "\(completedUnitCount) of \(totalUnitCount)"
        }
    }
#endif

/// The handlers of migrations' progress, which Foundation has no place for and, off Apple's
/// platforms, no observation.
enum MigrationProgressTable {
    private struct Entry {
        weak var progress: Progress?
        var executor: ViewExecutor
        var handler: (@Sendable (Progress) -> Void)?
        var lastCall: ContinuousClock.Instant?
        /// Whether the migration has ended, so that no handler is kept for it.
        var hasEnded = false
    }

    /// The least time between two calls of a handler, but for the one at the end.
    private static let interval = Duration.milliseconds(50)

    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// A progress whose handler is called where a view lives.
    static func add(_ progress: Progress, _ executor: ViewExecutor) {
        entries.withLock { entries in
            entries = entries.filter { $0.value.progress != nil }
            entries[ObjectIdentifier(progress)] = Entry(progress: progress, executor: executor)
        }
    }

    static func setHandler(_ handler: (@Sendable (Progress) -> Void)?, of progress: Progress) {
        let executor = entries.withLock { entries in
            // An object that is gone may have had the same place in memory.
            if entries[ObjectIdentifier(progress)]?.progress !== progress {
                entries[ObjectIdentifier(progress)] = nil
            }
            if entries[ObjectIdentifier(progress)]?.hasEnded == false {
                entries[ObjectIdentifier(progress)]?.handler = handler
            }
            return entries[ObjectIdentifier(progress)]?.executor ?? ViewExecutor(.main)
        }
        guard let handler else { return }
        executor.run { handler(progress) }
    }

    /// Ends a migration: reports all units if it is done, and lets the handler go.
    static func end(_ progress: Progress?, isDone: Bool) {
        guard let progress else { return }
        if isDone { report(progress.totalUnitCount, of: progress) }
        // Released without the lock: what goes may call back.
        let last = entries.withLock { entries in
            defer {
                entries[ObjectIdentifier(progress)]?.handler = nil
                entries[ObjectIdentifier(progress)]?.hasEnded = true
            }
            return entries[ObjectIdentifier(progress)]
        }
        withExtendedLifetime(last) {}
    }

    /// Says that so many units are done.
    static func report(_ count: Int64, of progress: Progress) {
        progress.completedUnitCount = count
        let isEnd = count >= progress.totalUnitCount
        let due: Entry? = entries.withLock { entries in
            let (key, now) = (ObjectIdentifier(progress), ContinuousClock.now)
            guard let entry = entries[key], entry.handler != nil else { return nil }
            if !isEnd, let last = entry.lastCall, now - last < interval { return nil }
            entries[key]?.lastCall = now
            return entry
        }
        guard let due, let handler = due.handler else { return }
        due.executor.run { handler(progress) }
    }
}
