import ObjectGraph
import TestSupport

/// A list rebuilt from its callbacks and compared with the list itself.
final class ListMirror: ListSectionObserver {
    private(set) var listed: [ListedSection] = []
    private var change: BatchUpdate?
    private(set) var faults: [String] = []
    private(set) var changeCount = 0
    /// Called at the end of the next change.
    var onNextChange: (() -> Void)?
    private let followed: [@Sendable (Pet) -> AnyHashable?]
    /// Whether objects show changes before the list does, as those of a transaction.
    private let isEdited: Bool
    private var numbers: [NSManagedObjectID: UInt64] = [:]

    init(_ request: KennelRequest, isEdited: Bool = false) {
        followed = request.followed
        self.isEdited = isEdited
    }

    func begin(_ monitor: ListMonitor<Pet>) { listed = content(monitor) }

    private func number(_ id: NSManagedObjectID) -> UInt64 {
        if let known = numbers[id] { return known }
        numbers[id] = UInt64(numbers.count)
        return UInt64(numbers.count - 1)
    }

    private func content(_ monitor: ListMonitor<Pet>) -> [ListedSection] {
        monitor.sections().enumerated().map { index, section in
            ListedSection(
                name: section.name,
                entries: monitor.objects(in: index).map { pet in
                    ListedSection.Entry(item: number(pet.objectID()), version: version(of: pet))
                })
        }
    }

    private func version(of pet: Pet) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(pet.rank)
        hasher.combine(pet.name)
        hasher.combine(pet.color)
        hasher.combine(pet.owner?.objectID())
        hasher.combine(Set(pet.friends.map { $0.objectID() }))
        hasher.combine(Set(pet.friendOf.map { $0.objectID() }))
        hasher.combine(pet.weight)
        hasher.combine(pet.isTame)
        hasher.combine(pet.born)
        hasher.combine(pet.chip)
        hasher.combine((pet as? Hound)?.speed)
        hasher.combine((pet as? Puppy)?.toys)
        for value in followed { hasher.combine(value(pet)) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private func shown(_ sections: [ListedSection]) -> [ListedSection] {
        guard isEdited else { return sections }
        return sections.map { section in
            ListedSection(
                name: section.name,
                entries: section.entries.map { ListedSection.Entry(item: $0.item, version: 0) })
        }
    }

    // MARK: Callbacks

    func listMonitorWillChange(_ monitor: ListMonitor<Pet>) {
        if change != nil { faults.append("a delivery is nested") }
        change = BatchUpdate(
            deletedSections: [], insertedSections: [], deletions: [], insertions: [], moves: [],
            updates: [])
        if shown(content(monitor)) != shown(listed) {
            faults.append("the list changed before it was told")
        }
    }

    func listMonitorDidChange(_ monitor: ListMonitor<Pet>) {
        guard let told = change else { return faults.append("a change ends without beginning") }
        change = nil
        changeCount += 1
        let after = content(monitor)
        if let fault = BatchUpdateChecker.fault(from: listed, to: after, told) {
            faults.append(fault)
        }
        listed = after
        let work = onNextChange
        onNextChange = nil
        work?()
    }

    func listMonitorDidRefetch(_ monitor: ListMonitor<Pet>) {
        if change != nil { faults.append("a refetch ends within a change") }
        begin(monitor)
    }

    private func path(_ path: IndexPath) -> BatchUpdate.Path { .init(path[0], path[1]) }

    func listMonitor(
        _ monitor: ListMonitor<Pet>, didInsertObject object: Pet, toIndexPath: IndexPath
    ) {
        change?.insertions.append(path(toIndexPath))
    }
    func listMonitor(
        _ monitor: ListMonitor<Pet>, didDeleteObject object: Pet, fromIndexPath: IndexPath
    ) {
        change?.deletions.append(path(fromIndexPath))
    }
    func listMonitor(
        _ monitor: ListMonitor<Pet>, didUpdateObject object: Pet, atIndexPath: IndexPath
    ) {
        change?.updates.append(path(atIndexPath))
    }
    func listMonitor(
        _ monitor: ListMonitor<Pet>, didMoveObject object: Pet, fromIndexPath: IndexPath,
        toIndexPath: IndexPath
    ) {
        change?.moves.append((path(fromIndexPath), path(toIndexPath)))
    }
    func listMonitor(
        _ monitor: ListMonitor<Pet>, didInsertSection info: NSFetchedResultsSectionInfo,
        toSectionIndex index: Int
    ) {
        change?.insertedSections.append(index)
    }
    func listMonitor(
        _ monitor: ListMonitor<Pet>, didDeleteSection info: NSFetchedResultsSectionInfo,
        fromSectionIndex index: Int
    ) {
        change?.deletedSections.append(index)
    }
}

extension BatchUpdate {
    init(_ difference: ListSnapshot<Pet>.Difference) {
        func path(_ path: IndexPath) -> Path { Path(path[0], path[1]) }
        self.init(
            deletedSections: difference.deletedSections,
            insertedSections: difference.insertedSections,
            deletions: difference.deletions.map(path),
            insertions: difference.insertions.map(path),
            moves: difference.moves.map { (path($0.from), path($0.to)) },
            updates: difference.updates.map(path))
    }
}
