import PageStore
import Primitives

/// How far a migration is, and its end at the program's wish.
package final class MigrationControl: Sendable {
    private struct State {
        var isCancelled = false
        var failure: (any Error)?
        var step = 0
    }

    private let state = Mutex(State())
    /// Says how far a step is, and hears whether the migration goes on.
    package typealias Report = @Sendable (_ step: Int, _ doneCount: Int, _ totalCount: Int) -> Bool

    private let report: Report

    /// - Parameter report: called on the thread that migrates with the number of a step, the
    ///   records that are done, and those that it reads or writes in all. False ends the migration,
    ///   with the file as it was.
    package init(report: @escaping Report) { self.report = report }

    /// Whether the program ended the migration.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// What the program's mapping threw.
    package var failure: (any Error)? { state.withLock { $0.failure } }

    func fail(_ error: any Error) { state.withLock { $0.failure = error } }

    func begin(step: Int) { state.withLock { $0.step = step } }

    func advance(to doneCount: Int, of totalCount: Int) throws(StoreError) {
        if report(state.withLock { $0.step }, doneCount, totalCount) { return }
        state.withLock { $0.isCancelled = true }
        throw StoreError(.invalidArgument, "the migration was cancelled")
    }
}
