import CTrellis
import Primitives
import RecordStore

/// The live objects of one hierarchy in one context, by their numbers. It keeps none alive: an
/// object takes itself out when it goes.
///
/// Objects may lose their last reference on any thread, hence the lock. No object has the number
/// zero, but a damaged file may name it.
final class IdentityMap: Sendable {
    private let table = Mutex(IntegerMap<ObjectIdentifier>())

    /// The object of a number, if there is one.
    func object(_ number: ObjectNumber) -> CoreStoreObject? {
        let retained = table.withLock { table -> UInt in
            table[number.rawValue].map(Self.retain) ?? 0
        }
        return Self.take(retained)
    }

    /// How many objects there are, counting those that are about to go.
    var count: Int { table.withLock { $0.count } }

    /// All objects that there are.
    var liveObjects: [CoreStoreObject] {
        let retained = table.withLock { table in table.values.map(Self.retain) }
        return retained.compactMap(Self.take)
    }

    /// Retains an object of the table, under its lock; 0 when its last reference is gone.
    private static func retain(_ object: ObjectIdentifier) -> UInt {
        // Safety: an object that is in the table has not left its `deinit`, which waits for the
        // lock, so its memory is there.
        unsafe UInt(
            bitPattern: trellis_try_retain(
                UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: object))))
    }

    private static func take(_ retained: UInt) -> CoreStoreObject? {
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: retained) else { return nil }
        // Safety: the table holds objects of this class only, and `retain` retained this one.
        return unsafe Unmanaged<CoreStoreObject>.fromOpaque(pointer).takeRetainedValue()
    }

    /// Enters an object, instead of one that is about to go if there is any.
    func insert(_ object: CoreStoreObject, _ number: ObjectNumber) {
        guard number.rawValue != 0 else { return }
        let name = ObjectIdentifier(object)
        table.withLock { $0[number.rawValue] = name }
    }

    /// Enters an object unless there is one already. Returns the one that is there.
    func insertFirst(_ object: CoreStoreObject, _ number: ObjectNumber) -> CoreStoreObject {
        guard number.rawValue != 0 else { return object }
        let name = ObjectIdentifier(object)
        let retained = table.withLock { table -> UInt in
            let known = table[number.rawValue].map(Self.retain) ?? 0
            if known == 0 { table[number.rawValue] = name }
            return known
        }
        return Self.take(retained) ?? object
    }

    /// Forgets all objects: none is asked for any more, and so none need take itself out.
    func removeAll() { table.withLock { $0 = IntegerMap() } }

    /// Takes out an object that goes, unless another has been entered instead.
    func remove(_ object: CoreStoreObject, _ number: ObjectNumber) {
        guard number.rawValue != 0 else { return }
        let name = ObjectIdentifier(object)
        table.withLock { table in
            guard let index = table.index(of: number.rawValue),
                table.slots[index].value == name
            else { return }
            table.remove(at: index)
        }
    }
}
