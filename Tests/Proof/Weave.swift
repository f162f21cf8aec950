import Dispatch
import PageStore
import Primitives
import TestSupport

/// Runs threads of one store one at a time and decides at each meeting which one continues, so that
/// a run can be repeated, and other orders can be tried.
///
/// A thread of a weave is a *strand*. Exactly one runs until it reaches a meeting, where it may be
/// stopped, but never while it holds a lock. The weave ignores meetings of other threads, before
/// and after the run.
package final class Weave: Schedule {
    /// How the next strand is chosen where the given choices end.
    package enum Manner: Sendable {
        /// The running strand continues for as long as it can.
        case steady
        /// At every n-th meeting on average, any strand continues.
        case restless(Int)
        /// The running strand continues, except at these meetings.
        case interrupted(Set<Int>)
    }

    /// Where strands may stop.
    package enum Grain: Sendable {
        case fine
        /// At gates, steps of scripts and calls that change the file alone.
        case coarse
        /// At gates, and where a strand cannot go on: not before a lock that is free.
        case moves
    }

    /// A meeting at which more than one strand could go on.
    package struct Choice: Sendable {
        /// The strands that could continue; first the one that would without a switch.
        var options: [Int]
        var chosen: Int
        /// Whether choosing another than the first preempts a thread that could go on.
        var isInterruption: Bool
    }

    private struct Switch {
        var from: Int
        var place: StaticString
        var meeting: Int
        var to: Int
    }

    private enum Status {
        case ready, ended
        case waiting(ObjectIdentifier)
    }

    private struct Strand {
        let name: String
        let mayGoOn = DispatchSemaphore(value: 0)
        var status = Status.ready
    }

    private struct State {
        var strands: [Strand] = []
        /// Nil before and after the run.
        var running: Int?
        var lockDepth = 0
        var meetingCount = 0
        var choices: [Choice] = []
        var switches: [Switch] = []
        var random: SeededRandom
        var timedWorkLeft = 2
        var failure: String?
    }

    /// No valid run is this long: one that is does not end.
    private static let meetingCountMax = 200_000

    private let state: Mutex<State>
    private let isOver = DispatchSemaphore(value: 0)
    private let threads: ThreadPool
    private let prefix: [Int]
    private let manner: Manner
    private let grain: Grain

    /// - Parameter prefix: who goes on at the first choices.
    package init(
        _ threads: ThreadPool, prefix: [Int] = [], manner: Manner = .steady, grain: Grain = .fine,
        seed: UInt64 = 0
    ) {
        self.threads = threads
        self.prefix = prefix
        self.manner = manner
        self.grain = grain
        state = Mutex(State(random: SeededRandom(seed: seed)))
    }

    package var choices: [Choice] { state.withLock { $0.choices } }
    package var meetingCount: Int { state.withLock { $0.meetingCount } }
    package var failure: String? { state.withLock { $0.failure } }

    /// The switches of the run so far.
    package var trace: String {
        state.withLock { state in
            state.switches.map { step in
                "\(state.strands[step.from].name) stops before \(step.place) "
                    + "(meeting \(step.meeting)), \(state.strands[step.to].name) goes on"
            }.joined(separator: "; ")
        }
    }

    package func fail(_ text: String) {
        state.withLock { state in
            if state.failure == nil { state.failure = text }
        }
    }

    /// Runs strands to their end; false when they wait for each other, or do not end. Then their
    /// threads stay where they are.
    package func run(_ bodies: [(name: String, body: @Sendable () -> Void)]) -> Bool {
        for (name, body) in bodies { add(name, body) }
        let first = state.withLock { state in
            guard !state.strands.isEmpty else { return nil as DispatchSemaphore? }
            let chosen = choose(among: Array(state.strands.indices), current: nil, &state)
            state.running = chosen
            return state.strands[chosen].mayGoOn
        }
        guard let first else { return true }
        first.signal()
        isOver.wait()
        return state.withLock { state in
            state.strands.allSatisfy { if case .ended = $0.status { true } else { false } }
        }
    }

    private func add(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let (index, mayGoOn) = state.withLock { state in
            state.strands.append(Strand(name: name))
            return (state.strands.count - 1, state.strands[state.strands.count - 1].mayGoOn)
        }
        threads.run { [self] in
            mayGoOn.wait()
            body()
            end(index)
        }
    }

    // MARK: Schedule

    package func meet(_ place: MeetingPlace) {
        guard grain == .fine || place == .gate else { return }
        switch place {
        case .state: stop(at: "state")
        case .space: stop(at: "space")
        case .gate: stop(at: "gate")
        case .file: stop(at: "reading")
        }
    }

    /// A meeting at a step of a script.
    package func meetAtStep() { stop(at: "step") }

    /// A call that changes the file.
    func meetAtChange() { stop(at: "change") }

    package func enter(_ place: MeetingPlace) {
        meet(place)
        state.withLock { state in
            if state.running != nil { state.lockDepth += 1 }
        }
    }

    package func leave() {
        state.withLock { state in
            if state.running != nil { state.lockDepth -= 1 }
        }
    }

    package func wait(at gate: ObjectIdentifier, until attempt: () -> Bool) {
        if grain != .moves { stop(at: "gate") }
        while !attempt() {
            let current = state.withLock { state in
                if state.lockDepth > 0, state.failure == nil {
                    state.failure = "a strand waits at a gate while it holds a lock"
                }
                return state.running
            }
            precondition(current != nil, "no strand runs that could open the gate")
            state.withLock { state in
                if let current { state.strands[current].status = .waiting(gate) }
            }
            goOn(from: current, at: "closed gate")
        }
    }

    package func wake(_ gate: ObjectIdentifier) {
        state.withLock { state in
            for index in state.strands.indices {
                if case .waiting(gate) = state.strands[index].status {
                    state.strands[index].status = .ready
                }
            }
        }
    }

    package func begin(isTimed: Bool, _ work: @escaping @Sendable () -> Void) {
        let (isWoven, number) = state.withLock { state in
            if isTimed { state.timedWorkLeft -= 1 }
            let isDropped = isTimed && state.timedWorkLeft < 0
            return (state.running != nil && !isDropped, state.strands.count)
        }
        if isWoven {
            add("\(isTimed ? "timer" : "background") \(number)", work)
        } else if !isTimed {
            work()
        }
    }

    // MARK: Choosing

    /// The strand that runs may be made to stop here.
    private func stop(at place: StaticString) {
        let current = state.withLock { state -> Int? in
            guard let running = state.running, state.lockDepth == 0 else { return nil }
            state.meetingCount += 1
            return running
        }
        if let current { goOn(from: current, at: place) }
    }

    private func end(_ index: Int) {
        state.withLock { $0.strands[index].status = .ended }
        goOn(from: index, at: "end")
    }

    /// Chooses the strand that continues, starts it, and stops the caller until it is chosen again.
    private func goOn(from current: Int?, at place: StaticString) {
        guard let current else { return }
        let (next, own) = state.withLock { state -> (DispatchSemaphore?, DispatchSemaphore?) in
            let others = state.strands.indices.filter { index in
                if index != current, case .ready = state.strands[index].status {
                    true
                } else {
                    false
                }
            }
            var options = others
            var isReady = false
            if case .ready = state.strands[current].status {
                options.insert(current, at: 0)
                isReady = true
            }
            let isEndless = state.meetingCount > Self.meetingCountMax
            guard !options.isEmpty, !isEndless else {
                finish(isEndless, &state)
                return (isOver, state.strands[current].mayGoOn)
            }
            let chosen = choose(among: options, current: isReady ? current : nil, &state)
            guard chosen != current else { return (nil, nil) }
            state.switches.append(
                Switch(from: current, place: place, meeting: state.meetingCount, to: chosen))
            state.running = chosen
            return (state.strands[chosen].mayGoOn, state.strands[current].mayGoOn)
        }
        guard let next else { return }
        let hasEnded = state.withLock { state in
            if case .ended = state.strands[current].status { true } else { false }
        }
        next.signal()
        if !hasEnded { own?.wait() }
    }

    private func finish(_ isEndless: Bool, _ state: inout State) {
        state.running = nil
        let waiting = state.strands.filter {
            if case .ended = $0.status { false } else { true }
        }
        guard !waiting.isEmpty, state.failure == nil else { return }
        let names = waiting.map(\.name).joined(separator: ", ")
        state.failure =
            isEndless ? "it does not end: \(names)" : "all wait for each other: \(names)"
    }

    /// The strand that continues; `current` is among the options, or cannot continue.
    private func choose(among options: [Int], current: Int?, _ state: inout State) -> Int {
        guard options.count > 1 else { return options[0] }
        let number = state.choices.count
        var chosen = options[0]
        if number < prefix.count {
            chosen = prefix[number]
            if !options.contains(chosen) {
                if state.failure == nil { state.failure = "the run cannot be had again" }
                chosen = options[0]
            }
        } else {
            switch manner {
            case .steady: break
            case .restless(let interval):
                if current == nil || state.random.below(interval) == 0 {
                    chosen = options[state.random.below(options.count)]
                }
            case .interrupted(let meetings):
                if current == nil {
                    chosen = options[state.random.below(options.count)]
                } else if meetings.contains(state.meetingCount) {
                    chosen = options[1 + state.random.below(options.count - 1)]
                }
            }
        }
        state.choices.append(
            Choice(options: options, chosen: chosen, isInterruption: current != nil))
        return chosen
    }
}

extension Weave {
    /// The choices that lead to the next run in order after one, with at most so many
    /// interruptions; nil when that was the last.
    package static func prefix(after choices: [Choice], interruptionsMax: Int) -> [Int]? {
        var spent = 0
        var spentBefore: [Int] = []
        for choice in choices {
            spentBefore.append(spent)
            if choice.isInterruption && choice.chosen != choice.options[0] { spent += 1 }
        }
        for (index, choice) in choices.enumerated().reversed() {
            guard let position = choice.options.firstIndex(of: choice.chosen),
                position + 1 < choice.options.count,
                spentBefore[index] + (choice.isInterruption ? 1 : 0) <= interruptionsMax
            else { continue }
            return choices[..<index].map(\.chosen) + [choice.options[position + 1]]
        }
        return nil
    }
}
