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

            /// Becomes the table view's data source.
            ///
            /// - Parameters:
            ///   - tableView: the table view, which is not retained.
            ///   - dataStack: the stack of the lists, which is not retained.
            ///   - cellProvider: makes the cell of an object.
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

            /// The number of sections that are shown.
            open func numberOfSections(in tableView: UITableView) -> Int { numberOfSections() }

            /// The number of rows of a section; zero for an index out of range.
            open func tableView(
                _ tableView: UITableView, numberOfRowsInSection section: Int
            ) -> Int {
                numberOfItems(inSection: section) ?? 0
            }

            /// The cell of a row. It is empty for an object that was deleted since the shown
            /// version of the list.
            open func tableView(
                _ tableView: UITableView, cellForRowAt indexPath: IndexPath
            ) -> UITableViewCell {
                guard let object = object(at: indexPath) else { return UITableViewCell() }
                guard let cell = cellProvider(tableView, indexPath, object) else {
                    Log.abort("a table view's data source has no cell for \(indexPath)")
                }
                return cell
            }

            /// The name of a section.
            open func tableView(
                _ tableView: UITableView, titleForHeaderInSection section: Int
            ) -> String? {
                sectionID(for: section)
            }

            /// No footer.
            open func tableView(
                _ tableView: UITableView, titleForFooterInSection section: Int
            ) -> String? {
                nil
            }

            // MARK: The section index

            /// No section index.
            open func sectionIndexTitles(for tableView: UITableView) -> [String]? { nil }

            /// The section of a title in the section index: the one with the title's index.
            open func tableView(
                _ tableView: UITableView, sectionForSectionIndexTitle title: String, at index: Int
            ) -> Int {
                index
            }

            // MARK: Editing

            /// Whether a row may be edited: true.
            open func tableView(
                _ tableView: UITableView, canEditRowAt indexPath: IndexPath
            ) -> Bool {
                true
            }

            /// Does nothing: override it to commit an edit.
            open func tableView(
                _ tableView: UITableView, commit editingStyle: UITableViewCell.EditingStyle,
                forRowAt indexPath: IndexPath
            ) {}

            /// Whether a row may be moved by the user: false.
            open func tableView(
                _ tableView: UITableView, canMoveRowAt indexPath: IndexPath
            ) -> Bool {
                false
            }

            /// Does nothing: override it to move a row.
            open func tableView(
                _ tableView: UITableView, moveRowAt sourceIndexPath: IndexPath,
                to destinationIndexPath: IndexPath
            ) {}
        }

        /// A table view as a target of batch updates. It does not retain the view.
        public struct DefaultTableViewTarget<T: UITableView>: Target, Sendable {
            /// The class of the table view.
            public typealias Base = T

            /// The table view; nil when it is gone.
            public private(set) weak var base: Base?

            /// A target that updates a table view.
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

            /// Removes sections of the table view.
            public func deleteSections(at indices: IndexSet, animated: Bool) {
                onMain { $0.deleteSections(indices, with: animated ? .automatic : .none) }
            }

            /// Inserts sections into the table view.
            public func insertSections(at indices: IndexSet, animated: Bool) {
                onMain { $0.insertSections(indices, with: animated ? .automatic : .none) }
            }

            /// Shows sections of the table view again.
            public func reloadSections(at indices: IndexSet, animated: Bool) {
                onMain { $0.reloadSections(indices, with: animated ? .automatic : .none) }
            }

            /// Moves a section of the table view.
            public func moveSection(
                at index: IndexSet.Element, to newIndex: IndexSet.Element, animated: Bool
            ) {
                onMain { $0.moveSection(index, toSection: newIndex) }
            }

            /// Removes rows of the table view.
            public func deleteItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.deleteRows(at: indexPaths, with: animated ? .automatic : .none) }
            }

            /// Inserts rows into the table view.
            public func insertItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.insertRows(at: indexPaths, with: animated ? .automatic : .none) }
            }

            /// Shows rows of the table view again.
            public func reloadItems(at indexPaths: [IndexPath], animated: Bool) {
                onMain { $0.reloadRows(at: indexPaths, with: animated ? .automatic : .none) }
            }

            /// Moves a row of the table view.
            public func moveItem(
                at indexPath: IndexPath, to newIndexPath: IndexPath, animated: Bool
            ) {
                onMain { $0.moveRow(at: indexPath, to: newIndexPath) }
            }

            /// Shows several updates of the table view as one change.
            public func performBatchUpdates(
                updates: @escaping () -> Void, animated: Bool, completion: @escaping () -> Void
            ) {
                BatchUpdates(updates, completion, animated).run(on: base) { view, batch in
                    view.performBatchUpdates(batch.updates) { _ in batch.completion() }
                }
            }

            /// Shows the whole table view again.
            public func reloadData() { onMain { $0.reloadData() } }
        }
    }
#endif
