#if canImport(UIKit) && !os(watchOS)
    import UIKit

    extension DiffableDataSource {
        /// The data source of a collection view: it shows the versions of a list that it is given.
        ///
        /// ```swift
        /// dataSource = DiffableDataSource.CollectionViewAdapter<Person>(
        ///     collectionView: collectionView, dataStack: stack,
        ///     cellProvider: { collectionView, indexPath, person in … })
        /// publisher.addObserver(self) { [weak self] publisher in
        ///     self?.dataSource?.apply(publisher.snapshot)
        /// }
        /// ```
        ///
        /// The program keeps it; the collection view keeps no data source. Items have no order of
        /// the user's own; a subclass overrides what is to be otherwise. The stack's view lives on
        /// the main queue.
        @MainActor
        open class CollectionViewAdapter<O: DynamicObject>:
            BaseAdapter<O, DefaultCollectionViewTarget<UICollectionView>>,
            UICollectionViewDataSource
        {
            /// Of the cell that stands for an object that was deleted.
            private static var emptyName: String { "org.trellis.empty" }

            private let cellProvider: (UICollectionView, IndexPath, O) -> UICollectionViewCell?
            private let supplementaryViewProvider:
                (UICollectionView, String, IndexPath) -> UICollectionReusableView?

            /// Becomes the collection view's data source.
            ///
            /// - Parameters:
            ///   - collectionView: the collection view, which is not retained.
            ///   - dataStack: the stack of the lists, which is not retained.
            ///   - cellProvider: makes the cell of an object.
            ///   - supplementaryViewProvider: makes headers, footers and the like.
            public init(
                collectionView: UICollectionView, dataStack: DataStack,
                cellProvider:
                    @escaping (UICollectionView, IndexPath, O) -> UICollectionViewCell?,
                supplementaryViewProvider:
                    @escaping (UICollectionView, String, IndexPath) -> UICollectionReusableView? = {
                        _, _, _ in nil
                    }
            ) {
                self.cellProvider = cellProvider
                self.supplementaryViewProvider = supplementaryViewProvider
                super.init(
                    target: DefaultCollectionViewTarget(collectionView), dataStack: dataStack)
                collectionView.register(
                    UICollectionViewCell.self, forCellWithReuseIdentifier: Self.emptyName)
                collectionView.dataSource = self
            }

            /// The collection view; nil when it is gone.
            public var collectionView: UICollectionView? { target?.base }

            /// The number of sections that are shown.
            open func numberOfSections(in collectionView: UICollectionView) -> Int {
                numberOfSections()
            }

            /// The number of items of a section; zero for an index out of range.
            open func collectionView(
                _ collectionView: UICollectionView, numberOfItemsInSection section: Int
            ) -> Int {
                numberOfItems(inSection: section) ?? 0
            }

            /// The cell of an item. It is empty for an object that was deleted since the shown
            /// version of the list.
            open func collectionView(
                _ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath
            ) -> UICollectionViewCell {
                guard let object = object(at: indexPath) else {
                    return collectionView.dequeueReusableCell(
                        withReuseIdentifier: Self.emptyName, for: indexPath)
                }
                guard let cell = cellProvider(collectionView, indexPath, object) else {
                    Log.abort("a collection view's data source has no cell for \(indexPath)")
                }
                return cell
            }

            /// A header, a footer or the like, made by the program's closure.
            open func collectionView(
                _ collectionView: UICollectionView,
                viewForSupplementaryElementOfKind kind: String, at indexPath: IndexPath
            ) -> UICollectionReusableView {
                supplementaryViewProvider(collectionView, kind, indexPath)
                    ?? UICollectionReusableView()
            }

            /// Whether an item may be moved by the user: false.
            open func collectionView(
                _ collectionView: UICollectionView, canMoveItemAt indexPath: IndexPath
            ) -> Bool {
                false
            }

            /// Does nothing: override it to move an item.
            open func collectionView(
                _ collectionView: UICollectionView, moveItemAt sourceIndexPath: IndexPath,
                to destinationIndexPath: IndexPath
            ) {}
        }

        /// A collection view as a target of batch updates. It does not retain the view.
        public struct DefaultCollectionViewTarget<T: UICollectionView>: Target, Sendable {
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
                onMain { $0.deleteItems(at: indexPaths) }
            }

            /// Inserts items into the collection view.
            public func insertItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.insertItems(at: indexPaths) }
            }

            /// Shows items of the collection view again.
            public func reloadItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.reloadItems(at: indexPaths) }
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
                    view.performBatchUpdates(batch.updates) { _ in batch.completion() }
                }
            }

            /// Shows the whole collection view again.
            public func reloadData() { onMain { $0.reloadData() } }
        }
    }
#endif
