import RecordStore

/// The editing context of an unsafe transaction: one commit of each storage, or the state of the
/// transaction around it, and private changes over it. It holds no writer lock: numbers come from
/// the storage's reserve, and a commit hands over what differs.
///
/// Invariants:
/// 1. `touched` of an access names every record that may differ between `base` and `scratch`, and
///    every owner of a list that may.
/// 2. An object's `change.kind` is what its record is to `base`.
final class UnsafeContext: RecordingContext {
    final class Access: EditedAccess {
        /// The records without the context's changes.
        fileprivate(set) var base: RecordReader
        fileprivate(set) var scratch: RecordScratch
        /// The scratch without changes.
        fileprivate(set) var emptyMark: RecordScratch.Mark
        fileprivate(set) var touched: [HierarchyID: Set<ObjectNumber>] = [:]
        /// The rest of the block of numbers that was taken last, and the size of that block, by the
        /// tag of the hierarchy's root.
        fileprivate var blocks: [UInt16: (rest: NumberBlock, count: Int)] = [:]

        init(_ store: AttachedStore, over base: RecordReader, _ evicted: EvictedTable) {
            self.base = base
            scratch = RecordScratch(over: base)
            emptyMark = scratch.mark()
            super.init(store, editor: scratch, evicted)
        }

        fileprivate func move(to base: RecordReader) {
            self.base = base
            scratch = RecordScratch(over: base)
            emptyMark = scratch.mark()
            touched = [:]
            (editor, reader) = (scratch, scratch)
        }
    }

    /// The context whose state this one begins with; nil for one of a stack.
    let parent: UnsafeContext?
    private(set) var changedAccesses: [Access] = []
    private let pins: PinBoard
    private let pinID: UInt64?
    /// Nil without support for undoing.
    private(set) var history: UndoHistory?
    /// The monitors of the transaction; nil while there are none.
    private(set) var observers: TransactionObservers?
    /// Grows when the transaction begins to show something else.
    private(set) var changeCount = 0
    /// The result of the last freeze, by store.
    private var lastFrozen: [ObjectIdentifier: FrozenRecords] = [:]
    /// The state of the scratches at that time.
    private var frozenState = UndoHistory.State()
    /// Whether anything was handed to a scratch since then.
    private var isChangedSinceFreeze = false

    override var editedAccesses: [EditedAccess] { changedAccesses }

    init(
        of stack: DataStack, parent: UnsafeContext?, supportsUndo: Bool, _ place: PinPlace?
    ) {
        self.parent = parent
        pins = stack.pins
        pinID = place.map { stack.pins.add(.unsafeTransaction, $0, commitNumbers: []) }
        super.init(of: stack)
        // A storage that cannot be read says so when it is used.
        for store in stack.stores { _ = try? access(to: store) }
        notePin()
        if supportsUndo { history = UndoHistory(state()) }
    }

    override func openAccess(to store: AttachedStore) throws(StoreError) -> StoreAccess {
        let base: RecordReader =
            if let parent { try parent.frozen(store) } else { try store.database.snapshot() }
        let access = Access(store, over: base, changes.open(store))
        changedAccesses.append(access)
        return access
    }

    private func notePin() {
        guard let pinID else { return }
        let numbers = changedAccesses.compactMap { ($0.base as? RecordSnapshot)?.commitNumber }
        pins.move(pinID, to: numbers)
    }

    func changedAccess(to store: AttachedStore) throws(StoreError) -> Access {
        for access in changedAccesses where access.store === store { return access }
        _ = try access(to: store)
        guard let access = changedAccesses.last, access.store === store else {
            preconditionFailure("an access of an unsafe transaction has a scratch")
        }
        return access
    }

    /// The state of a store with all changes, for any thread.
    func frozen(_ store: AttachedStore) throws(StoreError) -> FrozenRecords {
        try flush()
        return try changedAccess(to: store).scratch.frozen()
    }

    override func readerBefore(for store: AttachedStore) throws(StoreError) -> RecordReader {
        try changedAccess(to: store).base
    }

    override func nextNumber(for kind: ObjectKind) throws(StoreError) -> ObjectNumber {
        let access = try changedAccess(to: kind.store)
        let hierarchy = kind.entity.hierarchy
        if let number = access.blocks[hierarchy.rootTag]?.rest.take() { return number }
        let last = access.blocks[hierarchy.rootTag]?.count ?? 0
        let count = max(1, min(2 * last, Self.blockCountMax))
        var block = try kind.store.database.reserveNumbers(count, in: hierarchy)
        guard let number = block.take() else { preconditionFailure("a block holds numbers") }
        access.blocks[hierarchy.rootTag] = (block, count)
        return number
    }

