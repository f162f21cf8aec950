/// A position in a list with sections.
package struct ListPath: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var section: Int
    package var item: Int

    package init(section: Int, item: Int) {
        self.section = section
        self.item = item
    }

    package static func < (left: ListPath, right: ListPath) -> Bool {
        (left.section, left.item) < (right.section, right.item)
    }

    package var description: String { "\(section).\(item)" }
}

/// Turns one content of a list into another, by the rules of batch updates.
///
/// - Deletions, updates and the origins of moves are positions in the old content; insertions and
///   the targets of moves are positions in the new one.
/// - All entries of a deleted section are deletions or origins of moves; all entries of an inserted
///   section are insertions or targets of moves.
/// - An entry that moves is not also updated, and an entry whose section changes moves.
/// - Each list is ascending; moves ascend by their origins.
package struct ListDifference: Hashable, Sendable {
    package struct Move: Hashable, Sendable {
        package var from: ListPath
        package var to: ListPath

        package init(from: ListPath, to: ListPath) {
            self.from = from
            self.to = to
        }
    }

    package var deletedSections: [Int] = []
    package var insertedSections: [Int] = []
    package var deletions: [ListPath] = []
    package var insertions: [ListPath] = []
    package var moves: [Move] = []
    package var updates: [ListPath] = []

    package init() {}

    package var isEmpty: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && deletions.isEmpty
            && insertions.isEmpty && moves.isEmpty && updates.isEmpty
    }
}
