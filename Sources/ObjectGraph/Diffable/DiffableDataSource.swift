/// Shows versions of a list in a view that takes batch updates.
public enum DiffableDataSource {
    /// A view that takes batch updates.
    public typealias Target = DiffableDataSourceTarget
}

/// A view that takes batch updates: a table of a user interface, or anything else that shows a
/// list.
///
/// Its rows are those of the ``DiffableDataSource/BaseAdapter`` that it was given to. All calls
/// come where the stack's view lives.
public protocol DiffableDataSourceTarget {
    /// Whether batch updates have no use now, because the view is not shown for one. It is reloaded
    /// then.
    var shouldSuspendBatchUpdates: Bool { get }

    func deleteSections(at indices: IndexSet, animated: Bool)
    func insertSections(at indices: IndexSet, animated: Bool)
    func reloadSections(at indices: IndexSet, animated: Bool)
    func moveSection(at index: IndexSet.Element, to newIndex: IndexSet.Element, animated: Bool)
    func deleteItems(at indexPaths: [IndexPath], animated: Bool)
    func insertItems(at indexPaths: [IndexPath], animated: Bool)
    func reloadItems(at indexPaths: [IndexPath], animated: Bool)
    func moveItem(at indexPath: IndexPath, to newIndexPath: IndexPath, animated: Bool)

    /// Runs a closure that calls the functions above, before it returns, and shows what they tell
    /// as one change.
    ///
    /// - Parameter completion: to be called when the change is shown.
    func performBatchUpdates(
        updates: @escaping () -> Void, animated: Bool, completion: @escaping () -> Void)

    /// Shows everything anew.
    func reloadData()
}

extension DiffableDataSourceTarget {
    /// Shows a stage of changes as one batch update.
    func perform<O: DynamicObject>(
        _ stage: StagedChanges<O>.Stage, animated: Bool, _ show: @escaping () -> Void,
        completion: @escaping () -> Void
    ) {
        performBatchUpdates(
            updates: {
                show()
                tell(stage, animated)
            }, animated: animated, completion: completion)
    }

    private func tell<O: DynamicObject>(_ stage: StagedChanges<O>.Stage, _ animated: Bool) {
        if !stage.reloadedItems.isEmpty {
            reloadItems(at: stage.reloadedItems, animated: animated)
        }
        if !stage.deletedSections.isEmpty {
            deleteSections(at: IndexSet(stage.deletedSections), animated: animated)
        }
        if !stage.insertedSections.isEmpty {
            insertSections(at: IndexSet(stage.insertedSections), animated: animated)
        }
        if !stage.deletedItems.isEmpty {
            deleteItems(at: stage.deletedItems, animated: animated)
        }
        if !stage.insertedItems.isEmpty {
            insertItems(at: stage.insertedItems, animated: animated)
        }
        for move in stage.movedItems {
            moveItem(at: move.from, to: move.to, animated: animated)
        }
    }
}
