import RecordStore
import Synchronization

/// The context of a ``ReadView``: one commit of each storage, which never moves, for any number of
/// threads at once.
///
/// Invariants:
/// 1. `accesses` and the kinds of every access are complete when the initialiser returns, and stay
///    as they are until the end, so that reading them takes no lock.
/// 2. An object has its row before the identity map lends it to anyone, and the row never changes:
///    a program reads it as plain memory on any thread.
/// 3. Each ``ReadView`` and each live object counts as a use. The last use ends the context, so
///    that nothing reads it while it ends, and its objects never lose their commit.
final class ReadContext: ObjectContext {
    private let useCount = Atomic<Int>(1)
    private let pins: PinBoard
    private let pinID: UInt64

    /// Pins the newest commits. The caller has one use of it.
    init(of stack: DataStack, _ stores: [AttachedStore], _ place: PinPlace) throws(StoreError) {
        var snapshots: [(store: AttachedStore, snapshot: RecordSnapshot)] = []
        for store in stores { snapshots.append((store, try store.database.snapshot())) }
        pins = stack.pins
        pinID = stack.pins.add(
            .readView, place, commitNumbers: snapshots.map(\.snapshot.commitNumber))
        super.init(of: stack, allowsChanges: false)
        for (store, snapshot) in snapshots {
            let access = StoreAccess(store, snapshot)
            add(access)
            access.makeKinds(in: self)
        }
    }

    override var source: (any FetchableSource & QueryableSource)? {
        // The object that asks is a use.
        guard let stack else { return nil }
        beginUse()
        return ReadView(stack, self)
    }

    override func sees(_ store: AttachedStore) -> Bool { openedAccess(to: store) != nil }

    override func openAccess(to store: AttachedStore) throws(StoreError) -> StoreAccess {
        throw StoreError(.notFound, "the storage was attached after the read view began")
    }

    /// The values of a commit never change.
    override func refresh(_ object: CoreStoreObject, keepsChanges: Bool) {}

    // MARK: Uses

    func beginUse() { useCount.add(1, ordering: .relaxed) }

    func endUse() {
        guard useCount.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        end()
    }

    override func end() {
        stack?.noteObjectsMade(objectsMade)
        super.end()
        pins.remove(pinID)
    }

    // MARK: Objects

    /// The object of a lent row. Several threads may make it at once: the first one stays.
    func share(
        _ number: ObjectNumber, _ row: RowView, _ kind: ObjectKind, _ reader: RecordReader
    ) throws(StoreError) -> CoreStoreObject {
        beginUse()
        let object = kind.newObject(number)
        object.row = FieldRow(try reader.ownedCopy(of: row, kind.entity))
        countMade()
        return kind.objects.insertFirst(object, number)
    }
}