    private static let blockCountMax = 4096

    override func willFlush() {
        noteTouched()
        history?.isChanged = true
        isChangedSinceFreeze = true
        changeCount += 1
    }

    /// The observers of the transaction.
    func observed() -> TransactionObservers {
        if let observers { return observers }
        let made = TransactionObservers(self)
        observers = made
        return made
    }

    /// An object that the context no longer has, with the values of an earlier state; nil when that
    /// had none either.
    func goneObject(
        _ number: ObjectNumber, in hierarchy: HierarchyID, of store: AttachedStore,
        as reader: RecordReader
    ) throws(StoreError) -> CoreStoreObject? {
        let access = try changedAccess(to: store)
        return try reader.withRow(number, in: hierarchy) { row throws(StoreError) in
            let kind = access.kind(row.entityTag, in: self)
            let object = make(number, kind)
            object.row = FieldRow(try reader.ownedCopy(of: row, kind.entity))
            object.apply(.delete)
            return object
        }
    }

    private func noteTouched() {
        changes.forEachUnflushed { object in
            guard let raw = object.raw else { return }
            for access in changedAccesses where access.store === raw.store {
                access.touched[raw.entity.hierarchy, default: []].insert(raw.number)
            }
        }
    }

    override func end() {
        observers?.end()
        changes.end()
        changes.loadDeletedRows()
        for access in changedAccesses {
            for block in access.blocks.values { access.store.database.returnNumbers(block.rest) }
        }
        changedAccesses = []
        history = nil
        // Denials have objects, which have the context.
        (frozenState, lastFrozen) = (UndoHistory.State(), [:])
        super.end()
        changes.forgetDeleted()
        if let pinID { pins.remove(pinID) }
    }

    // MARK: States

    private func state() -> UndoHistory.State {
        var state = UndoHistory.State(denials: changes.denials)
        for access in changedAccesses {
            state.marks[ObjectIdentifier(access)] = access.scratch.mark()
        }
        state.assigned = assignments()
        return state
    }

    /// The properties that the program assigned, of all changed objects.
    private func assignments() -> [ObjectName: UInt64] {
        var assigned: [ObjectName: UInt64] = [:]
        for object in changes.created where object.change.kind == .inserted {
            if let raw = object.raw { assigned[raw.name] = object.assigned }
        }
        for object in changes.touched where object.change.kind == .updated {
            if let raw = object.raw { assigned[raw.name] = object.assigned }
        }
        return assigned
    }

    /// Returns to a state of the scratches. Objects read their values there at the next access.
    ///
    /// - Parameter isFlushed: whether the scratches have all changes.
    private func restore(_ state: UndoHistory.State, isFlushed: Bool) throws(StoreError) {
        let observed = observedChanges(state, isFlushed: isFlushed)
        for (object, names) in observed { writeObservers?.tell(.before, of: object, names) }
        try restoreUntold(state)
        for (object, names) in observed { writeObservers?.tell(.after, of: object, names) }
    }

    /// The observed objects that are there now and in a state, with the properties that differ.
    private func observedChanges(
        _ state: UndoHistory.State, isFlushed: Bool
    ) -> [(object: CoreStoreObject, names: Set<KeyPathString>)] {
        guard let observed = writeObservers?.objects, !observed.isEmpty else { return [] }
        var found: [(object: CoreStoreObject, names: Set<KeyPathString>)] = []
        for access in changedAccesses {
            let own = observed.filter { $0.raw?.store === access.store }
            if own.isEmpty { continue }
            if isFlushed {
                let before = access.scratch.frozen()
                let mark = access.scratch.mark()
                access.scratch.restore(state.marks[ObjectIdentifier(access)] ?? access.emptyMark)
                let after = access.scratch.frozen()
                access.scratch.restore(mark)
                for object in own {
                    guard let raw = object.raw else { continue }
                    // Of what cannot be compared, anything may differ.
                    let names =
                        (try? RecordDifference(before, after)
                            .names(of: raw.number, in: raw.entity.hierarchy))
                        ?? raw.entity.propertyNames
                    if !names.isEmpty { found.append((object, names)) }
                }
            } else {
                found += own.compactMap { object in
                    object.raw.map { (object, $0.entity.propertyNames) }
                }
            }
        }
        return found
    }

