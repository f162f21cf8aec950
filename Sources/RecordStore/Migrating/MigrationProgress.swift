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
    static let reportInterval = 512

    init(_ control: MigrationControl?) { self.control = control }

    func beginCopying(_ count: Int) { (copiedCount, totalCount) = (count, 2 * count) }

    /// - Parameters:
    ///   - step: the index within the part of the plan that runs.
    ///   - isFirst: whether records were copied before it.
    func begin(step: Int, isFirst: Bool) {
        control?.begin(step: step)
        if !isFirst { copiedCount = 0 }
        (doneCount, totalCount) = (copiedCount, 2 * copiedCount)
    }

    /// Sets how many records the step processes beyond those that were copied, which stay half of
    /// its progress: a total that grew would make the progress run backwards.
    func expect(_ count: Int) {
        guard count > 0 else { return }
        (doneCount, totalCount) = copiedCount > 0 ? (count, 2 * count) : (0, count)
    }

    /// Resumes at the count that an earlier run had reached.
    func goOn(at doneCount: Int) { self.doneCount = max(self.doneCount, doneCount) }

    /// Counts one of the expected records, or those of a pass that is left out.
    func count(_ recordCount: Int = 1) { doneCount += recordCount }

    /// Counts any record that is read or written; every 512th calls ``report()``.
    func pass() throws(StoreError) {
        passedCount += 1
        if passedCount.isMultiple(of: Self.reportInterval) { try report() }
    }

    /// Reports the progress; throws if the program cancels the migration.
    func report() throws(StoreError) {
        try control?.advance(to: min(doneCount, totalCount), of: totalCount)
    }

    /// Reports the progress of now, on a thread for which the migrating one may be waiting.
    var standingReport: @Sendable () throws(StoreError) -> Void {
        let doneCount = min(doneCount, totalCount)
        return { [control, totalCount] () throws(StoreError) in
            try control?.advance(to: doneCount, of: totalCount)
        }
    }
}
