import PageStore

/// How far a migration is.
final class MigrationProgress {
    private let control: MigrationControl?
    private var totalCount = 0
    private(set) var doneCount = 0
    /// How many records are copied before the steps begin: the first half of the first one.
    private var copiedCount = 0
    private var passedCount = 0

    /// How many records are passed between two looks at whether the program goes on.
    private static let reportInterval = 512

    init(_ control: MigrationControl?) { self.control = control }

    func beginCopying(_ count: Int) { (copiedCount, totalCount) = (count, 2 * count) }

    func begin(step: Int) {
        control?.begin(step: step)
        if step > 0 { copiedCount = 0 }
        (doneCount, totalCount) = (copiedCount, 2 * copiedCount)
    }

    /// What follows is so many records.
    func expect(_ count: Int) { totalCount = copiedCount + count }

    /// An earlier run has come so far.
    func goOn(at doneCount: Int) { self.doneCount = max(self.doneCount, doneCount) }

    /// One more of those that are expected.
    func count() { doneCount += 1 }

    /// One more of any. At times says how far the migration is: see ``report()``.
    func pass() throws(StoreError) {
        passedCount += 1
        if passedCount.isMultiple(of: Self.reportInterval) { try report() }
    }

    /// Says how far the migration is; throws where the program has cancelled it.
    func report() throws(StoreError) {
        try control?.advance(to: min(doneCount, totalCount), of: totalCount)
    }
}
