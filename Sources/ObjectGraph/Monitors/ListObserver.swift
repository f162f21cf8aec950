/// Is told when a ``ListMonitor``'s list changes.
///
/// Each callback has a longer form with the source identifier of the transaction; a class
/// implements the one or the other.
public protocol ListObserver: AnyObject {
    associatedtype ListEntityType: DynamicObject

    /// Called before the list changes. The list and the view show the commit before.
    func listMonitorWillChange(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>)

    /// Called after the list has changed, and after all changes were told.
    func listMonitorDidChange(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    func listMonitorDidChange(_ monitor: ListMonitor<ListEntityType>)

    /// Called when the list is about to be fetched again. Never has an identifier.
    func listMonitorWillRefetch(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>)

    /// Called when the list was fetched again: anything may be different.
    func listMonitorDidRefetch(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?)
    func listMonitorDidRefetch(_ monitor: ListMonitor<ListEntityType>)
}

extension ListObserver {
    public func listMonitorWillChange(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?
    ) {
        listMonitorWillChange(monitor)
    }
    public func listMonitorWillChange(_ monitor: ListMonitor<ListEntityType>) {}

    public func listMonitorDidChange(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?
    ) {
        listMonitorDidChange(monitor)
    }

    public func listMonitorWillRefetch(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?
    ) {
        listMonitorWillRefetch(monitor)
    }
    public func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntityType>) {}

    public func listMonitorDidRefetch(
        _ monitor: ListMonitor<ListEntityType>, sourceIdentifier: Any?
    ) {
        listMonitorDidRefetch(monitor)
    }
}

/// Is also told of each object. Between ``ListObserver/listMonitorWillChange(_:)`` and
/// ``ListObserver/listMonitorDidChange(_:)`` come deletions, insertions, moves and updates, each
/// ascending.
///
/// Deletions, updates and the origins of moves have paths of the list before; insertions and the
/// targets of moves have paths of the list as it is now. An object that moves is not updated too.
public protocol ListObjectObserver: ListObserver {
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType,
        toIndexPath indexPath: IndexPath, sourceIdentifier: Any?)
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType,
        toIndexPath indexPath: IndexPath)

    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType,
        fromIndexPath indexPath: IndexPath, sourceIdentifier: Any?)
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType,
        fromIndexPath indexPath: IndexPath)

    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType,
        atIndexPath indexPath: IndexPath, sourceIdentifier: Any?)
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType,
        atIndexPath indexPath: IndexPath)

    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType,
        fromIndexPath: IndexPath, toIndexPath: IndexPath, sourceIdentifier: Any?)
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType,
        fromIndexPath: IndexPath, toIndexPath: IndexPath)
}

extension ListObjectObserver {
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType,
        toIndexPath indexPath: IndexPath, sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didInsertObject: object, toIndexPath: indexPath)
    }
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didInsertObject object: ListEntityType,
        toIndexPath indexPath: IndexPath
    ) {}

    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType,
        fromIndexPath indexPath: IndexPath, sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didDeleteObject: object, fromIndexPath: indexPath)
    }
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didDeleteObject object: ListEntityType,
        fromIndexPath indexPath: IndexPath
    ) {}

    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType,
        atIndexPath indexPath: IndexPath, sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didUpdateObject: object, atIndexPath: indexPath)
    }
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didUpdateObject object: ListEntityType,
        atIndexPath indexPath: IndexPath
    ) {}

    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType,
        fromIndexPath: IndexPath, toIndexPath: IndexPath, sourceIdentifier: Any?
    ) {
        listMonitor(
            monitor, didMoveObject: object, fromIndexPath: fromIndexPath,
            toIndexPath: toIndexPath)
    }
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>, didMoveObject object: ListEntityType,
        fromIndexPath: IndexPath, toIndexPath: IndexPath
    ) {}
}

/// Is also told of sections: of those that came before all objects, and of those that went after
/// them.
public protocol ListSectionObserver: ListObjectObserver {
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didInsertSection sectionInfo: NSFetchedResultsSectionInfo,
        toSectionIndex sectionIndex: Int, sourceIdentifier: Any?)
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didInsertSection sectionInfo: NSFetchedResultsSectionInfo,
        toSectionIndex sectionIndex: Int)

    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didDeleteSection sectionInfo: NSFetchedResultsSectionInfo,
        fromSectionIndex sectionIndex: Int, sourceIdentifier: Any?)
    func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didDeleteSection sectionInfo: NSFetchedResultsSectionInfo,
        fromSectionIndex sectionIndex: Int)
}

extension ListSectionObserver {
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didInsertSection sectionInfo: NSFetchedResultsSectionInfo,
        toSectionIndex sectionIndex: Int, sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didInsertSection: sectionInfo, toSectionIndex: sectionIndex)
    }
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didInsertSection sectionInfo: NSFetchedResultsSectionInfo,
        toSectionIndex sectionIndex: Int
    ) {}

    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didDeleteSection sectionInfo: NSFetchedResultsSectionInfo,
        fromSectionIndex sectionIndex: Int, sourceIdentifier: Any?
    ) {
        listMonitor(monitor, didDeleteSection: sectionInfo, fromSectionIndex: sectionIndex)
    }
    public func listMonitor(
        _ monitor: ListMonitor<ListEntityType>,
        didDeleteSection sectionInfo: NSFetchedResultsSectionInfo,
        fromSectionIndex sectionIndex: Int
    ) {}
}
