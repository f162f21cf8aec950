import Synchronization

/// The branches of trees that a snapshot has met, for any number of threads.
///
/// A slot is written once and keeps its page for the table's life, so a reader needs no lock: what
/// it finds in a slot cannot go away under it. Two pages that want one slot: the first stays.
@safe
final class BranchTable: @unchecked Sendable {
    private static let slotCount = 128

    private let slots: UnsafeMutablePointer<Atomic<UInt>>

    init() {
        unsafe slots = .allocate(capacity: Self.slotCount)
        for index in 0..<Self.slotCount { unsafe (slots + index).initialize(to: Atomic(0)) }
    }

    deinit {
        for index in 0..<Self.slotCount {
            // Safety: a slot that is not 0 holds the retained page that `insert` stored.
            if let page = unsafe pointer(index) { unsafe page.release() }
        }
        unsafe slots.deinitialize(count: Self.slotCount)
        unsafe slots.deallocate()
    }

    private func index(_ id: PageID) -> Int { Int(truncatingIfNeeded: id.rawValue) & 127 }

    @inline(__always)
    private func pointer(_ index: Int) -> Unmanaged<PageBuffer.Block>? {
        // Safety: the index is below the count; the bits are those of a retained page, or 0.
        let bits = unsafe slots[index].load(ordering: .acquiring)
        guard let opaque = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
        return unsafe Unmanaged.fromOpaque(opaque)
    }

    @inline(__always)
    func page(_ id: PageID) -> PageBuffer? {
        // Safety: the table retains the page and never replaces it.
        guard let block = unsafe pointer(index(id))?.takeUnretainedValue() else { return nil }
        let page = PageBuffer(block)
        return page.id == id ? page : nil
    }

    /// Goes down from a root as far as the branches on the way are here; nil where its root is not.
    /// Whatever is wrong with a branch ends the way above it: who goes on from there finds it.
    ///
    /// No branch is retained for it: all stay for as long as the table does.
    @inline(__always)
    func way(to key: ByteView, from root: PageID) -> TreeStep? {
        var step: TreeStep?
        while step?.level != 0 {
            let id = step?.id ?? root
            guard let branch = unsafe pointer(index(id)) else { break }
            // Safety: the table retains the page and never replaces it.
            let next = unsafe branch._withUnsafeGuaranteedRef { block -> TreeStep? in
                let page = PageBuffer(block)
                let node = NodeView(validated: page)
                guard page.id == id, node.begins(key),
                    step == nil ? node.isUnbounded : node.level == step?.level
                else { return nil }
                return node.step(to: key)
            }
            guard let next else { break }
            step = next
        }
        return step
    }

    func insert(_ page: PageBuffer) {
        // Safety: the reference is the table's from here on, or given back below.
        let retained = unsafe Unmanaged.passRetained(page.block)
        let bits = unsafe UInt(bitPattern: retained.toOpaque())
        let isStored = unsafe slots[index(page.id)].compareExchange(
            expected: 0, desired: bits, ordering: .acquiringAndReleasing
        ).exchanged
        // Safety: nobody else has seen the reference that was not stored.
        if !isStored { unsafe retained.release() }
    }
}
