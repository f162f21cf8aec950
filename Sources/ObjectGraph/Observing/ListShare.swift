import Primitives
import Query
import RecordStore

/// A list that is kept over the steps of a stack, ahead of the view.
///
/// Three users: computation takes steps, under the lock of ``ListShares``; the view's executor
/// shows what was computed for the steps that it delivers; any thread may drop the last reference.
final class ListShare: @unchecked Sendable {
    /// The list after a step.
    private struct State {
        var position: UInt64
        var content: ListContent
        /// From the state before; nil when nothing that is shown differs.
        var difference: ListDifference?
        var lookup: ListLookup
        /// Whether the state before was dropped.
        var isJoined = false
        /// Whether it makes up for a step that could not be read: the view may have taken that one,
        /// and has what it changed already.
        var isRecovered = false
    }

    let stores: [AttachedStore]
    let request: ListRequest
    /// Whether the list is computed on the executor alone, as each step is delivered: sections that
    /// a property computes run code of the program.
    let isBound: Bool
    private let lists: ListShares
    /// The commits that the list was last computed for; with the lock of computation.
    private var snapshots: [RecordSnapshot]
    /// Nil until it has been fetched; with the lock of computation.
    private var list: LiveList?
    /// Steps that wait for the fetch; with the lock of computation.
    private var early: [CommitStep] = []
    /// That of the last step that the list was computed for; with the lock of computation.
    private var position: UInt64 = 0
    /// Whether the last step could not be read, so that the content is of an earlier one; with the
    /// lock of computation.
    private(set) var isBehind = false
    private var hasWarned = false
    private let states = Mutex<[State]>([])
    /// The list that the view shows; used where the view lives.
    private(set) var shown: ListContent
    private(set) var lookup: ListLookup?
    /// What the step that is being delivered changes, for all that show the list; used where the
    /// view lives.
    private var told: (position: UInt64, change: ListChangeSet)?
    /// The list after that step.
    private var toldContent: ListedContent?

    /// - Parameter snapshots: one for each store: where the list begins.
    init(
        _ request: ListRequest, _ stores: [AttachedStore], _ snapshots: [RecordSnapshot],
        in lists: ListShares, isBound: Bool
    ) {
        self.request = request
        self.isBound = isBound
        self.stores = stores
        self.snapshots = snapshots
        self.lists = lists
        shown = ListContent(tree: CountedTree(), lineage: 0)
    }

    deinit { lists.remove(self) }

    // MARK: Fetching

    /// The list as it is where it begins. Takes as long as a fetch, and needs no lock.
    func fetched() throws -> LiveList {
        try LiveList(request, in: zip(stores, snapshots).map { ($0.identity, $1) })
    }

    /// Begins with what was fetched, and makes up for the steps since; with the lock of
    /// computation.
    ///
    /// - Parameter taken: the position of the last step that the view took.
    func begin(_ list: LiveList, _ taken: UInt64) {
        self.list = list
        states.withLock {
            $0.append(
                State(
                    position: 0, content: list.content, difference: nil, lookup: list.lookup))
        }
        warnOfRepeatedSections(list.content)
        for step in early where !isBound || step.position <= taken { compute(step) }
        early = []
    }

    /// How the list follows changes, for people.
    var explanation: String {
        lists.compute { list?.explanation ?? "not fetched yet" }
    }

    // MARK: Computing

    /// Takes a step ahead of the view; with the lock of computation. A list that is bound to the
    /// executor leaves it for its delivery.
    func take(_ step: CommitStep, _ waiting: StepQueue) {
        if list == nil {
            keep(step, waiting)
        } else if !isBound {
            compute(step)
            dropStates(waiting)
        }
    }

    /// Has a list that is bound to the executor take the step that the view takes next; called
    /// there, with the lock of computation.
    func takeDelivered(_ step: CommitStep) {
        if isBound, list != nil, step.position > position { compute(step) }
    }

    private func compute(_ step: CommitStep) {
        position = step.position
        var isMoved = false
        let steps = stores.indices.map { index in
            let before = snapshots[index]
            guard let part = step.parts.first(where: { $0.store === stores[index] }),
                part.snapshot.commitNumber >= before.commitNumber
            else { return StoreStep(before: before, after: before, changes: ChangeSet()) }
            isMoved = true
            snapshots[index] = part.snapshot
            let isSame = part.snapshot.commitNumber == before.commitNumber
            return StoreStep(
                before: before, after: part.snapshot,
                changes: isSame ? ChangeSet() : part.changes(since: before))
        }
        guard isMoved else { return }
        do {
            let difference = try list?.take(steps)
            let isRecovered = isBehind
            isBehind = false
            guard let list else { return }
            warnOfRepeatedSections(list.content)
            states.withLock {
                $0.append(
                    State(
                        position: step.position, content: list.content, difference: difference,
                        lookup: list.lookup, isRecovered: isRecovered))
            }
        } catch {
            // The content stays, and the next step makes up for this one.
            if !isBehind {
                let (faults, failure) = (lists.faults, CoreStoreError(error))
                lists.log {
                    faults.report(failure, "an observed list could not be kept up to date.")
                }
            }
            isBehind = true
        }
    }

