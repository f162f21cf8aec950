#if canImport(AppKit) && !canImport(UIKit)
    import AppKit

    extension DiffableDataSource {
        /// The data source of a collection view: it shows the versions of a list that it is given.
        ///
        /// ```swift
        /// dataSource = DiffableDataSource.CollectionViewAdapter<Person>(
        ///     collectionView: collectionView, dataStack: stack,
        ///     itemProvider: { collectionView, indexPath, person in … })
        /// publisher.addObserver(self) { [weak self] publisher in
        ///     self?.dataSource?.apply(publisher.snapshot)
        /// }
        /// ```
        ///
        /// The program keeps it; the collection view keeps no data source. The stack's view lives
        /// on the main queue.
        @MainActor
        open class CollectionViewAdapter<O: DynamicObject>:
            BaseAdapter<O, DefaultCollectionViewTarget<NSCollectionView>>,
            NSCollectionViewDataSource
        {
            private let itemProvider: (NSCollectionView, IndexPath, O) -> NSCollectionViewItem?
            private let supplementaryViewProvider: (NSCollectionView, String, IndexPath) -> NSView?

            /// Becomes the collection view's data source.
            ///
            /// - Parameters:
            ///   - collectionView: the collection view, which is not retained.
            ///   - dataStack: the stack of the lists, which is not retained.
            ///   - itemProvider: makes the item of an object.
            ///   - supplementaryViewProvider: makes headers, footers and the like.
            public init(
                collectionView: NSCollectionView, dataStack: DataStack,
                itemProvider:
                    @escaping (NSCollectionView, IndexPath, O) -> NSCollectionViewItem?,
                supplementaryViewProvider:
                    @escaping (NSCollectionView, String, IndexPath) -> NSView? = { _, _, _ in nil }
            ) {
                self.itemProvider = itemProvider
                self.supplementaryViewProvider = supplementaryViewProvider
                super.init(
                    target: DefaultCollectionViewTarget(collectionView), dataStack: dataStack)
                collectionView.dataSource = self
            }

            /// The collection view; nil when it is gone.
            public var collectionView: NSCollectionView? { target?.base }

            /// The number of sections that are shown.
            open func numberOfSections(in collectionView: NSCollectionView) -> Int {
                numberOfSections()
            }

            /// The number of items of a section; zero for an index out of range.
            open func collectionView(
                _ collectionView: NSCollectionView, numberOfItemsInSection section: Int
            ) -> Int {
                numberOfItems(inSection: section) ?? 0
            }

            /// The item of an object. It is empty for an object that was deleted since the shown
            /// version of the list.
            open func collectionView(
                _ collectionView: NSCollectionView,
                itemForRepresentedObjectAt indexPath: IndexPath
            ) -> NSCollectionViewItem {
                guard let object = object(at: indexPath) else {
                    let empty = NSCollectionViewItem()
                    // Else it looks for a file that describes its view.
                    empty.view = NSView()
                    return empty
                }
                guard let item = itemProvider(collectionView, indexPath, object) else {
                    Log.abort("a collection view's data source has no item for \(indexPath)")
                }
                return item
            }

            /// A header, a footer or the like, made by the program's closure.
            open func collectionView(
                _ collectionView: NSCollectionView,
                viewForSupplementaryElementOfKind kind: NSCollectionView.SupplementaryElementKind,
                at indexPath: IndexPath
            ) -> NSView {
                supplementaryViewProvider(collectionView, kind, indexPath) ?? NSView()
            }
        }

        /// A collection view as a target of batch updates. It does not retain the view.
        public struct DefaultCollectionViewTarget<T: NSCollectionView>: Target, Sendable {
            /// The class of the collection view.
            public typealias Base = T

            /// The collection view; nil when it is gone.
            public private(set) weak var base: Base?

            /// A target that updates a collection view.
            public init(_ base: Base) { self.base = base }

            private func onMain(_ body: @MainActor (Base) -> Void) {
                MainActor.assumeIsolated {
                    if let base { body(base) }
                }
            }

            /// Whether the view is in no window.
            public var shouldSuspendBatchUpdates: Bool {
                MainActor.assumeIsolated { base?.window == nil }
            }

            /// Removes sections of the collection view.
            public func deleteSections(at indices: IndexSet, animated: Bool) {
                onMain { $0.deleteSections(indices) }
            }

            /// Inserts sections into the collection view.
            public func insertSections(at indices: IndexSet, animated: Bool) {
                onMain { $0.insertSections(indices) }
            }

            /// Shows sections of the collection view again.
            public func reloadSections(at indices: IndexSet, animated: Bool) {
                onMain { $0.reloadSections(indices) }
            }

            /// Moves a section of the collection view.
            public func moveSection(
                at index: IndexSet.Element, to newIndex: IndexSet.Element, animated: Bool
            ) {
                onMain { $0.moveSection(index, toSection: newIndex) }
            }

            /// Removes items of the collection view.
            public func deleteItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.deleteItems(at: Set(indexPaths)) }
            }

            /// Inserts items into the collection view.
            public func insertItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.insertItems(at: Set(indexPaths)) }
            }

            /// Shows items of the collection view again.
            public func reloadItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.reloadItems(at: Set(indexPaths)) }
            }

            /// Moves an item of the collection view.
            public func moveItem(
                at indexPath: IndexPath, to newIndexPath: IndexPath, animated: Bool
            ) {
                onMain { $0.moveItem(at: indexPath, to: newIndexPath) }
            }

            /// Shows several updates of the collection view as one change.
            public func performBatchUpdates(
                updates: @escaping () -> Void, animated: Bool, completion: @escaping () -> Void
            ) {
                BatchUpdates(updates, completion, animated).run(on: base) { view, batch in
                    let shown = animated ? view.animator() : view
                    shown.performBatchUpdates(
                        batch.updates, completionHandler: { _ in batch.completion() })
                }
            }

            /// Shows the whole collection view again.
            public func reloadData() { onMain { $0.reloadData() } }
        }
    }
#endif
