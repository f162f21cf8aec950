import Query

/// The changes from one version of a list to another, in stages that a view of the list takes one
/// after the other: for table views, terminals, web pages.
///
/// ```swift
/// for stage in StagedChanges(from: shown, to: publisher.snapshot) {
///     shown = stage.snapshot
///     view.performBatchUpdates { … }
/// }
/// ```
///
/// The first stage shows changed items again in their positions, and sections that the program has
/// marked; the second one changes the
/// positions. Either is missing when it is empty. In the second, no item of a deleted or an
/// inserted section is named: an item that leaves a deleted section for one that stays is inserted
/// there, and one that goes to an inserted section is deleted from its earlier section. List views
/// accept such batches, and refuse some with moves from deleted and to inserted sections.
public struct StagedChanges<O: DynamicObject>: RandomAccessCollection, Sendable {
    /// One batch update.
    public struct Stage: Sendable {
        /// A move of an item.
        public typealias Move = ListSnapshot<O>.Difference.Move

        /// The list after this stage.
        public let snapshot: ListSnapshot<O>
        /// The indices, in the list before the stage and ascending, of sections that the program
        /// has marked with ``ListSnapshot/reloadSections(withIDs:)``.
        public fileprivate(set) var reloadedSections: [Int] = []
        /// The paths of changed items in other sections of the list before the stage, ascending.
        public fileprivate(set) var reloadedItems: [IndexPath] = []
        /// The indices of sections in the list before the stage, ascending.
        public fileprivate(set) var deletedSections: [Int] = []
        /// The indices of sections in the list after the stage, ascending.
        public fileprivate(set) var insertedSections: [Int] = []
        /// The paths of items in the list before the stage, ascending.
        public fileprivate(set) var deletedItems: [IndexPath] = []
        /// The paths of items in the list after the stage, ascending.
        public fileprivate(set) var insertedItems: [IndexPath] = []
        /// Moves between sections that stay; ascending by their origins.
        public fileprivate(set) var movedItems: [Move] = []

        fileprivate init(_ snapshot: ListSnapshot<O>) { self.snapshot = snapshot }

        /// The number of items and sections that the stage names.
        public var count: Int {
            reloadedSections.count + reloadedItems.count + deletedSections.count
                + insertedSections.count + deletedItems.count + insertedItems.count
                + movedItems.count
        }
    }

    private let stages: [Stage]

    /// Compares two versions as ``ListSnapshot/changes(since:)`` does.
    public init(from old: ListSnapshot<O>, to new: ListSnapshot<O>) {
        let difference = new.changes(since: old).difference
        let deleted = Set(difference.deletedSections)
        let reloaded = new.reloadedSections(in: old).filter { !deleted.contains($0) }
        var reloads = Stage(old)
        reloads.reloadedSections = reloaded
        // An item that a list moves has changed as well; one that the program moved may have not.
        reloads.reloadedItems = (difference.updates + Self.changedMoves(difference, old, new))
            .filter { !reloaded.contains($0.section) }.sorted().map(\.indexPath)
        var places = Stage(new)
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
    /// The stage at an index: of the reloads, or of the changed positions.
    public subscript(index: Int) -> Stage { stages[index] }
}
