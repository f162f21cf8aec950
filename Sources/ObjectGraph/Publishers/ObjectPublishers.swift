import Primitives
import RecordStore

/// A publisher of any class.
protocol PublishedObject: AnyObject {
    /// Nil when a step does nothing to the object.
    func change(in delivery: Delivery) -> PublishedChange?
    func forgetSnapshot()
    /// Whether the storage of the object came or went since the last call.
    func noteStore() -> Bool
    func tell(_ change: PublishedChange, _ sourceIdentifier: Any?)
}

/// The part of a published object that differs.
enum PublishedChange {
    case everything
    case properties(Set<KeyPathString>)

    func concerns(_ name: KeyPathString) -> Bool {
        switch self {
        case .everything: true
        case .properties(let names): names.contains(name)
        }
    }
}

/// The publishers of a stack's objects, which it keeps none alive of.
///
/// All that observe are one participant, so that a publisher for each row of a long list costs no
/// registration of its own.
final class ObjectPublishers: ViewParticipant, @unchecked Sendable {
    private struct Key: Hashable {
        var id: NSManagedObjectID
        var type: ObjectIdentifier
        /// The paths to related objects' values that are watched.
        var paths: [[String]]
    }

    private struct Entry {
        weak var publisher: AnyObject?
        var address: ObjectIdentifier
        /// Its place among those that observe; nil while it does not.
        var place: UInt64?
    }

    /// Any thread may drop the last reference to a publisher.
    private let lock = NSLock()
    private var entries: [Key: Entry] = [:]
    private var nextPlace: UInt64 = 0
    private var observingCount = 0
    private weak var observers: ViewObservers?
    /// Those with a later place came after the running delivery was prepared.
    private var preparedPlace: UInt64 = 0
    /// Of the delivery that is running.
    private var concerned: [(publisher: any PublishedObject, change: PublishedChange)] = []

    private func key<O>(_ type: O.Type, _ id: NSManagedObjectID, _ paths: [[String]]) -> Key {
        Key(id: id, type: ObjectIdentifier(type), paths: paths)
    }

    /// The publisher of an object, made when there is none.
    func publisher<O>(
        _ id: NSManagedObjectID, _ paths: [[String]], _ make: () -> ObjectPublisher<O>
    ) -> ObjectPublisher<O> {
        let key = key(O.self, id, paths)
        let known: AnyObject? = lock.withLock {
            guard let entry = entries[key] else { return nil }
            return entry.publisher
        }
        if let known = known as? ObjectPublisher<O> { return known }
        let made = make()
        lock.withLock {
            // One that is going finds another in its place, and leaves it there.
            let earlier = entries.updateValue(
                Entry(publisher: made, address: ObjectIdentifier(made)), forKey: key)
            if earlier?.place != nil { endObserving() }
        }
        return made
    }

    func observe<O>(
        _ publisher: ObjectPublisher<O>, _ id: NSManagedObjectID, _ paths: [[String]],
        _ stack: DataStack
    ) {
        func begin() {
            lock.withLock {
                entries[key(O.self, id, paths)]?.place = nextPlace
                nextPlace += 1
                observingCount += 1
                observers = stack.observers
                // With the lock held: the last publisher may be going on another thread.
                if observingCount == 1 { stack.observers.add(self, .publisher) }
            }
        }
        if lock.withLock({ observingCount == 0 }) {
            stack.withView { _ in begin() }
        } else {
            begin()
        }
    }

    /// Called with the lock held.
    private func endObserving() {
        observingCount -= 1
        if observingCount == 0 { observers?.remove(self) }
    }

    /// Called by a publisher that goes.
    func remove<O>(
        _ publisher: ObjectPublisher<O>, _ id: NSManagedObjectID, _ paths: [[String]]
    ) {
        let key = key(O.self, id, paths)
        lock.withLock {
            guard let entry = entries[key], entry.address == ObjectIdentifier(publisher) else {
                return
            }
            entries[key] = nil
            if entry.place != nil { endObserving() }
        }
    }

    private var observing: [any PublishedObject] {
        let found = lock.withLock { entries.values.filter { $0.place != nil } }
        return found.sorted { ($0.place ?? 0) < ($1.place ?? 0) }
            .compactMap { $0.publisher as? any PublishedObject }
    }

    // MARK: Deliveries

    func prepare(_ delivery: Delivery) -> Bool {
        let observing = observing
        preparedPlace = lock.withLock { nextPlace }
        concerned = observing.compactMap { publisher in
            publisher.change(in: delivery).map { (publisher, $0) }
        }
        return !concerned.isEmpty
    }

    func keepOld(_ delivery: Delivery) {
        for (publisher, _) in concerned { publisher.forgetSnapshot() }
    }

    /// Publishers that observers joined during a callback still hold the commit before.
    func show(_ delivery: Delivery) {
        let place = lock.withLock { nextPlace }
        guard place != preparedPlace else { return }
        preparedPlace = place
        for publisher in observing { publisher.forgetSnapshot() }
    }

    func tellChanges(_ delivery: Delivery) {
        let told = concerned
        concerned = []
        for (publisher, change) in told { publisher.tell(change, delivery.sourceIdentifier) }
    }

    func storesChanged() {
        let concerned = observing.filter { $0.noteStore() }
        for publisher in concerned { publisher.forgetSnapshot() }
        for publisher in concerned { publisher.tell(.everything, nil) }
    }
}

/// The observers of a publisher, which retains none of them.
struct PublisherObservers<Publisher: AnyObject> {
    private final class Entry {
        weak var observer: AnyObject?
        var callback: ((Publisher, Any?) -> Void)?

        init(_ observer: AnyObject, _ callback: @escaping (Publisher, Any?) -> Void) {
            self.observer = observer
            self.callback = callback
        }
    }

    private var entries: [Entry] = []

    mutating func add(_ observer: AnyObject, _ callback: @escaping (Publisher, Any?) -> Void) {
        entries.removeAll { $0.observer == nil || $0.callback == nil }
        // A delivery that is running goes on with the entry that it has begun with.
        if let known = entries.first(where: { $0.observer === observer }) {
            known.callback = callback
        } else {
            entries.append(Entry(observer, callback))
        }
    }

    mutating func remove(_ observer: AnyObject) {
        // It is not told by a delivery that is running either.
        for entry in entries where entry.observer === observer { entry.callback = nil }
        entries.removeAll { $0.observer == nil || $0.callback == nil }
    }

    func tell(_ publisher: Publisher, _ sourceIdentifier: Any?) {
        for entry in entries where entry.observer != nil {
            entry.callback?(publisher, sourceIdentifier)
        }
    }
}
