/// When observers of a property are told of a write.
enum WriteMoment {
    case before, after
}

/// An observer of writes to one object of a transaction, called by the thread that writes.
protocol WriteObserver: AnyObject {
    /// Nil when it is gone.
    var object: CoreStoreObject? { get }
    func tell(_ moment: WriteMoment, of name: KeyPathString)
    /// Whether the observer is told of writes to a property.
    func follows(_ name: KeyPathString) -> Bool
}

/// The observers of one transaction's objects, which are told of each write by the thread that
/// writes. It keeps none of them alive.
final class WriteObservers: @unchecked Sendable {
    private struct Entry {
        weak var observer: (any WriteObserver)?
        let name: ObjectIdentifier
    }

    /// Any thread may drop the last reference to an observer.
    private let lock = NSLock()
    private var entries: [Entry] = []

    func add(_ observer: any WriteObserver) {
        let entry = Entry(observer: observer, name: ObjectIdentifier(observer))
        lock.withLock { entries.append(entry) }
    }

    func remove(_ observer: any WriteObserver) {
        let name = ObjectIdentifier(observer)
        lock.withLock { entries.removeAll { $0.name == name } }
    }

    /// An object that has no observer any more is written without looking here again.
    func tell(_ moment: WriteMoment, of object: CoreStoreObject, _ name: KeyPathString) {
        let own = lock.withLock { entries }.compactMap(\.observer).filter {
            $0.object === object
        }
        if own.isEmpty { object.isObserved = false }
        for observer in own { observer.tell(moment, of: name) }
    }

    /// The objects that are observed, each once.
    var objects: [CoreStoreObject] {
        var known: Set<ObjectIdentifier> = []
        return lock.withLock { entries }.compactMap { $0.observer?.object }.filter {
            known.insert(ObjectIdentifier($0)).inserted
        }
    }

    /// Tells of several properties that change at once: each observer one time.
    func tell(_ moment: WriteMoment, of object: CoreStoreObject, _ names: Set<KeyPathString>) {
        for observer in lock.withLock({ entries }).compactMap(\.observer)
        where observer.object === object {
            if let name = names.first(where: observer.follows) { observer.tell(moment, of: name) }
        }
    }
}
