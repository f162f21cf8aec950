import PageStore

/// Counts the records that a migration has processed.
final class MigrationProgress {
    private let control: MigrationControl?
    private var totalCount = 0
    private(set) var doneCount = 0
    /// Records that are copied before the first step: the first half of that step's progress.
    private var copiedCount = 0
    private var passedCount = 0

    /// How many records are processed between two reports.
    private static let reportInterval = 512

    init(_ control: MigrationControl?) { self.control = control }

    func beginCopying(_ count: Int) { (copiedCount, totalCount) = (count, 2 * count) }

    func begin(step: Int) {
        control?.begin(step: step)
        if step > 0 { copiedCount = 0 }
        (doneCount, totalCount) = (copiedCount, 2 * copiedCount)
    }

    /// Sets how many records the step processes beyond those that were copied.
    func expect(_ count: Int) { totalCount = copiedCount + count }

    /// Resumes at the count that an earlier run had reached.
    func goOn(at doneCount: Int) { self.doneCount = max(self.doneCount, doneCount) }

    /// Counts one of the expected records.
    func count() { doneCount += 1 }

    /// Counts any record that is read or written; every 512th calls ``report()``.
    func pass() throws(StoreError) {
        passedCount += 1
        if passedCount.isMultiple(of: Self.reportInterval) { try report() }
    }

    /// Reports the progress; throws if the program cancels the migration.
    func report() throws(StoreError) {
        try control?.advance(to: min(doneCount, totalCount), of: totalCount)
    }
}