    private func restoreUntold(_ state: UndoHistory.State) throws(StoreError) {
        // Observers that were told before it may have changed more objects.
        noteTouched()
        history?.isChanged = false
        let present = changedAccesses.filter { !$0.store.isDetached }
        // An object that the state does not have keeps its last values.
        for access in present {
            for (hierarchy, numbers) in access.touched {
                for number in numbers {
                    access.registered(number, in: hierarchy)?.loadRow()
                }
            }
        }
        let held = (changes.created, changes.touched, changes.removed)
        let gone = changedObjects { $0.isDetached }
        changes.restart()
        for object in gone { settle(object, state) }
        for access in changedAccesses {
            access.scratch.restore(
                state.marks[ObjectIdentifier(access)] ?? access.emptyMark)
        }
        for access in present {
            for (hierarchy, numbers) in access.touched {
                for number in numbers.sorted() {
                    let object = try reread(number, hierarchy, access)
                    // An assignment that was undone is none.
                    guard let object, let name = object.raw?.name else { continue }
                    object.assigned = state.assigned[name] ?? 0
                }
            }
        }
        changes.replaceDenials(state.denials)
        isChangedSinceFreeze = true
        changeCount += 1
        withExtendedLifetime(held) {}
    }

    /// Gives an object of a storage that was removed its state. It cannot be read again: it keeps
    /// its values, and stays changed unless all changes are discarded.
    private func settle(_ object: CoreStoreObject, _ state: UndoHistory.State) {
        let isListed = changedAccesses.contains { access in
            access.store === object.raw?.store && state.marks[ObjectIdentifier(access)] != nil
        }
        if isListed {
            if object.change.isPending { object.apply(.flush) }
            return changes.list(object)
        }
        let isNew = object.change.kind == .inserted
        object.apply(.rewind)
        object.assigned = 0
        if isNew { object.apply(.delete) }
    }

    /// Gives an object the state that its record has between base and scratch.
    ///
    /// - Returns: the object if the transaction has created or updated it.
    private func reread(
        _ number: ObjectNumber, _ hierarchy: HierarchyID, _ access: Access
    ) throws(StoreError) -> CoreStoreObject? {
        let wasThere = try access.base.contains(number, in: hierarchy)
        let isThere = try access.scratch.contains(number, in: hierarchy)
        let known = access.registered(number, in: hierarchy)
        known?.apply(.rewind)
        known?.assigned = 0
        if let known, isThere { forgetRow(of: known) }
        switch (wasThere, isThere) {
        case (false, false): known?.apply(.delete)
        case (false, true):
            let object = try liveObject(known, number, hierarchy, access)
            object?.apply(.restoreInserted)
            if let object { changes.list(object) }
            return object
        case (true, true):
            guard try !access.scratch.hasSameObject(number, in: hierarchy, as: access.base)
            else { return nil }
            let object = try liveObject(known, number, hierarchy, access)
            object?.apply(.restoreUpdated)
            if let object { changes.list(object) }
            return object
        case (true, false):
            let tag = try access.base.withRow(number, in: hierarchy) { $0.entityTag }
            guard let tag else { return nil }
            let object = known ?? make(number, access.kind(tag, in: self))
            object.apply(.delete)
            changes.list(object)
        }
        return nil
    }

    private func liveObject(
        _ known: CoreStoreObject?, _ number: ObjectNumber, _ hierarchy: HierarchyID,
        _ access: Access
    ) throws(StoreError) -> CoreStoreObject? {
        if let known { return known }
        return try object(number, in: hierarchy, access)
    }

    /// Forgets every change.
    ///
    /// - Parameter keepsCommit: whether the changes of the last commit stay, which is under way.
    func rollBack(keepsCommit: Bool) throws(StoreError) {
        // Observers of properties are told what differs; other rollbacks need no flush.
        let isFlushed = writeObservers != nil && (try? flush()) != nil
        try restore(keepsCommit ? frozenState : UndoHistory.State(), isFlushed: isFlushed)
        if !keepsCommit { for access in changedAccesses { access.touched = [:] } }
        forgetMadeUpRows()
        forgetFailure()
        history?.restart(state())
    }

    // MARK: Undoing

