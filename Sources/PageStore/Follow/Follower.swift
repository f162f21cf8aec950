import Dispatch

/// Moves a store that was opened for reading on when another process has committed, and tells
/// its observers.
///
/// The system's notices about the file say when to look; where there are none it looks ten times
/// a second. It ends with the store, or when the store cannot be followed any further.
final class Follower: Sendable {
    typealias Observer = @Sendable (Result<UInt64, StoreError>) -> Void

    private struct State {
        var observers: [UInt64: Observer] = [:]
        var nextObserver: UInt64 = 0
        var watch: (any FileWatch)?
        var isLookPlanned = false
        /// Why it has ended; nil while it goes on.
        var end: StoreError?
        var isEnded: Bool { end != nil }
    }

    /// Changes within this time are looked at together.
    private static let pause = DispatchTimeInterval.milliseconds(2)
    private static let pollingInterval = DispatchTimeInterval.milliseconds(100)

    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "trellis.follow", qos: .utility)
    private let schedule: (any Schedule)?
    /// Held for one look: a schedule may begin several, the queue runs one at a time.
    private let looking: HandoffLock
    /// The newest commit if it or where it lies is new. Throws `closed` without a store.
    private let advance: @Sendable () throws(StoreError) -> UInt64?

    init(_ following: Following, _ schedule: (any Schedule)?) {
        self.schedule = schedule
        looking = HandoffLock(schedule)
        advance = { [weak following] () throws(StoreError) in
            guard let following else {
                throw StoreError(.closed, "the store has been closed")
            }
            return try following.step()
        }
    }

    var isEnded: Bool { state.withLock { $0.isEnded } }

    func start(_ file: any StoreFile) {
        let watch = file.watch(on: queue) { [weak self] in self?.lookSoon() }
        if let watch { state.withLock { $0.watch = watch } } else { poll() }
        // For commits from before the watch began.
        lookSoon()
    }

    /// Returns nil where it has ended, after telling the observer why.
    func add(_ observer: @escaping Observer) -> UInt64? {
        let (number, end) = state.withLock { state -> (UInt64?, StoreError?) in
            if let end = state.end { return (nil, end) }
            defer { state.nextObserver += 1 }
            state.observers[state.nextObserver] = observer
            return (state.nextObserver, nil)
        }
        if let end { observer(.failure(end)) }
        return number
    }

    func remove(_ number: UInt64) {
        state.withLock { _ = $0.observers.removeValue(forKey: number) }
    }

    /// Tells the last there is to tell.
    func end(_ reason: StoreError) {
        let left = state.withLock { state in
            defer { state = State(end: reason) }
            return state
        }
        left.watch?.cancel()
        for observer in left.observers.values { observer(.failure(reason)) }
    }

    private func poll() {
        queue.asyncAfter(deadline: .now() + Self.pollingInterval) { [weak self] in
            guard let self, !isEnded else { return }
            look()
            poll()
        }
    }

    private func lookSoon() {
        let isFirst = state.withLock { state in
            defer { state.isLookPlanned = true }
            return !state.isLookPlanned && !state.isEnded
        }
        guard isFirst else { return }
        let work: @Sendable () -> Void = { [weak self] in self?.look() }
        if let schedule {
            schedule.begin(isTimed: false, work)
        } else {
            queue.asyncAfter(deadline: .now() + Self.pause, execute: work)
        }
    }

    private func look() {
        looking.lock()
        defer { looking.unlock() }
        let isEnded = state.withLock { state in
            state.isLookPlanned = false
            return state.isEnded
        }
        guard !isEnded else { return }
        do throws(StoreError) {
            if let number = try advance() { tell(.success(number)) }
        } catch {
            switch error.code {
            // The writer was faster, many times; it may be so no more.
            case .snapshotTooOld: lookSoon()
            default: end(error)
            }
        }
    }

    private func tell(_ news: Result<UInt64, StoreError>) {
        // In the order in which they came, outside the lock.
        let observers = state.withLock { $0.observers.sorted { $0.key < $1.key } }
        for (_, observer) in observers { observer(news) }
    }
}
