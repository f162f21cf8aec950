#if canImport(Combine)
    import Combine
#elseif OpenCombine
    import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
    extension CoreStoreObject: ObservableObject {
        /// Sends before the object changes, or is deleted: an object of a stack's view before the
        /// view shows such a commit, an object of a transaction before each write. Writes that a
        /// subscriber makes as it receives a value are sent when it returns. A subscription does
        /// not retain the object, and is made where the object is used.
        public var objectWillChange: WillChangePublisher { WillChangePublisher(object: self) }

        /// Sends before an object changes; see ``objectWillChange``.
        public struct WillChangePublisher: Publisher {
            public typealias Output = Void
            public typealias Failure = Never

            let object: CoreStoreObject

            /// Begins to watch the object for a subscriber.
            public func receive<S: Subscriber>(subscriber: S)
            where S.Input == Output, S.Failure == Failure {
                let watch = WillChangeWatch(object)
                let subscription = NewestSubscription(subscriber, keeping: watch)
                watch.send = { [weak subscription] in subscription?.offer(()) }
                watch.begin()
                subscription.start()
            }
        }
    }

    /// Watches an object for one subscriber.
    private final class WillChangeWatch: ViewParticipant, WriteObserver {
        private(set) weak var object: CoreStoreObject?
        /// Nil for an object of a transaction.
        private var watch: ObjectWatch?
        private weak var stack: DataStack?
        private weak var context: EditingContext?
        var send: (() -> Void)?

        init(_ object: CoreStoreObject) {
            self.object = object
            context = object.raw?.context as? EditingContext
            stack = object.raw?.context is StackView ? object.raw?.context.stack : nil
            watch = stack.map { ObjectWatch(object.objectID(), [], $0) }
        }

        deinit {
            stack?.observers.remove(self)
            context?.writeObservers?.remove(self)
        }

        func begin() {
            context?.add(self)
            stack?.withView { _ in stack?.observers.add(self, .property) }
        }

        func tell(_ moment: WriteMoment, of name: KeyPathString) {
            if moment == .before { send?() }
        }

        func follows(_ name: KeyPathString) -> Bool { true }

        func prepare(_ delivery: Delivery) -> Bool {
            // An object of a storage that was removed keeps its values.
            guard let object, object.raw?.store.isDetached != true else { return false }
            let found = watch?.fate(in: delivery, "an observed object could not be compared.")
            return found.map { $0.fate != .none } ?? false
        }

        func tellBefore(_ delivery: Delivery) { send?() }
        func tellChanges(_ delivery: Delivery) {}
    }
#endif