    /// Ends the group of changes that is undone at once.
    func endGroup() throws(StoreError) {
        try flush()
        guard history?.isChanged == true else { return }
        history?.endGroup(state())
    }

    /// Takes back the last group of changes, or does it again. False when there is none.
    func goBack(redoes: Bool) throws(StoreError) -> Bool {
        try endGroup()
        guard let state = redoes ? history?.redo() : history?.undo() else { return false }
        try restore(state, isFlushed: true)
        return true
    }

    // MARK: Commits

    /// The changes against the base, for any thread.
    func freeze() throws(StoreError) -> UnsafeChanges {
        try flush()
        var frozen = UnsafeChanges()
        for access in changedAccesses {
            frozen.parts.append(
                UnsafeChanges.Part(
                    store: access.store, from: access.base, to: access.scratch.frozen(),
                    touched: access.touched))
        }
        frozen.assigned = assignments()
        (lastFrozen, isChangedSinceFreeze) = (frozen.states, false)
        frozenState = state()
        return frozen
    }

    /// The denials but those of objects that a commit has deleted. Called before the move.
    private func standing(
        _ denials: [ChangeBuffer.Denial], in bases: [ObjectIdentifier: RecordReader]
    ) throws(StoreError) -> [ChangeBuffer.Denial] {
        var standing: [ChangeBuffer.Denial] = []
        for denial in denials {
            if let raw = denial.object.raw, let base = bases[ObjectIdentifier(raw.store)],
                try changedAccess(to: raw.store).base
                    .contains(raw.number, in: raw.entity.hierarchy),
                try !base.contains(raw.number, in: raw.entity.hierarchy)
            {
                continue
            }
            standing.append(denial)
        }
        return standing
    }

    /// Moves to the bases that a commit left, and keeps what was changed since it was begun.
    ///
    /// - Parameter committed: the frozen states that the commit took up.
    func move(
        to bases: [ObjectIdentifier: RecordReader],
        committed: [ObjectIdentifier: FrozenRecords]
    ) throws(StoreError) {
        try flush()
        var rest: UnsafeChanges?
        // A later commit may have failed, and its changes are still to be made.
        let isLast = lastFrozen.allSatisfy { committed[$0.key] === $0.value }
        if isChangedSinceFreeze || !isLast { rest = try freeze().since(committed) }
        let denials = try standing(changes.denials, in: bases)
        changeCount += 1
        try reset(to: bases)
        if let rest {
            // Observers were told of these changes when the program made them.
            tellsObservers = false
            defer { tellsObservers = true }
            var merge = ChangeMerge(rest, into: self, over: bases)
            try merge.apply()
            try flush()
            // The merge meets links that others made; those of before are cleared already.
            changes.replaceDenials(denials + changes.denials)
        }
        // These hold the former bases, whose pages no commit could use again.
        (lastFrozen, frozenState) = ([:], UndoHistory.State())
        history?.restart(state())
        notePin()
    }

    private func reset(to bases: [ObjectIdentifier: RecordReader]) throws(StoreError) {
        var live: [(object: CoreStoreObject, isThere: Bool)] = []
        for access in changedAccesses {
            guard let base = bases[ObjectIdentifier(access.store)] else { continue }
            for object in access.liveObjects {
                guard let raw = object.raw else { continue }
                let isThere = try base.contains(raw.number, in: raw.entity.hierarchy)
                // It keeps its last values.
                if !isThere { object.loadRow() }
                live.append((object, isThere))
            }
        }
        // Those of stores that were first used while the commit was under way, and of those that
        // are gone.
        let kept = changedObjects { bases[ObjectIdentifier($0)] == nil }
        changes.restart()
        for object in kept { changes.list(object) }
        for access in changedAccesses {
            if let base = bases[ObjectIdentifier(access.store)] { access.move(to: base) }
        }
        for (object, isThere) in live {
            object.apply(.rewind)
            object.assigned = 0
            if isThere { forgetRow(of: object) } else { object.apply(.delete) }
        }
    }

    /// The changed objects of some stores.
    private func changedObjects(in isMeant: (AttachedStore) -> Bool) -> [CoreStoreObject] {
        var listed = changes.created.filter { $0.change.kind == .inserted }
        listed += changes.touched.filter { $0.change.kind == .updated }
        listed += changes.removed
        return listed.filter { object in object.raw.map { isMeant($0.store) } ?? false }
    }
}
