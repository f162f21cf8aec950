import PageStore
import Primitives

/// A block of object numbers that only its holder may assign. Unused numbers may be returned;
/// otherwise they stay unused for good.
package struct NumberBlock: Sendable {
    package let hierarchy: HierarchyID
    fileprivate var next: UInt64
    fileprivate let end: UInt64

    /// The next number; nil if the block is used up.
    package mutating func take() -> ObjectNumber? {
        guard next < end else { return nil }
        defer { next += 1 }
        return ObjectNumber(next)
    }
}

/// Allocates the object numbers of a store, each once, for any thread (decisions/020).
///
/// Invariants:
/// - A number is given out only after a durable commit has raised `reserved/` in the catalog to it,
///   so that no later opening gives it out again, even after a crash.
/// - Within one opening numbers only rise; returned ones were never given to an object.
/// - A reservation takes effect after it has held the writer lock. Until then no other is made, and
///   one that a lowering has overtaken is ignored.
/// - Raising `reserved/` takes a commit of its own, before a transaction begins and never within
///   one: the first in each opening and after each requested checkpoint, and one whenever half of a
///   reservation is used up.
final class NumberReserve: Sendable {
    /// How many numbers one commit reserves. Every transaction begins with at least half of them,
    /// which is more than it can hold.
    static let reservationCount: UInt64 = 1 << 32
    static let numberMax: UInt64 = 1 << 62

    /// The unused part of a hierarchy's reservation.
    private struct Range {
        var next: UInt64
        var end: UInt64

        var isLow: Bool {
            end <= numberMax && end - min(next, end) < reservationCount / 2
        }
    }

    private struct State {
        /// By the tag of the hierarchy's root; empty while nothing is reserved.
        var ranges: [Range?] = []
        /// The reservation's commit until it is durable: none of its numbers may be given out
        /// before.
        var staged: StagedCommit?
        var isLow = true
        /// A reservation is being staged, which waits for nothing.
        var isRaising = false
        /// How many reservations and lowerings have held the writer lock.
        var turnCount: UInt64 = 0
        /// The order of the last one that took effect.
        var lastOrder: UInt64 = 0
        /// Why the last reservation failed.
        var failure: StoreError?
        var isClosed = false
    }

    private let schema: Schema
    private let catalog: Catalog
    private let state = Mutex(State())

    init(_ schema: Schema, _ catalog: Catalog) {
        self.schema = schema
        self.catalog = catalog
    }

    private var roots: [EntityLayout] { schema.entities.filter { $0.superentityTag == nil } }

    // MARK: Giving out

    /// Takes reserved numbers for the running transaction, which guarantees that there are some.
    /// Fewer than `count` only if they are the hierarchy's last.
    func take(_ count: Int, in hierarchy: HierarchyID) throws(StoreError) -> NumberBlock {
        guard let block = try takeReserved(count, in: hierarchy) else {
            throw .corrupt(nil, "the store has reserved no object numbers")
        }
        return block
    }

    /// Takes numbers without a transaction. If nothing is reserved, waits for the running one to
    /// end.
    func take(
        _ count: Int, in hierarchy: HierarchyID, reservingIn engine: Engine
    ) throws(StoreError) -> NumberBlock {
        while true {
            if let block = try takeReserved(count, in: hierarchy) { return block }
            try beginWrite(engine).rollback()
        }
    }

    /// Nil if nothing is reserved.
    private func takeReserved(
        _ count: Int, in hierarchy: HierarchyID
    ) throws(StoreError) -> NumberBlock? {
        precondition(count > 0, "a block holds numbers")
        while true {
            let (block, staged) = try state.withLock {
                state throws(StoreError) -> (NumberBlock?, StagedCommit?) in
                if state.isClosed { throw StoreError(.closed, "the store has been closed") }
                if state.ranges.isEmpty, state.failure == nil { return (nil, nil) }
                if let staged = state.staged { return (nil, staged) }
                return (try take(UInt64(count), in: hierarchy, &state), nil)
            }
            guard let staged else { return block }
            try settle(staged)
        }
    }

    private func take(
        _ count: UInt64, in hierarchy: HierarchyID, _ state: inout State
    ) throws(StoreError) -> NumberBlock {
        let tag = Int(hierarchy.rootTag)
        guard tag < state.ranges.count, var range = state.ranges[tag] else {
            throw state.failure ?? .corrupt(nil, "the store has reserved no object numbers")
        }
        guard range.next < range.end else {
            throw state.failure
                ?? StoreError(
                    .tooLarge, "the hierarchy has given out all its numbers",
                    page: catalog.counters.root.rawValue)
        }
        let end = range.next + min(count, range.end - range.next)
        let block = NumberBlock(hierarchy: hierarchy, next: range.next, end: end)
        range.next = end
        state.ranges[tag] = range
        if range.isLow { state.isLow = true }
        return block
    }

    /// Waits until a reservation is durable.
    private func settle(_ staged: StagedCommit) throws(StoreError) {
        do throws(StoreError) {
            try staged.finish()
        } catch {
            // The caller has made no commit whose outcome could be uncertain.
            var failure = error
            if error.code == .commitUncertain { failure.code = .io }
            throw failure
        }
        state.withLock { state in
            if state.staged?.number == staged.number { state.staged = nil }
        }
    }

    /// Returns the rest of a block, if no other block was taken since.
    func giveBack(_ block: NumberBlock) {
        guard block.next < block.end else { return }
        let tag = Int(block.hierarchy.rootTag)
        state.withLock { state in
            guard tag < state.ranges.count, state.ranges[tag]?.next == block.end else { return }
            state.ranges[tag]?.next = block.next
        }
    }

