import Dispatch
import Foundation
import Primitives

/// Threads that are reused, because a run of a weave is shorter than their creation.
package final class ThreadPool: Sendable {
    private let idle = Mutex<[Worker]>([])

    package init() {}

    package func run(_ work: @escaping @Sendable () -> Void) {
        let worker = idle.withLock { $0.popLast() } ?? Worker()
        worker.take { [self] in
            work()
            idle.withLock { $0.append(worker) }
        }
    }

    private final class Worker: Sendable {
        private let hasWork = DispatchSemaphore(value: 0)
        private let work = Mutex<(@Sendable () -> Void)?>(nil)

        init() {
            let thread = Thread { [self] in
                while true {
                    hasWork.wait()
                    let next = work.withLock { work in
                        defer { work = nil }
                        return work
                    }
                    next?()
                }
            }
            thread.start()
        }

        func take(_ next: @escaping @Sendable () -> Void) {
            work.withLock { $0 = next }
            hasWork.signal()
        }
    }
}
