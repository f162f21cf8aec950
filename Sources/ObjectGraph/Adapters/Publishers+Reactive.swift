#if canImport(Combine)
    import Combine
#elseif OpenCombine
    import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
    extension ListPublisher {
        /// The functions of the publisher for Combine.
        public var reactive: ReactiveNamespace { ReactiveNamespace(base: self) }

        /// The functions of `listPublisher.reactive`.
        public struct ReactiveNamespace {
            /// The publisher of the list.
            public let base: ListPublisher

            /// The list's snapshots from the subscription on. They arrive where the stack's view
            /// lives; subscribe there too. A subscriber with less demand misses some, never the
            /// last, which arrives where it is asked for.
            ///
            /// - Parameter emitInitialValue: whether the current snapshot comes first.
            public func snapshot(emitInitialValue: Bool = true) -> SnapshotPublisher {
                SnapshotPublisher(base: base, emitInitialValue: emitInitialValue)
            }
        }

        /// The snapshots of a list: ``ReactiveNamespace/snapshot(emitInitialValue:)``.
        public struct SnapshotPublisher: Publisher {
            public typealias Output = ListSnapshot<O>
            public typealias Failure = Never

            let base: ListPublisher
            let emitInitialValue: Bool

            /// Begins to send snapshots to a subscriber.
            public func receive<S: Subscriber>(subscriber: S)
            where S.Input == Output, S.Failure == Failure {
                let subscription = NewestSubscription(subscriber, keeping: base)
                subscription.start()
                base.addObserver(subscription, notifyInitial: emitInitialValue) {
                    [weak subscription] publisher in subscription?.offer(publisher.snapshot)
                }
            }
        }
    }

    extension ObjectPublisher {
        /// The functions of the publisher for Combine.
        public var reactive: ReactiveNamespace { ReactiveNamespace(base: self) }

        /// The functions of `objectPublisher.reactive`. A property is published by its name with a
        /// dollar: `objectPublisher.reactive.$name`.
        @dynamicMemberLookup
        public struct ReactiveNamespace {
            /// The publisher of the object.
            public let base: ObjectPublisher

            /// The object's snapshots from the subscription on; nil once it was deleted. They
            /// arrive where the stack's view lives; subscribe there too. A subscriber with less
            /// demand misses some, never the last, which arrives where it is asked for.
            ///
            /// - Parameter emitInitialValue: whether the current snapshot comes first.
            public func snapshot(emitInitialValue: Bool = true) -> SnapshotPublisher {
                SnapshotPublisher(base: base, emitInitialValue: emitInitialValue)
            }
        }

        /// The snapshots of an object: ``ReactiveNamespace/snapshot(emitInitialValue:)``.
        public struct SnapshotPublisher: Publisher {
            public typealias Output = ObjectSnapshot<O>?
            public typealias Failure = Never

            let base: ObjectPublisher
            let emitInitialValue: Bool

            /// Begins to send snapshots to a subscriber.
            public func receive<S: Subscriber>(subscriber: S)
            where S.Input == Output, S.Failure == Failure {
                let subscription = NewestSubscription(subscriber, keeping: base)
                subscription.start()
                base.addObserver(subscription, notifyInitial: emitInitialValue) {
                    [weak subscription] publisher in subscription?.offer(publisher.snapshot)
                }
            }
        }
    }

    extension ObjectPublisher.ReactiveNamespace where O: CoreStoreObject {
        /// A stored property, now and after each change of the object; nil once it was deleted.
        public subscript<B: CoreStoreObject, V>(
            dynamicMember member: KeyPath<O, FieldContainer<B>.Stored<V>>
        ) -> Publishers.Map<ObjectPublisher<O>.SnapshotPublisher, V?> {
            snapshot().map { $0?[dynamicMember: member] }
        }

        /// A computed property, now and after each change of the object; nil once it was deleted.
        public subscript<B: CoreStoreObject, V>(
            dynamicMember member: KeyPath<O, FieldContainer<B>.Virtual<V>>
        ) -> Publishers.Map<ObjectPublisher<O>.SnapshotPublisher, V?> {
            snapshot().map { $0?[dynamicMember: member] }
        }

        /// A coded property, now and after each change of the object; nil once it was deleted.
        public subscript<B: CoreStoreObject, V>(
            dynamicMember member: KeyPath<O, FieldContainer<B>.Coded<V>>
        ) -> Publishers.Map<ObjectPublisher<O>.SnapshotPublisher, V?> {
            snapshot().map { $0?[dynamicMember: member] }
        }
    }
#endif
