import CFieldPlan
import RecordStore
import Synchronization

/// The live objects of one hierarchy in one context, by their numbers. It keeps none alive: an
/// object takes itself out when it goes.
///
/// Open addressing with linear probing; a removal shifts back what follows, so that nothing marks
/// former entries. Objects may lose their last reference on any thread, hence the lock.
@safe
final class IdentityMap: @unchecked Sendable {
    private struct Slot {
        /// Zero where nothing is; no object has the number zero.
        var number: UInt64
        var address: UInt
    }

    @safe private struct Table: ~Copyable {
        var slots: UnsafeMutablePointer<Slot>
        var mask: Int
        var count = 0

        init(capacity: Int) {
            mask = capacity - 1
            unsafe slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
            unsafe slots.initialize(repeating: Slot(number: 0, address: 0), count: capacity)
        }

        deinit { unsafe slots.deallocate() }

        /// Numbers often come in strides; the factor spreads them over the table.
        func home(_ number: UInt64) -> Int {
            Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
        }

        /// The slot that has a number, or the free one where it belongs.
        func index(of number: UInt64) -> Int {
            var index = home(number)
            // Safety: the mask keeps every index inside; a quarter of the slots is always free,
            // so the search ends.
            while unsafe slots[index].number != number && slots[index].number != 0 {
                index = (index &+ 1) & mask
            }
            return index
        }

        mutating func set(_ number: UInt64, _ address: UInt) {
            if count &* 4 >= (mask &+ 1) &* 3 { grow() }
            let index = index(of: number)
            // Safety: `index(of:)` gives an index inside.
            if unsafe slots[index].number == 0 { count &+= 1 }
            unsafe slots[index] = Slot(number: number, address: address)
        }

        private mutating func grow() {
            var larger = Table(capacity: (mask &+ 1) &* 2)
            // Safety: the mask is the last index.
            for index in 0...mask where unsafe slots[index].number != 0 {
                let target = larger.index(of: unsafe slots[index].number)
                unsafe larger.slots[target] = slots[index]
            }
            unsafe swap(&slots, &larger.slots)
            swap(&mask, &larger.mask)
        }

        mutating func remove(at removed: Int) {
            count &-= 1
            var hole = removed
            var index = (hole &+ 1) & mask
            // Safety: the mask keeps every index inside.
            while unsafe slots[index].number != 0 {
                let distance = (index &- home(unsafe slots[index].number)) & mask
                if distance >= (index &- hole) & mask {
                    unsafe slots[hole] = slots[index]
                    hole = index
                }
                index = (index &+ 1) & mask
            }
            unsafe slots[hole] = Slot(number: 0, address: 0)
        }
    }

    private let table = Mutex(Table(capacity: 16))

    /// The object of a number, if there is one.
    func object(_ number: ObjectNumber) -> CoreStoreObject? {
        let retained = table.withLock { table -> UInt in
            // Safety: `index(of:)` gives an index inside.
            let slot = unsafe table.slots[table.index(of: number.rawValue)]
            guard slot.number != 0 else { return 0 }
            // Safety: an object that is in the table has not left its `deinit`, which waits for
            // this lock, so its memory is there.
            return unsafe UInt(
                bitPattern: trellis_try_retain(UnsafeMutableRawPointer(bitPattern: slot.address)))
        }
        guard let address = unsafe UnsafeRawPointer(bitPattern: retained) else { return nil }
        // Safety: the table holds objects of this class only, and this one was retained above.
        return unsafe Unmanaged<CoreStoreObject>.fromOpaque(address).takeRetainedValue()
    }

    /// All objects that there are.
    var liveObjects: [CoreStoreObject] {
        let retained = table.withLock { table in
            // Safety: the mask is the last index; and an object that is in the table has not left
            // its `deinit`, which waits for this lock, so its memory is there.
            (0...table.mask).compactMap { index -> UInt? in
                let slot = unsafe table.slots[index]
                guard slot.number != 0 else { return nil }
                let pointer = unsafe UnsafeMutableRawPointer(bitPattern: slot.address)
                let address = unsafe UInt(bitPattern: trellis_try_retain(pointer))
                return address == 0 ? nil : address
            }
        }
        return retained.compactMap { address in
            guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
            // Safety: the table holds objects of this class only, and this one was retained above.
            return unsafe Unmanaged<CoreStoreObject>.fromOpaque(pointer).takeRetainedValue()
        }
    }

    /// Enters an object, in the place of one that is about to go if there is any.
    func insert(_ object: CoreStoreObject, _ number: ObjectNumber) {
        guard number.rawValue != 0 else { return }
        let address = UInt(bitPattern: ObjectIdentifier(object))
        table.withLock { table in table.set(number.rawValue, address) }
    }

    /// Forgets all objects: nobody asks for one any more, and so none need take itself out.
    func removeAll() { table.withLock { $0 = Table(capacity: 16) } }

    /// Takes out an object that goes, unless another has taken its place.
    func remove(_ object: CoreStoreObject, _ number: ObjectNumber) {
        guard number.rawValue != 0 else { return }
        let address = UInt(bitPattern: ObjectIdentifier(object))
        table.withLock { table in
            let index = table.index(of: number.rawValue)
            // Safety: `index(of:)` gives an index inside.
            if unsafe table.slots[index].address == address { table.remove(at: index) }
        }
    }
}
