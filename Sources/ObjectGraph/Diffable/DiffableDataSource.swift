/// Shows versions of a list in a view that takes batch updates.
public enum DiffableDataSource {
    /// A view that takes batch updates.
    public typealias Target = DiffableDataSourceTarget
}

/// A view that takes batch updates: a table of a user interface, or any other that shows a list.
///
/// Its rows are those of the ``DiffableDataSource/BaseAdapter`` that it was given to. All calls are
/// made where the stack's view lives.
public protocol DiffableDataSourceTarget {
    /// Whether batch updates are of no use now, for example because the view is not on screen. The
    /// view is reloaded then.
    var shouldSuspendBatchUpdates: Bool { get }

    /// Removes sections, whose indices are those before the change.
    func deleteSections(at indices: IndexSet, animated: Bool)
    /// Inserts sections, whose indices are those after the change.
    func insertSections(at indices: IndexSet, animated: Bool)
    /// Shows sections again, whose indices are those before the change.
    func reloadSections(at indices: IndexSet, animated: Bool)
    /// Moves a section from its index before the change to its index after it.
    func moveSection(at index: IndexSet.Element, to newIndex: IndexSet.Element, animated: Bool)
    /// Removes items, whose paths are those before the change.
    func deleteItems(at indexPaths: [IndexPath], animated: Bool)
    /// Inserts items, whose paths are those after the change.
    func insertItems(at indexPaths: [IndexPath], animated: Bool)
    /// Shows items again, whose paths are those before the change.
    func reloadItems(at indexPaths: [IndexPath], animated: Bool)
    /// Moves an item from its path before the change to its path after it.
    func moveItem(at indexPath: IndexPath, to newIndexPath: IndexPath, animated: Bool)

    /// Shows several updates as one change.
    ///
    /// - Parameters:
    ///   - updates: calls the functions above. Call it before this function returns.
    ///   - animated: whether the view animates the change.
    ///   - completion: call it when the change is shown.
    func performBatchUpdates(
        updates: @escaping () -> Void, animated: Bool, completion: @escaping () -> Void)

    /// Shows the whole list again.
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
        if !stage.reloadedSections.isEmpty {
            reloadSections(at: IndexSet(stage.reloadedSections), animated: animated)
        }
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
