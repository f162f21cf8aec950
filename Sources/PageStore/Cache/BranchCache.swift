import Primitives

/// The branches of trees that a snapshot has met, for any number of threads.
///
/// A slot keeps its page for the cache's life, so a reader needs no lock.
struct BranchCache {
    private static let slotCount = 128

    private let slots = WriteOnceTable<PageBuffer.Block>(slotCount: slotCount)

    @inline(__always)
    private func index(_ id: PageID) -> Int { Int(truncatingIfNeeded: id.rawValue) }

    @inline(__always)
    func page(_ id: PageID) -> PageBuffer? {
        guard let block = slots.object(at: index(id)) else { return nil }
        let page = PageBuffer(block)
        return page.id == id ? page : nil
    }

    /// Goes down from a root as far as the cache has the branches on the way; nil where it has not
    /// the root. Stops at the first invalid branch: the ordinary descent reports the error.
    ///
    /// No branch is retained for it: all stay for as long as the cache does.
    @inline(__always)
    func descent(to key: ByteView, from root: PageID) -> TreeStep? {
        var step: TreeStep?
        while step?.level != 0 {
            let id = step?.id ?? root
            let next = slots.withObject(at: index(id)) { block -> TreeStep? in
                let page = PageBuffer(block)
                let node = NodeView(validated: page)
                guard page.id == id, node.begins(key),
                    step == nil ? node.isUnbounded : node.level == step?.level
                else { return nil }
                return node.step(to: key)
            }
            guard let next, let next else { break }
            step = next
        }
        return step
    }

    func insert(_ page: PageBuffer) { slots.insert(page.block, at: index(page.id)) }
}
