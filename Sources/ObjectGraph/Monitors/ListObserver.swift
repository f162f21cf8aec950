/// Receives the changes of a ``ListMonitor``'s list, where the stack's view lives.
///
/// Each callback has a longer form with the source identifier of the transaction, which calls the
/// shorter one unless it is implemented. `listMonitorDidChange(_:)` and `listMonitorDidRefetch(_:)`
/// must be there in any case.
public protocol ListObserver: AnyObject {
    /// The class of the list's objects.
    associatedtype ListEntityType: DynamicObject

    /// Called before the list changes. The list and the view show the commit before.
    func listMonitorWillChange(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    /// Called before the list changes, without the source identifier.
    func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>)

    /// Called after the list has changed, and after all of its changes were delivered.
    func listMonitorDidChange(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    /// Called after the list has changed, without the source identifier.
    func listMonitorDidChange(_ monitor: ListMonitor<ListEntityType>)

    /// Called when the list is about to be fetched again. The identifier is always nil.
    func listMonitorWillRefetch(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    /// Called when the list is about to be fetched again.
    func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>)

    /// Called when the list was fetched again: any part of it may differ.
    func listMonitorDidRefetch(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    /// Called when the list was fetched again, without the source identifier.
    func listMonitorDidRefetch(_ monitor: ListMonitor<ListEntityType>)
}

extension ListObserver {
    /// Calls the form without the source identifier.
    public func listMonitorWillChange(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?
    ) {
        listMonitorWillChange(monitor)
    }
    /// Does nothing.
    public func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>) {}

    /// Calls the form without the source identifier.
    public func listMonitorDidChange(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?
    ) {
        listMonitorDidChange(monitor)
    }

    /// Calls the form without the source identifier.
    public func listMonitorWillRefetch(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?
    ) {
        listMonitorWillRefetch(monitor)
    }
    /// Does nothing.
    public func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>) {}

    /// Calls the form without the source identifier.
    public func listMonitorDidRefetch(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?
    ) {
        listMonitorDidRefetch(monitor)
    }
}

/// Also receives the changes of each object. Between ``ListObserver/listMonitorWillChange(_:)`` and
/// ``ListObserver/listMonitorDidChange(_:)`` come deletions, insertions, moves and updates, each
/// ascending.
///
/// Deletions, updates and the origins of moves have paths of the list before; insertions and the
/// targets of moves have paths of the list after. An object that moves is not updated too.
public protocol ListObjectObserver: ListObserver {
    /// Called for an object that came into the list, with its path in the list after the change.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType,
        toIndexPath indexPath: IndexPath, sourceIdentifier: Any?)
    /// Called for an object that came into the list, without the source identifier.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType,
        toIndexPath indexPath: IndexPath)

    /// Called for an object that left the list, with its path in the list before the change. A
    /// deleted object keeps its last values.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType,
        fromIndexPath indexPath: IndexPath, sourceIdentifier: Any?)
    /// Called for an object that left the list, without the source identifier.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType,
        fromIndexPath indexPath: IndexPath)

    /// Called for an object that changed and stayed in its position, with its path in the list
    /// before the change.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType,
        atIndexPath indexPath: IndexPath, sourceIdentifier: Any?)
    /// Called for an object that changed and stayed in its position, without the source identifier.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType,
        atIndexPath indexPath: IndexPath)

    /// Called for an object that moved, with its path in the list before the change and in the list
    /// after it.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType,
        fromIndexPath: IndexPath, toIndexPath: IndexPath, sourceIdentifier: Any?)
    /// Called for an object that moved, without the source identifier.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType,
        fromIndexPath: IndexPath, toIndexPath: IndexPath)
}

extension ListObjectObserver {
    /// Calls the form without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType,
        toIndexPath indexPath: IndexPath, sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didInsertObject: object, toIndexPath: indexPath)
    }
    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType,
        toIndexPath indexPath: IndexPath
    ) {}

    /// Calls the form without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType,
        fromIndexPath indexPath: IndexPath, sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didDeleteObject: object, fromIndexPath: indexPath)
    }
    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType,
        fromIndexPath indexPath: IndexPath
    ) {}

    /// Calls the form without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType,
        atIndexPath indexPath: IndexPath, sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didUpdateObject: object, atIndexPath: indexPath)
    }
    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType,
        atIndexPath indexPath: IndexPath
    ) {}

    /// Calls the form without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType,
        fromIndexPath: IndexPath, toIndexPath: IndexPath, sourceIdentifier: Any?
    ) {
        listMonitor(
            monitor, didMoveObject: object, fromIndexPath: fromIndexPath,
            toIndexPath: toIndexPath)
    }
    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType,
        fromIndexPath: IndexPath, toIndexPath: IndexPath
    ) {}
}

/// Also receives the changes of sections: insertions before the changes of all objects, deletions
/// after them.
public protocol ListSectionObserver: ListObjectObserver {
    /// Called for a section that came into the list, with its index in the list after the change.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didInsertSection sectionInfo: any NSFetchedResultsSectionInfo,
        toSectionIndex sectionIndex: Int, sourceIdentifier: Any?)
    /// Called for a section that came into the list, without the source identifier.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didInsertSection sectionInfo: any NSFetchedResultsSectionInfo,
        toSectionIndex sectionIndex: Int)

    /// Called for a section that left the list, with its index in the list before the change.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didDeleteSection sectionInfo: any NSFetchedResultsSectionInfo,
        fromSectionIndex sectionIndex: Int, sourceIdentifier: Any?)
    /// Called for a section that left the list, without the source identifier.
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didDeleteSection sectionInfo: any NSFetchedResultsSectionInfo,
        fromSectionIndex sectionIndex: Int)
}

extension ListSectionObserver {
    /// Calls the form without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didInsertSection sectionInfo: any NSFetchedResultsSectionInfo,
        toSectionIndex sectionIndex: Int, sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didInsertSection: sectionInfo, toSectionIndex: sectionIndex)
    }
    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didInsertSection sectionInfo: any NSFetchedResultsSectionInfo,
        toSectionIndex sectionIndex: Int
    ) {}

    /// Calls the form without the source identifier.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didDeleteSection sectionInfo: any NSFetchedResultsSectionInfo,
        fromSectionIndex sectionIndex: Int, sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didDeleteSection: sectionInfo, fromSectionIndex: sectionIndex)
    }
    /// Does nothing.
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didDeleteSection sectionInfo: any NSFetchedResultsSectionInfo,
        fromSectionIndex sectionIndex: Int
    ) {}
}
