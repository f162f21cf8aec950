import TestSupport

/// One move of a strand beside a stack whose view lives on an executor of the proof.
enum ViewMove: String, CaseIterable {
    /// A transaction on the strand's thread, and work on the executor that must find it.
    case commit
    /// A transaction on the strand's thread, which observers may be told of later.
    case quiet
    /// A transaction with a completion.
    case completed
    /// A transaction that a task awaits elsewhere, and one that a task on the executor awaits.
    case awaited, awaitedThere
    /// Transactions on the executor.
    case commitThere, quietThere, commitInCallback
    case refetch, look
    /// One more monitor with its publisher; the oldest of them released; its observer removed.
    case observe, release, remove
}

/// The moves of each strand of a run.
struct ViewScript: CustomStringConvertible {
    var strands: [[ViewMove]]

    init(_ strands: [[ViewMove]]) { self.strands = strands }

    var description: String {
        strands.map { $0.map(\.rawValue).joined(separator: " ") }.joined(separator: " | ")
    }

    /// Every order of their first moves is tried: each row of what a callback may see that is a
    /// matter of threads.
    static let scripts: [ViewScript] = [
        ViewScript([[.commit], [.commit]]),
        ViewScript([[.commit], [.completed]]),
        ViewScript([[.quiet], [.commitThere]]),
        ViewScript([[.awaited], [.awaitedThere]]),
        ViewScript([[.completed, .completed], [.commit]]),
        ViewScript([[.commit], [.commit], [.refetch]]),
        ViewScript([[.commit], [.commit], [.release]]),
        ViewScript([[.commit], [.awaitedThere], [.look]]),
        ViewScript([[.commit], [.quietThere, .look]]),
        ViewScript([[.commitInCallback], [.commit], [.commit]]),
        ViewScript([[.commit], [.completed], [.remove]]),
        ViewScript([[.commit], [.quiet], [.observe]]),
        ViewScript([[.completed], [.refetch, .refetch], [.commitThere]]),
        ViewScript([[.commit, .commit], [.completed, .commit]]),
    ]

    static func random(_ random: inout SeededRandom) -> ViewScript {
        let moves = ViewMove.allCases
        return ViewScript(
            (0..<(2 + random.below(3))).map { _ in
                (0...random.below(5)).map { _ in moves[random.below(moves.count)] }
            })
    }
}
