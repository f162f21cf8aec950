import PageStore
import Primitives

/// Reports the progress of a migration, and lets the program cancel it.
package final class MigrationControl: Sendable {
    private struct State {
        var isCancelled = false
        var failure: (any Error)?
        /// The steps of earlier parts of the plan, which have been committed.
        var committedCount = 0
        var step = 0
    }

    private let state = Mutex(State())
    /// Receives the progress of a step; returns false to cancel the migration.
    package typealias Report = @Sendable (_ step: Int, _ doneCount: Int, _ totalCount: Int) -> Bool

    private let report: Report

    /// - Parameter report: called with the index of a step, the number of records done, and the
    ///   number that the step reads or writes in all. The migrating thread calls, and while both
    ///   models are compared also another one, perhaps at the same time. False cancels the
    ///   migration and leaves the file as it was.
    package init(report: @escaping Report) { self.report = report }

    /// Whether the program cancelled the migration.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// The error that the program's mapping threw.
    package var failure: (any Error)? { state.withLock { $0.failure } }

    func fail(_ error: any Error) { state.withLock { $0.failure = error } }

    /// - Parameter step: the index within the part of the plan that runs.
    func begin(step: Int) { state.withLock { $0.step = $0.committedCount + step } }

    /// Counts the steps of a part of the plan that has been committed.
    func noteCommitted(stepCount: Int) {
        state.withLock { state in
            state.committedCount += stepCount
            state.step = state.committedCount
        }
    }

    func advance(to doneCount: Int, of totalCount: Int) throws(StoreError) {
        if report(state.withLock { $0.step }, doneCount, totalCount) { return }
        state.withLock { $0.isCancelled = true }
        throw StoreError(.invalidArgument, "the migration was cancelled")
    }
}
