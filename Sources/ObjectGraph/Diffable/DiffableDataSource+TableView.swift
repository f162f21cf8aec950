#if canImport(UIKit) && !os(watchOS)
    import UIKit

    extension DiffableDataSource {
        /// The data source of a table view: it shows the versions of a list that it is given.
        ///
        /// ```swift
        /// dataSource = DiffableDataSource.TableViewAdapter<Person>(
        ///     tableView: tableView, dataStack: stack
        /// ) { tableView, indexPath, person in
        ///     let cell = tableView.dequeueReusableCell(withIdentifier: "Person", for: indexPath)
        ///     cell.textLabel?.text = person.name
        ///     return cell
        /// }
        /// publisher.addObserver(self) { [weak self] publisher in
        ///     self?.dataSource?.apply(publisher.snapshot)
        /// }
        /// ```
        ///
        /// The program keeps it; the table view keeps no data source. Rows may be edited and have
        /// no order of the user's own; a subclass overrides what is to be otherwise. The stack's
        /// view lives on the main queue.
        @MainActor
        open class TableViewAdapter<O: DynamicObject>:
            BaseAdapter<O, DefaultTableViewTarget<UITableView>>, UITableViewDataSource
        {
            private let cellProvider: (UITableView, IndexPath, O) -> UITableViewCell?

            /// Makes itself the table view's data source.
            ///
            /// - Parameter cellProvider: makes the cell of an object.
            public init(
                tableView: UITableView, dataStack: DataStack,
                cellProvider: @escaping (UITableView, IndexPath, O) -> UITableViewCell?
            ) {
                self.cellProvider = cellProvider
                super.init(target: DefaultTableViewTarget(tableView), dataStack: dataStack)
                tableView.dataSource = self
            }

            /// The table view; nil when it is gone.
            public var tableView: UITableView? { target?.base }

            // MARK: Sections and rows

            open func numberOfSections(in tableView: UITableView) -> Int { numberOfSections() }

            open func tableView(
                _ tableView: UITableView, numberOfRowsInSection section: Int
            ) -> Int {
                numberOfItems(inSection: section) ?? 0
            }

            /// The cell of a row. That of an object which was deleted, and of which the list that
            /// is shown does not know it yet, is empty.
            open func tableView(
                _ tableView: UITableView, cellForRowAt indexPath: IndexPath
            ) -> UITableViewCell {
                guard let object = object(at: indexPath) else { return UITableViewCell() }
                guard let cell = cellProvider(tableView, indexPath, object) else {
                    Log.abort("a table view's data source has no cell for \(indexPath)")
                }
                return cell
            }

            open func tableView(
                _ tableView: UITableView, titleForHeaderInSection section: Int
            ) -> String? {
                sectionID(for: section)
            }

            open func tableView(
                _ tableView: UITableView, titleForFooterInSection section: Int
            ) -> String? {
                nil
            }

            // MARK: The section index

            open func sectionIndexTitles(for tableView: UITableView) -> [String]? { nil }

            open func tableView(
                _ tableView: UITableView, sectionForSectionIndexTitle title: String, at index: Int
            ) -> Int {
                index
            }

            // MARK: Editing

            open func tableView(
                _ tableView: UITableView, canEditRowAt indexPath: IndexPath
            ) -> Bool {
                true
            }

            open func tableView(
                _ tableView: UITableView, commit editingStyle: UITableViewCell.EditingStyle,
                forRowAt indexPath: IndexPath
            ) {}

            open func tableView(
                _ tableView: UITableView, canMoveRowAt indexPath: IndexPath
            ) -> Bool {
                false
            }

            open func tableView(
                _ tableView: UITableView, moveRowAt sourceIndexPath: IndexPath,
                to destinationIndexPath: IndexPath
            ) {}
        }

        /// A table view as what takes batch updates. It does not keep the view alive.
        public struct DefaultTableViewTarget<T: UITableView>: Target, Sendable {
            public typealias Base = T

            /// The table view; nil when it is gone.
            public private(set) weak var base: Base?

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

            public func deleteSections(at indices: IndexSet, animated: Bool) {
                onMain { $0.deleteSections(indices, with: animated ? .automatic : .none) }
            }

            public func insertSections(at indices: IndexSet, animated: Bool) {
                onMain { $0.insertSections(indices, with: animated ? .automatic : .none) }
            }

            public func reloadSections(at indices: IndexSet, animated: Bool) {
                onMain { $0.reloadSections(indices, with: animated ? .automatic : .none) }
            }

            public func moveSection(
                at index: IndexSet.Element, to newIndex: IndexSet.Element, animated: Bool
            ) {
                onMain { $0.moveSection(index, toSection: newIndex) }
            }

            public func deleteItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.deleteRows(at: indexPaths, with: animated ? .automatic : .none) }
            }

            public func insertItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.insertRows(at: indexPaths, with: animated ? .automatic : .none) }
            }

            public func reloadItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.reloadRows(at: indexPaths, with: animated ? .automatic : .none) }
            }

            public func moveItem(
                at indexPath: IndexPath, to newIndexPath: IndexPath, animated: Bool
            ) {
                onMain { $0.moveRow(at: indexPath, to: newIndexPath) }
            }

            public func performBatchUpdates(
                updates: @escaping () -> Void, animated: Bool, completion: @escaping () -> Void
            ) {
                BatchUpdates(updates, completion, animated).run(on: base) { view, batch in
                    view.performBatchUpdates(batch.updates) { _ in batch.completion() }
                }
            }

            public func reloadData() { onMain { $0.reloadData() } }
        }
    }
#endif
