import Synchronization

/// Values that objects of one entity in one context have beside their rows: those of virtual
/// properties, those that getters computed, and decoded ones. They go when the object reads its
/// row again, and with the object.
///
/// Objects may lose their last reference on any thread, hence the lock.
final class TransientValues: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [ObjectIdentifier: [UInt16: AnyObject]] = [:]
    /// How many objects have values. An object that has some was counted before it can go, so that
    /// one that finds zero here takes no lock.
    private let count = Atomic<Int>(0)

    /// The value that an object keeps for a property.
    subscript(object: CoreStoreObject, index: UInt16) -> AnyObject? {
        get { lock.withLock { values[ObjectIdentifier(object)]?[index] } }
        set {
            // The last reference to the former value is given up outside of the lock: its `deinit`
            // is the program's.
            let former = lock.withLock {
                let former = values[ObjectIdentifier(object)]?[index]
                if former != nil || newValue != nil {
                    values[ObjectIdentifier(object), default: [:]][index] = newValue
                    count.store(values.count, ordering: .relaxed)
                }
                return former
            }
            withExtendedLifetime(former) {}
        }
    }

    func remove(_ object: CoreStoreObject) {
        guard count.load(ordering: .relaxed) > 0 else { return }
        let former = lock.withLock {
            let former = values.removeValue(forKey: ObjectIdentifier(object))
            count.store(values.count, ordering: .relaxed)
            return former
        }
        withExtendedLifetime(former) {}
    }
}

/// A value that is in no record.
final class TransientValue<V> {
    let value: V

    init(_ value: V) { self.value = value }
}

extension CoreStoreObject {
    /// Nil for a meta object, and for a class whose properties are all in its record.
    final var transients: TransientValues? { raw?.kind.transients }

    /// Whether the object belongs to a running transaction.
    final var isEditable: Bool {
        guard let context = raw?.context else { return false }
        return context.allowsChanges && !context.hasEnded
    }

    final func assertIsEditable() {
        Log.assert(
            isEditable, "an object was changed outside of a transaction: edit it in one first")
    }
}
