import Query

/// What leads from one version of a list to another, in stages that a view of the list takes one
/// after the other: for table views, terminals, web pages.
///
/// ```swift
/// for stage in StagedChanges(from: shown, to: publisher.snapshot) {
///     shown = stage.snapshot
///     view.performBatchUpdates { … }
/// }
/// ```
///
/// The first stage shows changed items anew where they are; the second one changes the places.
/// Either is missing when there is nothing for it. In the second, no item of a deleted or an
/// inserted section is named: an item that leaves a deleted section for one that stays is inserted
/// there, and one that goes to an inserted section is deleted where it was. List views take such
/// batches, and refuse some with moves from and to sections that go or come.
public struct StagedChanges<O: DynamicObject>: RandomAccessCollection, Sendable {
    /// One batch update.
    public struct Stage: Sendable {
        public typealias Move = ListSnapshot<O>.Difference.Move

        /// The list after this stage.
        public let snapshot: ListSnapshot<O>
        /// Places of the list before the stage, ascending.
        public fileprivate(set) var reloadedItems: [IndexPath] = []
        /// Places of the list before the stage, ascending.
        public fileprivate(set) var deletedSections: [Int] = []
        /// Places of the list after the stage, ascending.
        public fileprivate(set) var insertedSections: [Int] = []
        /// Places of the list before the stage, ascending.
        public fileprivate(set) var deletedItems: [IndexPath] = []
        /// Places of the list after the stage, ascending.
        public fileprivate(set) var insertedItems: [IndexPath] = []
        /// Between sections that stay; ascending by their origins.
        public fileprivate(set) var movedItems: [Move] = []

        fileprivate init(_ snapshot: ListSnapshot<O>) { self.snapshot = snapshot }

        /// How many items and sections are named.
        public var count: Int {
            reloadedItems.count + deletedSections.count + insertedSections.count
                + deletedItems.count + insertedItems.count + movedItems.count
        }
    }

    private let stages: [Stage]

    /// Compares two versions as ``ListSnapshot/changes(since:)`` does.
    public init(from old: ListSnapshot<O>, to new: ListSnapshot<O>) {
        let difference = new.changes(since: old).difference
        var reloads = Stage(old)
        // An item that a list moves has changed as well; one that the program moved may have not.
        reloads.reloadedItems = (difference.updates + Self.changedMoves(difference, old, new))
            .sorted().map(\.indexPath)
        var places = Stage(new)
        let deleted = Set(difference.deletedSections)
        let inserted = Set(difference.insertedSections)
        var deletions = difference.deletions
        var insertions = difference.insertions
        for move in difference.moves {
            if !deleted.contains(move.from.section), !inserted.contains(move.to.section) {
                places.movedItems.append(
                    Stage.Move(from: move.from.indexPath, to: move.to.indexPath))
            } else {
                deletions.append(move.from)
                insertions.append(move.to)
            }
        }
        places.deletedSections = difference.deletedSections
        places.insertedSections = difference.insertedSections
        places.deletedItems = deletions.filter { !deleted.contains($0.section) }
            .sorted().map(\.indexPath)
        places.insertedItems = insertions.filter { !inserted.contains($0.section) }
            .sorted().map(\.indexPath)
        stages = [reloads, places].filter { $0.count > 0 }
    }

    private static func changedMoves(
        _ difference: ListDifference, _ old: ListSnapshot<O>, _ new: ListSnapshot<O>
    ) -> [ListPath] {
        guard !difference.moves.isEmpty else { return [] }
        let changed = new.changedItems(since: old)
        return difference.moves.filter { move in
            guard let indices = new.indices(ofSection: move.to.section) else { return false }
            return changed.contains(new.id(at: indices.lowerBound + move.to.item))
        }.map(\.from)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { stages.count }
    public subscript(index: Int) -> Stage { stages[index] }
}
