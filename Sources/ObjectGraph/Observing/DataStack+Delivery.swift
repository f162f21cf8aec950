/// How far a stack is with telling of steps.
struct DeliveryState {
    /// Whether a step is being told: no other one is meanwhile.
    var isRunning = false
    /// Whether a delivery was asked for while one was running.
    var isAskedAgain = false
    /// Whether completions are being called.
    var isCompleting = false
    /// The step that observers are told of before the view takes it.
    var announced: CommitStep?
    /// Completions of steps that were delivered while another completion ran.
    var completions: [@Sendable () -> Void] = []
    /// The work that waits for the end of the delivery.
    var afterwards: [() -> Void] = []

    var isIdle: Bool { !isRunning && !isCompleting }
}

// Deliveries: all of it where the view lives.
extension DataStack {
    /// A delivery on the executor. Lists that are not computed yet are left for later, because
    /// computing them may take time.
    func takeTurn() { deliver(computes: viewSteps.lists.isEmpty) }

    func deliverIfCurrent() {
        if viewExecutor.isCurrent { deliver() }
    }

    /// Has the view take all steps that are there, and tells of each.
    ///
    /// Deliveries do not nest: called by an observer, this returns at once, and what it asked for
    /// is told by the next delivery. A completion is past its delivery, so that a
    /// transaction in it is seen when it returns; the completions of other steps wait for its end.
    func deliver(computes: Bool = true) {
        let hasBegun = changeDelivery { state in
            if state.isRunning { state.isAskedAgain = true }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard hasBegun else { return }
        if computes { viewSteps.compute() }
        let last = viewSteps.position
        var position: UInt64 = 0
        while position < last, let step = viewSteps.takeFirst() {
            position = step.position
            viewSteps.lists.takeDelivered(step)
            deliver(step)
            complete(step.completions)
        }
        endDelivery()
    }

    /// Runs the work that waits for the end of the delivery, one after the other. The work calls
    /// observers, and so belongs to the delivery: no other one begins inside it.
    private func endDelivery() {
        var isAskedAgain = false
        while let work = changeDelivery({ state -> (() -> Void)? in
            guard state.afterwards.isEmpty else { return state.afterwards.removeFirst() }
            isAskedAgain = state.isAskedAgain
            (state.isRunning, state.isAskedAgain) = (false, false)
            return nil
        }) {
            work()
        }
        if isAskedAgain {
            viewSteps.announce()
        } else if !viewSteps.isEmpty {
            viewSteps.deliverSoon()
        }
    }

    /// Runs work as a delivery of its own: at once, or when the running one has ended.
    func whenIdle(_ work: @escaping () -> Void) {
        let isIdle = changeDelivery { state in
            state.afterwards.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isIdle { endDelivery() }
    }

    /// Runs a completion of the delivery that is running: a transaction in it is seen when it
    /// returns.
    func completeDelivery(_ completion: @escaping () -> Void) {
        let completion = UncheckedTransfer(completion)
        complete([{ completion.value() }])
    }

    private func changeDelivery<Result>(_ change: (inout DeliveryState) -> Result) -> Result {
        viewLock.lock()
        defer { viewLock.unlock() }
        return change(&delivery)
    }

    private func complete(_ completions: [@Sendable () -> Void]) {
        guard !completions.isEmpty else { return }
        let isNested = changeDelivery { state in
            state.completions += completions
            guard !state.isCompleting else { return true }
            (state.isCompleting, state.isRunning) = (true, false)
            return false
        }
        if isNested { return }
        while let next = changeDelivery({ state in
            state.completions.isEmpty ? nil : state.completions.removeFirst()
        }) {
            next()
        }
        changeDelivery { state in (state.isCompleting, state.isRunning) = (false, true) }
    }

    private func deliver(_ step: CommitStep) {
        let participants = step.parts.isEmpty ? [] : observers.all
        guard !participants.isEmpty,
            let delivery = withViewIfMade({ Delivery(step, self, $0) })
        else {
            withViewIfMade { $0.take(step) }
            return finish(step)
        }
        changeDelivery { $0.announced = step }
        var concerned = participants.filter { $0.prepare(delivery) }
        for participant in concerned { participant.tellBefore(delivery) }
        concerned += toldLate(besides: participants, delivery)
        // Those that callbacks have made, too. Released when the lock is open again.
        let current = observers.all
        viewLock.lock()
        for participant in concerned { participant.keepOld(delivery) }
        view?.take(step)
        finish(step)
        for participant in current { participant.show(delivery) }
        viewLock.unlock()
        withExtendedLifetime(current) {}
        for participant in concerned { participant.tellChanges(delivery) }
        for participant in concerned { participant.tellAfter(delivery) }
    }

    /// Announces a step to what callbacks have made since it was announced, and returns what it
    /// concerns: a new monitor shows the commit before, as the view does, and will move with it.
    /// Publishers that are made now see to themselves.
    private func toldLate(
        besides known: [any ViewParticipant], _ delivery: Delivery
    ) -> [any ViewParticipant] {
        var (known, concerned) = (known, [any ViewParticipant]())
        while true {
            let late = observers.newcomers(to: known)
            if late.isEmpty { return concerned }
            known += late
            let more = late.filter { $0.prepare(delivery) }
            for participant in more { participant.tellBefore(delivery) }
            concerned += more
        }
    }

    private func finish(_ step: CommitStep) {
        viewSteps.lists.show(step.position)
        changeDelivery { $0.announced = nil }
    }

    /// Has what is observed follow the storages that there are.
    func storesChanged() {
        guard !observers.isEmpty else { return }
        if viewExecutor.isCurrent {
            whenIdle { [link] in link.object?.followStores() }
        } else {
            viewExecutor.run { [link] in
                link.object?.whenIdle { link.object?.followStores() }
            }
        }
    }

    private func followStores() {
        guard !observers.isEmpty else { return }
        // Storages that were all removed took the view with them.
        if !stores.isEmpty { withView { $0.begin(stores) } }
        for participant in observers.all { participant.storesChanged() }
    }
}
