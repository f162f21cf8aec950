import Primitives
import RecordStore
import struct Synchronization.Atomic

/// The fault that a context met where it could not throw, for the next call that can.
final class PendingFault: Sendable {
    private let isSet = Atomic<Bool>(false)
    private let error = Mutex<StoreError?>(nil)

    func set(_ fault: StoreError) {
        error.withLock { $0 = $0 ?? fault }
        isSet.store(true, ordering: .releasing)
    }

    /// The fault, once.
    func take() -> StoreError? {
        guard isSet.load(ordering: .acquiring) else { return nil }
        return error.withLock { error in
            defer {
                error = nil
                isSet.store(false, ordering: .releasing)
            }
            return error
        }
    }
}

extension ObjectContext {
    /// Reports an error of reading where the call cannot throw, unless a caller further out can.
    final func failReading(_ error: StoreError, _ message: String) {
        if !FaultTrap.take(CoreStoreError(error), of: self) { fail(error, message) }
    }

    /// Logs an error and tells the program.
    final func report(_ error: StoreError, _ message: String) {
        let failure = CoreStoreError(error)
        if let stack { stack.faults.report(failure, message) } else { Log.error(failure, message) }
    }

    final func isMadeUp(_ object: CoreStoreObject) -> Bool {
        object.raw.map { madeUpRows[$0.name] != nil } ?? false
    }

    /// Has an object whose row could not be read take the one that can be read now.
    final func forgetMadeUpRow(of object: CoreStoreObject) {
        guard object.change == .stored, isMadeUp(object) else { return }
        forgetRow(of: object)
    }

    final func forgetMadeUpRows() {
        guard !madeUpRows.isEmpty else { return }
        for access in accesses {
            for object in access.liveObjects { forgetMadeUpRow(of: object) }
        }
        madeUpRows = [:]
    }

    /// Reads the row of an object that has none yet. Throws also where it was read before, and the
    /// object has the defaults since.
    final func loadRow(of object: CoreStoreObject, _ raw: RawObject) throws(StoreError) {
        if object.isRowLoaded {
            if let error = madeUpRows[raw.name] { throw error }
            return
        }
        // One that is gone has the defaults.
        object.row = FieldRow(try readRow(of: object, raw) ?? raw.entity.emptyRow())
    }
}