    /// Marks numbers up to one as given out, because an object that was numbered elsewhere has it.
    func pass(_ number: UInt64, in hierarchy: HierarchyID) {
        let tag = Int(hierarchy.rootTag)
        state.withLock { state in
            guard tag < state.ranges.count, var range = state.ranges[tag] else { return }
            range.next = max(range.next, min(number, Self.numberMax) + 1)
            state.ranges[tag] = range
            if range.isLow { state.isLow = true }
        }
    }

    // MARK: Reserving

    /// Begins a transaction for which enough numbers are reserved.
    func beginWrite(_ engine: Engine) throws(StoreError) -> WriteTransaction {
        while true {
            let editor = try engine.beginWrite()
            let (isLow, isRaising) = state.withLock { state in
                (state.isLow && !state.isClosed, state.isRaising)
            }
            guard isLow else { return editor }
            guard !isRaising else {
                editor.rollback()
                continue
            }
            do throws(StoreError) {
                let raised = try raise(in: editor)
                note(raised, try editor.stage(.durable))
            } catch {
                // A transaction that creates no objects can run without numbers.
                editor.rollback()
                state.withLock { ($0.failure, $0.isRaising) = (error, false) }
                return try engine.beginWrite()
            }
        }
    }

    /// The ranges that a transaction reserves, and its order among the writers.
    private struct Reservation {
        var ranges: [Range?]
        var order: UInt64
    }

    /// Raises the counters in a transaction; the result is reserved once that is committed.
    private func raise(in editor: WriteTransaction) throws(StoreError) -> Reservation {
        var (ranges, order) = state.withLock { state in
            state.turnCount += 1
            state.isRaising = true
            return (state.ranges, state.turnCount)
        }
        if ranges.isEmpty {
            ranges = Array(repeating: nil, count: schema.tagMax + 1)
        }
        for root in roots {
            let next: UInt64
            if let known = ranges[Int(root.tag)] {
                next = known.next
            } else {
                next = try catalog.lastNumber(root.hierarchy, of: editor) + 1
            }
            let end = min(next + Self.reservationCount, Self.numberMax + 1)
            try catalog.setCounter(
                Catalog.reservedKey(root.hierarchy), end - 1, in: editor)
            ranges[Int(root.tag)] = Range(next: next, end: end)
        }
        return Reservation(ranges: ranges, order: order)
    }

    private func note(_ reservation: Reservation, _ staged: StagedCommit?) {
        state.withLock { state in
            state.isRaising = false
            guard reservation.order > state.lastOrder else { return }
            state.lastOrder = reservation.order
            for (tag, range) in reservation.ranges.enumerated() where tag < state.ranges.count {
                // Other threads may have taken numbers of the previous reservation meanwhile.
                guard let range, let known = state.ranges[tag] else { continue }
                state.ranges[tag] = Range(next: max(known.next, range.next), end: range.end)
            }
            if state.ranges.isEmpty { state.ranges = reservation.ranges }
            (state.staged, state.isLow, state.failure) = (staged, false, nil)
        }
    }

    /// Makes the first reservation part of the commit that creates the store.
    func create(in editor: WriteTransaction) throws(StoreError) {
        let raised = try raise(in: editor)
        _ = try editor.commit()
        note(raised, nil)
    }

    /// Reserves numbers for a transaction that another one contains. They are not durable before
    /// its commit, so an object that is not committed may have the number of a later one.
    func reserve(in editor: WriteTransaction) throws(StoreError) {
        note(try raise(in: editor), nil)
    }

    /// Releases in the same transaction what is left of ``reserve(in:)``.
    func release(in editor: WriteTransaction) throws(StoreError) {
        try lower(to: state.withLock { $0.ranges }, in: editor)
    }

    // MARK: Lowering

    /// Releases reserved numbers that were not given out, before a requested checkpoint, so that
    /// closing after it has nothing to log. The next transaction reserves anew.
    func lower(_ engine: Engine) {
        guard state.withLock({ !$0.ranges.isEmpty && !$0.isClosed }),
            let editor = try? engine.beginWrite()
        else { return }
        // From here on no number is given out that the commit does not count.
        let ranges = state.withLock { state in
            defer { (state.ranges, state.staged, state.isLow) = ([], nil, true) }
            state.turnCount += 1
            state.lastOrder = state.turnCount
            return state.ranges
        }
        lower(to: ranges, in: editor) { editor throws(StoreError) in
            _ = try editor.stage(.relaxed)
        }
    }

    /// Releases the unused numbers when the store closes. Returns whether closing has to make a
    /// checkpoint. This commit alone does not require one: it stays in the log, and the previous
    /// generation keeps the pages that the checkpoint replaced.
    func close(_ engine: Engine) -> Bool {
        guard state.withLock({ !$0.ranges.isEmpty }), let editor = try? engine.beginWrite()
        else { return true }
        let ranges = state.withLock { state in
            state.isClosed = true
            return state.ranges
        }
        let isCheckpointed = editor.followsCheckpoint
        lower(to: ranges, in: editor) { editor throws(StoreError) in
            if isCheckpointed {
                _ = try editor.commit()
            } else {
                _ = try editor.stage(.relaxed)
            }
        }
        return !isCheckpointed
    }

    private func lower(
        to ranges: [Range?], in editor: WriteTransaction,
        _ commit: (WriteTransaction) throws(StoreError) -> Void
    ) {
        do throws(StoreError) {
            try lower(to: ranges, in: editor)
            try commit(editor)
        } catch {
            // The reserved numbers then stay unused.
            editor.rollback()
        }
    }

    private func lower(to ranges: [Range?], in editor: WriteTransaction) throws(StoreError) {
        for root in roots where Int(root.tag) < ranges.count {
            guard let range = ranges[Int(root.tag)] else { continue }
            try catalog.setReserved(range.next - 1, root.hierarchy, in: editor)
        }
    }
}
