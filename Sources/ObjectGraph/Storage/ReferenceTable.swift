/// References by small numbers, each nil until it is set. For one thread at a time, as what owns it
/// is: a list in a property would be checked for exclusive access at each use, which takes longer
/// than the use.
@safe
final class ReferenceTable<Object: AnyObject> {
    private let slots: UnsafeMutablePointer<Object?>
    let count: Int

    init(count: Int) {
        self.count = count
        unsafe slots = .allocate(capacity: count)
        unsafe slots.initialize(repeating: nil, count: count)
    }

    deinit {
        // Safety: all slots were initialised with the table.
        unsafe slots.deinitialize(count: count)
        unsafe slots.deallocate()
    }

    subscript(index: Int) -> Object? {
        get {
            precondition(index >= 0 && index < count, "a number is outside its table")
            // Safety: the line above proves the index.
            return unsafe slots[index]
        }
        set {
            precondition(index >= 0 && index < count, "a number is outside its table")
            // Safety: the line above proves the index.
            unsafe slots[index] = newValue
        }
    }

    /// Those that were set, in the order of their numbers.
    var all: [Object] { (0..<count).compactMap { self[$0] } }
}
