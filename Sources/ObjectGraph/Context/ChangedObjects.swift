/// The created and updated objects of a change buffer, those among them that wait to be flushed,
/// and about how much memory they take.
///
/// One value, because each access to a property of an object is checked for exclusivity, and each
/// change of the program takes several of these.
struct ChangedObjects {
    /// An object without its row: itself, and its entries in lists and tables.
    private static let objectSizeInBytes = 400

    private(set) var created: [CoreStoreObject] = []
    private(set) var touched: [CoreStoreObject] = []
    private(set) var pending: [CoreStoreObject] = []
    /// How many objects were created, including those that were deleted again.
    private(set) var createdCount = 0
    private var sizeInBytes = 0
    /// The memory that the objects may take before they are evicted.
    private var limit = Int.max
    private var limitMin = Int.max
    /// How many of `pending` are counted in the size.
    private var measuredCount = 0

    /// Lowers the limit to that of one more store.
    mutating func lowerLimit(to size: Int) {
        limitMin = min(limitMin, size)
        limit = min(limit, limitMin)
    }

    mutating func create(_ object: CoreStoreObject) {
        createdCount += 1
        created.append(object)
        pending.append(object)
    }

    mutating func add(_ object: CoreStoreObject, isNew: Bool, isPending: Bool) {
        if isNew {
            if object.change.kind == .inserted {
                created.append(object)
            } else {
                touched.append(object)
            }
        }
        if isPending { pending.append(object) }
    }

    mutating func didFlush() {
        measuredCount = 0
        pending.removeAll(keepingCapacity: true)
    }

    // MARK: Memory

    /// Adds what became pending since the last call; returns whether the objects have outgrown
    /// their limit.
    mutating func measure() -> Bool {
        while measuredCount < pending.count {
            count(pending[measuredCount])
            measuredCount += 1
        }
        return sizeInBytes > limit
    }

    private mutating func count(_ object: CoreStoreObject) {
        sizeInBytes += Self.objectSizeInBytes + object.row.buffer.sizeInMemory
    }

    /// Hands out the created and updated objects, to be evicted one after the other.
    mutating func takeListed() -> (created: [CoreStoreObject], touched: [CoreStoreObject]) {
        defer { (created, touched, sizeInBytes) = ([], [], 0) }
        return (created, touched)
    }

    /// Takes back those that must stay, which are looked at again when there are twice as many.
    mutating func restore(created: [CoreStoreObject], touched: [CoreStoreObject]) {
        for object in created { count(object) }
        for object in touched { count(object) }
        self.created.insert(contentsOf: created, at: 0)
        self.touched.insert(contentsOf: touched, at: 0)
        limit = max(limitMin, sizeInBytes * 2)
    }
}
