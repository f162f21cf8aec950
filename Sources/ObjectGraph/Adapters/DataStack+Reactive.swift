#if canImport(Combine)
    import Combine
#elseif OpenCombine
    import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
    extension DataStack {
        /// The functions of the stack for Combine.
        public var reactive: ReactiveNamespace { ReactiveNamespace(base: self) }

        /// The functions of `dataStack.reactive`. Futures begin their work when they are made;
        /// values and completions arrive where the stack's view lives.
        public struct ReactiveNamespace: Sendable {
            /// The stack.
            public let base: DataStack
        }
    }

    extension DataStack.ReactiveNamespace {
        private func future<Output>(
            _ work: @escaping (@escaping @Sendable (Result<Output, CoreStoreError>) -> Void) -> Void
        ) -> Future<Output, CoreStoreError> {
            Future { promise in
                let promise = UncheckedTransfer(promise)
                work { promise.value($0) }
            }
        }

        /// Opens a storage and attaches it. Fails with the errors of
        /// ``DataStack/addStorage(_:completion:)``.
        public func addStorage<T: StorageInterface>(
            _ storage: T
        ) -> Future<T, CoreStoreError> {
            future { done in _ = base.addStorage(storage, completion: done) }
        }

        /// Opens a local storage, and migrates its file where that has an earlier model. Each
        /// subscription opens it, at the first demand. It sends the progress of a migration, then
        /// the attached storage.
        public func addStorage<T: LocalStorage>(_ storage: T) -> AddStoragePublisher<T> {
            AddStoragePublisher(base: base, storage: storage)
        }

        /// Runs a transaction in the background. Fails with the errors of
        /// ``DataStack/perform(asynchronous:sourceIdentifier:durability:completion:)``.
        @preconcurrency
        public func perform<Output>(
            asynchronous task: @escaping @Sendable (AsynchronousDataTransaction) throws -> Output
        ) -> Future<Output, CoreStoreError> {
            future { done in base.perform(asynchronous: task, completion: done) }
        }

        /// Runs a transaction in the background. Fails with the errors of
        /// ``DataStack/perform(asynchronous:sourceIdentifier:durability:completion:)``.
        @preconcurrency @_disfavoredOverload
        public func perform<Output>(
            _ asynchronous: @escaping @Sendable (AsynchronousDataTransaction) throws -> Output
        ) -> Future<Output, CoreStoreError> {
            perform(asynchronous: asynchronous)
        }

        // MARK: Importing

        private func imported<O: CoreStoreObject>(
            _ task: @escaping @Sendable (AsynchronousDataTransaction) throws -> NSManagedObjectID?
        ) -> Future<O?, CoreStoreError> {
            future { done in
                base.perform(asynchronous: task) { result in
                    done(result.map { $0.flatMap { base.fetchExisting($0) } })
                }
            }
        }

        /// Creates an object from a source in a transaction of its own; nil when the class declines
        /// the source.
        public func importObject<O: CoreStoreObject & ImportableObject>(
            _ into: Into<O>, source: O.ImportSource
        ) -> Future<O?, CoreStoreError> {
            let source = UncheckedTransfer(source)
            return imported { try $0.importObject(into, source: source.value)?.objectID() }
        }

        /// Fills an object from a source in a transaction of its own; fails with `.userCancelled`
        /// when the object is gone.
        public func importObject<O: CoreStoreObject & ImportableObject>(
            _ object: O, source: O.ImportSource
        ) -> Future<O?, CoreStoreError> {
            let source = UncheckedTransfer(source)
            let id = object.objectID()
            return imported { transaction in
                guard let object = transaction.fetchExisting(id) as O? else {
                    try transaction.cancel()
                }
                try transaction.importObject(object, source: source.value)
                return id
            }
        }

        /// Updates the object with a source's identity, or creates it, in a transaction of its own;
        /// nil when the class skips the source.
        public func importUniqueObject<O: CoreStoreObject & ImportableUniqueObject>(
            _ into: Into<O>, source: O.ImportSource
        ) -> Future<O?, CoreStoreError> {
            let source = UncheckedTransfer(source)
            return imported { try $0.importUniqueObject(into, source: source.value)?.objectID() }
        }

        /// Updates the objects with the sources' identities, and creates those that do not exist,
        /// in a transaction of its own; see `importUniqueObjects(_:sourceArray:preProcess:)` of
        /// ``BaseDataTransaction``.
        public func importUniqueObjects<
            O: CoreStoreObject & ImportableUniqueObject, S: Sequence
        >(
            _ into: Into<O>, sourceArray: S,
            preProcess:
                @escaping @Sendable (_ mapping: [O.UniqueIDType: O.ImportSource]) throws
                -> [O.UniqueIDType: O.ImportSource] = { $0 }
        ) -> Future<[O], CoreStoreError> where S.Element == O.ImportSource {
            let sources = UncheckedTransfer(Array(sourceArray))
            return future { done in
                base.perform(asynchronous: { transaction in
                    try transaction.importUniqueObjects(
                        into, sourceArray: sources.value, preProcess: preProcess
                    ).map { $0.objectID() }
                }) { result in
                    done(result.map { base.fetchExisting($0) })
                }
            }
        }
    }

    /// The progress of adding a storage; see `dataStack.reactive.addStorage(_:)`.
    public struct AddStoragePublisher<T: LocalStorage>: Publisher {
        public typealias Output = MigrationProgress<T>
        public typealias Failure = CoreStoreError

        let base: DataStack
        let storage: T

        /// Opens the storage for a subscriber, at its first demand.
        public func receive<S: Subscriber>(subscriber: S)
        where S.Input == Output, S.Failure == Failure {
            let subscription = NewestSubscription(subscriber, keeping: nil)
            let offer = UncheckedTransfer(subscription.offer)
            let finish = UncheckedTransfer(subscription.finish)
            subscription.start { [base, storage] in
                let task = base.plannedTask(storage)
                task.progress?.setProgressHandler { progress in
                    offer.value(.migrating(storage: storage, progressObject: progress))
                }
                base.addStorage(storage, task) { result in
                    switch result {
                    case .success(let added):
                        offer.value(
                            .finished(
                                storage: added, migrationRequired: task.progress != nil))
                        finish.value(.finished)
                    case .failure(let error): finish.value(.failure(error))
                    }
                }
            }
        }
    }

    extension DataStack {
        /// The progress of adding a storage; see `dataStack.reactive.addStorage(_:)`.
        public typealias AddStoragePublisher<T: LocalStorage> = ObjectGraph.AddStoragePublisher<T>
    }
#endif
