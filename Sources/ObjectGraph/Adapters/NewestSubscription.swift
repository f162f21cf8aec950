#if canImport(Combine)
    import Combine
#elseif OpenCombine
    import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
    /// Hands values to a subscriber on demand. Of values without demand only the newest is kept,
    /// and handed over by the thread that asks for it.
    final class NewestSubscription<Downstream: Subscriber>: Subscription, @unchecked Sendable {
        private struct State {
            /// Nil once the subscription has ended.
            var downstream: Downstream?
            var demand = Subscribers.Demand.none
            var value: Downstream.Input?
            var completion: Subscribers.Completion<Downstream.Failure>?
            /// Whether a thread is handing over; others leave what they have to it.
            var isSending = false
            /// Kept for as long as the subscription goes on.
            var source: AnyObject?
            /// Called when something is asked for the first time.
            var begin: (() -> Void)?
        }

        private let lock = NSLock()
        private var state: State

        init(_ downstream: Downstream, keeping source: AnyObject?) {
            state = State(downstream: downstream, source: source)
        }

        /// - Parameter begin: called when something is asked for the first time.
        func start(_ begin: (() -> Void)? = nil) {
            let downstream = lock.withLock {
                state.begin = begin
                return state.downstream
            }
            downstream?.receive(subscription: self)
        }

        func offer(_ value: Downstream.Input) {
            lock.withLock {
                if state.downstream != nil { state.value = value }
            }
            send()
        }

        /// Ends the subscription: with a failure at once, else after the value that is kept.
        func finish(_ completion: Subscribers.Completion<Downstream.Failure>) {
            lock.withLock {
                if case .failure = completion { state.value = nil }
                state.completion = completion
            }
            send()
        }

        func request(_ demand: Subscribers.Demand) {
            let begin = lock.withLock {
                state.demand += demand
                defer { state.begin = nil }
                return state.demand > .none ? state.begin : nil
            }
            begin?()
            send()
        }

        func cancel() {
            let last = lock.withLock {
                defer { state = State() }
                return state
            }
            // Released without the lock: what goes may call back.
            withExtendedLifetime(last) {}
        }

        private enum Delivery {
            case value(Downstream, Downstream.Input)
            case end(Downstream, Subscribers.Completion<Downstream.Failure>)
        }

        private func send() {
            let isSending = lock.withLock {
                defer { state.isSending = true }
                return state.isSending
            }
            if isSending { return }
            while let next = next() {
                switch next {
                case .value(let downstream, let value):
                    let more = downstream.receive(value)
                    lock.withLock { state.demand += more }
                case .end(let downstream, let completion):
                    downstream.receive(completion: completion)
                }
            }
        }

        private func next() -> Delivery? {
            lock.withLock {
                guard let downstream = state.downstream else {
                    state.isSending = false
                    return nil
                }
                if let value = state.value, state.demand > .none {
                    state.value = nil
                    state.demand -= 1
                    return .value(downstream, value)
                }
                if let completion = state.completion, state.value == nil {
                    state = State(isSending: true)
                    return .end(downstream, completion)
                }
                state.isSending = false
                return nil
            }
        }
    }
#endif
