import CTrellis
import RecordStore

/// Where the wrappers of an object that is being made find their slots: one entry a wrapper, in
/// the order in which they are initialised.
@safe @usableFromInline
final class FieldPlan: @unchecked Sendable {
    private let slots: UnsafeMutablePointer<UInt16>
    private let count: Int

    init(_ slots: [UInt16]) {
        count = slots.count
        // One more, so that a class without fields has an address too.
        unsafe self.slots = UnsafeMutablePointer<UInt16>.allocate(capacity: slots.count + 1)
        // Safety: the block holds one more than `count` entries.
        for (index, slot) in slots.enumerated() {
            unsafe (self.slots + index).initialize(to: slot)
        }
        unsafe (self.slots + slots.count).initialize(to: FieldRegistry.declarationBit)
    }

    deinit {
        // Safety: `init` allocated the block, and no thread lays out objects by this plan any more.
        unsafe slots.deallocate()
    }

    /// A plan that was set before, to be restored: making an object may make another.
    @safe struct Saved {
        fileprivate var pointer: UnsafePointer<UInt16>?
    }

    /// Lays out the objects that this thread makes from now on; nil for a meta object.
    static func replace(with plan: FieldPlan?) -> Saved {
        let saved = unsafe Saved(pointer: trellis_field_plan_get())
        // Safety: the caller keeps the plan alive until it restores the one before.
        unsafe trellis_field_plan_set(plan.map { unsafe UnsafePointer($0.slots) })
        return saved
    }

    static func restore(_ saved: Saved) {
        // Safety: the caller of the outer `replace` keeps that plan alive.
        unsafe trellis_field_plan_set(saved.pointer)
    }

    /// The slot of the next wrapper; nil when a meta object is being built.
    @usableFromInline
    static func next() -> UInt16? {
        guard let pointer = unsafe trellis_field_plan_get() else { return nil }
        // Safety: a class has as many wrappers as its plan has entries, and the entry behind the
        // last ends in a slot that names no property.
        let slot = unsafe pointer.pointee
        unsafe trellis_field_plan_set(pointer + 1)
        return slot
    }
}
