/// A change of an object in a list.
enum ListObjectEvent<O: DynamicObject> {
    case inserted(O, IndexPath)
    case deleted(O, IndexPath)
    case updated(O, IndexPath)
    case moved(O, IndexPath, IndexPath)
}

/// A change of a section of a list.
enum ListSectionEvent {
    case inserted(any NSFetchedResultsSectionInfo, Int)
    case deleted(any NSFetchedResultsSectionInfo, Int)
}

/// A change of a list as a whole.
enum ListEvent {
    case willChange, didChange, willRefetch, didRefetch
}

/// An observer of a list, which its monitor does not keep alive.
final class ListObserverEntry<O: DynamicObject> {
    private(set) weak var observer: AnyObject?
    /// Nil after the observer was removed.
    private var list: ((ListMonitor<O>, ListEvent, Any?) -> Void)?
    private(set) var object: ((ListMonitor<O>, ListObjectEvent<O>, Any?) -> Void)?
    private(set) var section: ((ListMonitor<O>, ListSectionEvent, Any?) -> Void)?

    init<U: ListObserver>(_ observer: U) where U.ListEntityType == O {
        self.observer = observer
        list = { [weak observer] monitor, event, identifier in
            switch event {
            case .willChange:
                observer?.listMonitorWillChange(monitor, sourceIdentifier: identifier)
            case .didChange:
                observer?.listMonitorDidChange(monitor, sourceIdentifier: identifier)
            case .willRefetch:
                observer?.listMonitorWillRefetch(monitor, sourceIdentifier: identifier)
            case .didRefetch:
                observer?.listMonitorDidRefetch(monitor, sourceIdentifier: identifier)
            }
        }
    }

    func tell(_ monitor: ListMonitor<O>, _ event: ListEvent, _ identifier: Any?) {
        list?(monitor, event, identifier)
    }

    /// Stops all calls of the observer, even in a delivery that is running.
    func end() { (list, object, section, observer) = (nil, nil, nil, nil) }

    /// Calls the observer as another entry of it would.
    func take(from other: ListObserverEntry) {
        (list, object, section) = (other.list, other.object, other.section)
    }

    func followObjects<U: ListObjectObserver>(_ observer: U) where U.ListEntityType == O {
        object = { [weak observer] monitor, event, identifier in
            switch event {
            case .inserted(let object, let path):
                observer?.listMonitor(
                    monitor, didInsertObject: object, toIndexPath: path,
                    sourceIdentifier: identifier)
            case .deleted(let object, let path):
                observer?.listMonitor(
                    monitor, didDeleteObject: object, fromIndexPath: path,
                    sourceIdentifier: identifier)
            case .updated(let object, let path):
                observer?.listMonitor(
                    monitor, didUpdateObject: object, atIndexPath: path,
                    sourceIdentifier: identifier)
            case .moved(let object, let from, let to):
                observer?.listMonitor(
                    monitor, didMoveObject: object, fromIndexPath: from, toIndexPath: to,
                    sourceIdentifier: identifier)
            }
        }
    }

    func followSections<U: ListSectionObserver>(_ observer: U) where U.ListEntityType == O {
        section = { [weak observer] monitor, event, identifier in
            switch event {
            case .inserted(let info, let index):
                observer?.listMonitor(
                    monitor, didInsertSection: info, toSectionIndex: index,
                    sourceIdentifier: identifier)
            case .deleted(let info, let index):
                observer?.listMonitor(
                    monitor, didDeleteSection: info, fromSectionIndex: index,
                    sourceIdentifier: identifier)
            }
        }
    }
}

extension ListMonitor {
    /// Adds an observer of the list as a whole, which is not retained. It replaces the same
    /// observer if that was added before. The static type of the argument decides which callbacks
    /// are called.
    public func addObserver<U: ListObserver>(_ observer: U) where U.ListEntityType == O {
        add(ListObserverEntry(observer))
    }

    /// Adds an observer of the list and of its objects, which is not retained.
    public func addObserver<U: ListObjectObserver>(_ observer: U) where U.ListEntityType == O {
        let entry = ListObserverEntry<O>(observer)
        entry.followObjects(observer)
        add(entry)
    }

    /// Adds an observer of the list, its objects and its sections, which is not retained.
    public func addObserver<U: ListSectionObserver>(_ observer: U) where U.ListEntityType == O {
        let entry = ListObserverEntry<O>(observer)
        entry.followObjects(observer)
        entry.followSections(observer)
        add(entry)
    }

    private func add(_ entry: ListObserverEntry<O>) {
        checkExecutor()
        guard let observer = entry.observer else { return }
        // A delivery that is running goes on with the entry that it has begun with.
        if let known = observers.first(where: { $0.observer === observer }) {
            return known.take(from: entry)
        }
        observers.append(entry)
        observers.removeAll { $0.observer == nil }
    }

    /// Removes an observer. It receives no further calls.
    public func removeObserver<U: ListObserver>(_ observer: U) where U.ListEntityType == O {
        checkExecutor()
        remove(observer)
    }

    private func remove(_ observer: AnyObject) {
        for entry in observers where entry.observer === observer { entry.end() }
        observers.removeAll { $0.observer == nil }
    }
}
