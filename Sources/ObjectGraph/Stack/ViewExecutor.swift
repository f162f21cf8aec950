import CTrellis
import Dispatch
import Primitives

/// Where a stack's view lives: its objects are used there, and completions are called there.
public enum ViewContext: Sendable {
    /// The main queue.
    case main
    /// A serial queue of the program's own.
    case queue(DispatchQueue)
    /// The executor of an actor of the program's own.
    case executor(any SerialExecutor)
}

/// Runs work where the view lives, and tells whether the caller is there.
struct ViewExecutor: Sendable {
    private static let mainKey = DispatchSpecificKey<Bool>()
    private static let markMain: Void = DispatchQueue.main.setSpecific(key: mainKey, value: true)
    private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

    private let context: ViewContext
    private let host: ExecutorHost?

    init(_ context: ViewContext) {
        self.context = context
        switch context {
        case .main:
            _ = Self.markMain
            host = nil
        case .queue(let queue):
            queue.setSpecific(key: Self.queueKey, value: ObjectIdentifier(queue))
            host = nil
        case .executor(let executor): host = ExecutorHost(executor)
        }
    }

    /// Whether the caller runs where the view lives. A main queue that is served by another thread
    /// than the first counts too.
    var isCurrent: Bool {
        switch context {
        case .main: Self.isMainThread || DispatchQueue.getSpecific(key: Self.mainKey) == true
        case .queue(let queue):
            DispatchQueue.getSpecific(key: Self.queueKey) == ObjectIdentifier(queue)
        case .executor(let executor): executor.isIsolatingCurrentContext() == true
        }
    }

    /// Which thread is the main one never changes, and asking takes longer than a lookup in a tree.
    private static var isMainThread: Bool {
        let known = trellis_thread_role_get()
        guard known == 0 else { return known == 1 }
        let isMain = Thread.isMainThread
        trellis_thread_role_set(isMain ? 1 : 2)
        return isMain
    }

    func run(_ work: @escaping @Sendable () -> Void) {
        switch context {
        case .main: MainQueueWatch.run(work)
        case .queue(let queue): queue.async(execute: work)
        case .executor:
            guard let host else { return }
            host.add(work)
            Task(executorPreference: CallerExecutor.shared) { await host.runNext() }
        }
    }
}

/// Runs a task where it is made, until it waits for an actor: when the call that makes it returns,
/// the task is on that actor's executor. Without it, it would be on its way there on another
/// thread, and work that the caller schedules afterwards could run before it.
private final class CallerExecutor: TaskExecutor {
    static let shared = CallerExecutor()

    func enqueue(_ job: UnownedJob) {
        // Safety: the executor is never deallocated.
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// An actor on the program's executor.
private actor ExecutorHost {
    private let executor: any SerialExecutor
    /// Tasks may arrive at the actor in any order; the work keeps the order in which it came.
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    init(_ executor: any SerialExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        // Safety: the actor keeps its executor alive.
        unsafe executor.asUnownedSerialExecutor()
    }

    nonisolated func add(_ work: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(work) }
    }

    /// Runs the oldest work; there is one call for each.
    func runNext() {
        let work = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        work?()
    }
}
