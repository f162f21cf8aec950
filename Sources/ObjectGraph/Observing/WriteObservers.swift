/// When observers of a property are told of a write.
enum WriteMoment {
    case before, after
}

/// The observations of properties of one transaction's objects, which are told of each write by the
/// thread that writes. It keeps none of them alive.
final class WriteObservers: @unchecked Sendable {
    private struct Entry {
        weak var observation: CoreStoreObjectKeyValueObservation?
        let name: ObjectIdentifier
    }

    /// Any thread may drop the last reference to an observation.
    private let lock = NSLock()
    private var entries: [Entry] = []

    func add(_ observation: CoreStoreObjectKeyValueObservation) {
        let entry = Entry(observation: observation, name: ObjectIdentifier(observation))
        lock.withLock { entries.append(entry) }
    }

    func remove(_ observation: CoreStoreObjectKeyValueObservation) {
        let name = ObjectIdentifier(observation)
        lock.withLock { entries.removeAll { $0.name == name } }
    }

    /// An object that has no observer any more is written without looking here again.
    func tell(_ moment: WriteMoment, of object: CoreStoreObject, _ name: KeyPathString) {
        let own = lock.withLock { entries }.compactMap(\.observation).filter {
            $0.object === object
        }
        if own.isEmpty { object.isObserved = false }
        for observation in own { observation.tell(moment, of: name) }
    }
}
