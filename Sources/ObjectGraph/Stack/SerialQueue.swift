import Dispatch
import RecordStore

/// A queue that runs one block at a time, in the order in which they came. Where there is a
/// schedule it decides when a block begins.
final class SerialQueue: Sendable {
    let queue: DispatchQueue
    private let schedule: (any Schedule)?
    private let turns: TurnQueue

    init(_ label: String, _ schedule: (any Schedule)?) {
        queue = DispatchQueue(label: label)
        self.schedule = schedule
        turns = TurnQueue(schedule)
    }

    func async(execute work: @escaping @Sendable () -> Void) {
        guard let schedule else { return queue.async(execute: work) }
        let ticket = turns.reserve()
        schedule.begin(isTimed: false) { [turns] in
            turns.wait(for: ticket)
            work()
            turns.endTurn()
        }
    }
}
