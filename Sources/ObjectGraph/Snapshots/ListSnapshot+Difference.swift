import Query

extension ListSnapshot {
    /// The difference between two versions of a list, by the rules of batch updates.
    ///
    /// - Deletions, updates and the origins of moves are paths of the earlier version; insertions
    ///   and the targets of moves are paths of the later one.
    /// - A deleted section has all its items among the deletions and the origins of moves, an
    ///   inserted section has all its items among the insertions and the targets.
    /// - An item that moves is not updated as well.
    /// - All are ascending, moves by their origins.
    public struct Difference: Hashable, Sendable {
        /// A move of an item.
        public struct Move: Hashable, Sendable {
            /// The item's path in the earlier version.
            public let from: IndexPath
            /// The item's path in the later version.
            public let to: IndexPath
        }

        let difference: ListDifference

        /// Whether the versions have no difference.
        public var isEmpty: Bool { difference.isEmpty }
        /// The indices of sections that only the earlier version has.
        public var deletedSections: [Int] { difference.deletedSections }
        /// The indices of sections that only the later version has.
        public var insertedSections: [Int] { difference.insertedSections }
        /// The paths of items that only the earlier version has.
        public var deletions: [IndexPath] { difference.deletions.map(\.indexPath) }
        /// The paths of items that only the later version has.
        public var insertions: [IndexPath] { difference.insertions.map(\.indexPath) }
        /// The items that moved.
        public var moves: [Move] {
            difference.moves.map { Move(from: $0.from.indexPath, to: $0.to.indexPath) }
        }
        /// The paths, in the earlier version, of items that changed and stayed in their positions.
        public var updates: [IndexPath] { difference.updates.map(\.indexPath) }

        /// The number of items and sections that the difference names.
        public var count: Int {
            difference.deletedSections.count + difference.insertedSections.count
                + difference.deletions.count + difference.insertions.count
                + difference.moves.count + difference.updates.count
        }
    }

    /// The difference between an earlier version of the list and this one.
    ///
    /// Two versions that a publisher or a monitor had are compared at the cost of their difference.
    /// An item that changed in between and changed back counts as updated: values are not compared.
    /// Versions that the program has edited, and lists that were fetched separately, are compared
    /// item by item; of the items that both have, the ``updatedItemIdentifiers`` then count as
    /// updated, and all others that changed since the earlier version of one list.
    public func changes(since earlier: ListSnapshot) -> Difference {
        changes(since: earlier, updated: [])
    }

    /// - Parameter updated: items that count as updated as well where the two are compared item by
    ///   item.
    func changes(since earlier: ListSnapshot, updated: Set<ItemID>) -> Difference {
        Difference(difference: difference(to: earlier, updated: updated))
    }

    /// The indices of sections that the program wants shown anew, as another version of the list
    /// has them. Sections of one name are told apart by their order.
    func reloadedSections(in other: ListSnapshot) -> [Int] {
        guard case .edited(let list) = storage else { return [] }
        let paired = LinearDifference.pairedSections(other.sectionIDs, list.sections.map(\.id))
        return paired.indices.filter { index in
            paired[index].map { list.sections[$0].isReloaded } ?? false
        }
    }

    /// The items that may show other values than in an earlier version: those that came, moved or
    /// changed in any version since.
    func changedItems(since earlier: ListSnapshot) -> Set<ItemID> {
        var changed = updatedItemIdentifiers
        guard let before = earlier.storage.origin, let after = storage.origin, before !== after,
            before.content.lineage == after.content.lineage
        else { return changed }
        let difference = TreeDifference.between(before.content, after.content)
        for path in difference.updates { changed.insert(before.id(at: path)) }
        for move in difference.moves { changed.insert(before.id(at: move.from)) }
        return changed
    }

    private func difference(
        to earlier: ListSnapshot, updated: Set<ItemID>
    ) -> ListDifference {
        guard case .listed(let before) = earlier.storage, case .listed(let after) = storage,
            before.content.lineage == after.content.lineage
        else {
            return EditedList(earlier.storage).difference(
                to: EditedList(storage), changed: changedItems(since: earlier).union(updated))
        }
        var difference = TreeDifference.between(before.content, after.content)
        // A list without sections has one here as long as it has an item.
        if before.sectionCount == 0, after.sectionCount == 1, difference.insertedSections.isEmpty {
            difference.insertedSections = [0]
        }
        if before.sectionCount == 1, after.sectionCount == 0, difference.deletedSections.isEmpty {
            difference.deletedSections = [0]
        }
        // Two lists without items have one lineage, whatever sections they would have.
        if before.sectionCount == 0 { difference.deletedSections = [] }
        if after.sectionCount == 0 { difference.insertedSections = [] }
        return difference
    }
}

extension ListSnapshot.Storage {
    /// The version of an observed list that this is, or was edited from.
    fileprivate var origin: ListedContent? {
        switch self {
        case .listed(let list): list
        case .edited(let list): list.origin
        }
    }
}

extension EditedList {
    init<O: DynamicObject>(_ storage: ListSnapshot<O>.Storage) {
        switch storage {
        case .listed(let list): self.init(list)
        case .edited(let list): self = list
        }
    }

    private var entries: [(id: NSManagedObjectID, path: ListPath)] {
        sections.enumerated().flatMap { section, content in
            content.items.enumerated().map {
                (id: $1, path: ListPath(section: section, item: $0))
            }
        }
    }

    /// An ID that is in a list twice counts where it is first.
    ///
    /// - Parameter changed: items that count as updated where they stay.
    func difference(to other: EditedList, changed: Set<NSManagedObjectID>) -> ListDifference {
        var difference = ListDifference()
        let paired = LinearDifference.pairedSections(sections.map(\.id), other.sections.map(\.id))
        difference.deletedSections = sections.indices.filter { paired[$0] == nil }
        let stayed = Set(paired.compactMap { $0 })
        difference.insertedSections = other.sections.indices.filter { !stayed.contains($0) }
        let (old, new) = (entries, other.entries)
        var position: [NSManagedObjectID: Int] = [:]
        for (index, entry) in new.enumerated() where position[entry.id] == nil {
            position[entry.id] = index
        }
        var common: [(old: Int, new: Int)] = []
        for (index, entry) in old.enumerated() {
            if let place = position.removeValue(forKey: entry.id) {
                common.append((index, place))
            } else {
                difference.deletions.append(entry.path)
            }
        }
        let found = Set(common.map(\.new))
        difference.insertions = new.indices.filter { !found.contains($0) }.map { new[$0].path }
        // Items whose section stays can stay; as many as can be do.
        let candidates = common.indices.filter {
            paired[old[common[$0].old].path.section] == new[common[$0].new].path.section
        }
        let run = AscendingRun.longest(in: candidates.map { common[$0].new })
        let kept = Set(run.map { candidates[$0] })
        for (index, pair) in common.enumerated() {
            let entry = old[pair.old]
            if !kept.contains(index) {
                difference.moves.append(
                    ListDifference.Move(from: entry.path, to: new[pair.new].path))
            } else if changed.contains(entry.id) {
                difference.updates.append(entry.path)
            }
        }
        return difference
    }
}