    private func warnOfRepeatedSections(_ content: ListContent) {
        guard content.hasRepeatedSections, !hasWarned else { return }
        hasWarned = true
        lists.log { [name = request.entityName] in ListContent.warnOfRepeatedSections(of: name) }
    }

    /// Drops the states that the view cannot show any more, because the steps at which it would
    /// have stopped were joined. Else a list would grow with each commit while nothing serves the
    /// executor.
    private func dropStates(_ waiting: StepQueue) {
        let (taken, others) = waiting.positions
        let stops = [taken] + others
        states.withLock { states in
            states = states.reduce(into: []) { kept, next in
                guard let last = kept.last,
                    !stops.contains(where: { (last.position..<next.position).contains($0) })
                else { return kept.append(next) }
                kept[kept.count - 1] = next
                kept[kept.count - 1].isJoined = true
                if last.isRecovered { kept[kept.count - 1].isRecovered = true }
            }
        }
    }

    /// Keeps a step until the list is fetched. Too many are joined, but each at which the view may
    /// be then ends one: the list must not go on to a later step than the view.
    private func keep(_ step: CommitStep, _ waiting: StepQueue) {
        if early.count >= StepQueue.separateMax {
            let (taken, others) = waiting.positions
            let stops = Set(others + [taken])
            early = early.reduce(into: []) { joined, next in
                guard let last = joined.last, !stops.contains(last.position) else {
                    return joined.append(next)
                }
                joined[joined.count - 1] = last.joined(with: next)
            }
        }
        early.append(step)
    }

    // MARK: Showing

    /// The difference when the view shows a step; nil when there is none.
    func change(in delivery: Delivery) -> ListChangeSet? {
        let position = delivery.step.position
        if let told, told.position == position { return told.change }
        let (due, last, isRecovered) = states.withLock { states in
            let due = states.prefix { $0.position <= position }
            return (due.count, due.last, due.contains(where: \.isRecovered))
        }
        guard let last else { return nil }
        let isNext = due == 1 && last.position > 0 && !last.isJoined
        let found =
            isNext
            ? last.difference : difference(to: last, delivery, isRecovered: isRecovered)
        guard let found, !found.isEmpty else { return nil }
        let change = ListChangeSet(before: shown, after: last.content, difference: found)
        (told, toldContent) = ((position, change), nil)
        return change
    }

    /// The list after a step that changes it, one for all that show it.
    func content(
        after delivery: Delivery, _ entities: @autoclosure () -> [StoreEntity]
    ) -> ListedContent? {
        if let toldContent, told?.position == delivery.step.position { return toldContent }
        guard let change = change(in: delivery) else { return nil }
        let content = ListedContent(change.after, entities(), change)
        toldContent = content
        return content
    }

    /// The difference over several steps.
    ///
    /// - Parameter isRecovered: whether they make up for one before that could not be read.
    private func difference(
        to last: State, _ delivery: Delivery, isRecovered: Bool
    ) -> ListDifference {
        var difference = TreeDifference.between(shown, last.content)
        if isRecovered { return difference }
        // An object that one step changed and another changed back is as it was.
        difference.updates.removeAll { path in
            let start = shown.indices(ofSection: path.section).lowerBound
            let item = shown.item(at: start + path.item)
            return !isChanged(item, delivery, last.lookup)
        }
        return difference
    }

    private func isChanged(
        _ item: ListItem, _ delivery: Delivery, _ lookup: ListLookup
    ) -> Bool {
        let store = stores[item.store]
        guard let (before, after, _) = delivery.readers(of: store) else { return false }
        do {
            // Related objects are of the same store.
            let (old, new) = (stores.map { _ in before }, stores.map { _ in after })
            if try !lookup.isSame(item, old, new) { return true }
            let hierarchy = hierarchy(store)
            guard try before.contains(item.number, in: hierarchy) else { return true }
            return try !RecordDifference(before, after).names(of: item.number, in: hierarchy)
                .isEmpty
        } catch {
            return true
        }
    }

    private func hierarchy(_ store: AttachedStore) -> HierarchyID {
        guard let entity = store.database.schema.entity(named: request.entityName) else {
            Log.abort("a store of a list has no entity \(request.entityName)")
        }
        return entity.hierarchy
    }

    func show(_ position: UInt64) {
        let last = states.withLock { states in
            let due = states.prefix { $0.position <= position }
            let last = due.last
            states.removeFirst(due.count)
            return last
        }
        (told, toldContent) = (nil, nil)
        if let last { (shown, lookup) = (last.content, last.lookup) }
    }
}

/// How a list becomes another one.
struct ListChangeSet: Sendable {
    var before: ListContent
    var after: ListContent
    var difference: ListDifference
}

extension ListContent {
    /// Warns that the order of a list does not have the objects of each section together.
    static func warnOfRepeatedSections(of entityName: EntityName) {
        Log.message(
            .warning,
            "a list of \(entityName) has several sections of one name, because its order does not "
                + "have the objects of a section together; order it by what makes its sections "
                + "first. Each change compares such a list item by item")
    }
}
