import Query
import struct Synchronization.Atomic

/// A list of objects at one moment: no later commit changes it, any thread may read it, and it pins
/// no part of a file.
///
/// Taking one is free, and versions of a list share their common parts. Its elements are
/// publishers, which are made as they are asked for, where the stack's view lives. Editing changes
/// this copy only: neither the store nor the publisher.
public struct ListSnapshot<O: DynamicObject>: Sendable, Hashable {
    public typealias ObjectType = O
    /// The name of a section.
    public typealias SectionID = String
    /// The ID of an object.
    public typealias ItemID = O.ObjectID

    enum Storage: Sendable {
        case listed(ListedContent)
        case edited(EditedList)
    }

    private(set) var storage: Storage
    private let link: WeakLink<DataStack>?
    /// Each change makes another one.
    private var generation: UInt64

    private static var nextGeneration: UInt64 { SnapshotGenerations.next() }

    /// An empty list without a stack.
    public init() {
        storage = .edited(EditedList())
        link = nil
        generation = Self.nextGeneration
    }

    /// An empty list of a stack.
    init(of stack: DataStack) {
        storage = .edited(EditedList())
        link = stack.link
        generation = Self.nextGeneration
    }

    init(_ content: ListedContent, _ link: WeakLink<DataStack>) {
        storage = .listed(content)
        self.link = link
        generation = Self.nextGeneration
    }

    /// Whether both are the same version of one list. Lists that were fetched separately differ.
    public static func == (left: ListSnapshot, right: ListSnapshot) -> Bool {
        left.generation == right.generation
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(generation) }

    /// The publisher of an item.
    func publisher(_ id: ItemID) -> ObjectPublisher<O> {
        guard let stack = link?.object else { Log.abort("a snapshot's stack is gone") }
        return stack.publishObject(id)
    }

    /// Edits a copy of the list.
    mutating func edit(_ change: (inout EditedList) -> Void) {
        var list =
            switch storage {
            case .listed(let content): EditedList(content)
            case .edited(let list): list
            }
        // So that the sections are not copied.
        storage = .edited(EditedList())
        change(&list)
        storage = .edited(list)
        generation = Self.nextGeneration
    }

    // MARK: Places

    func id(at index: Int) -> ItemID {
        switch storage {
        case .listed(let list): return list.id(at: index)
        case .edited(let list):
            let place = list.place(at: index)
            return list.sections[place.section].items[place.item]
        }
    }

    /// The indices of a section's items; nil for one that is outside.
    func indices(ofSection section: Int) -> Range<Int>? {
        guard section >= 0 && section < numberOfSections else { return nil }
        switch storage {
        case .listed(let list): return list.content.indices(ofSection: section)
        case .edited(let list):
            let start = list.start(of: section)
            return start..<start + list.sections[section].items.count
        }
    }

    func knownIndices(ofSection id: SectionID) -> Range<Int> {
        guard let index = indexOfSection(withID: id), let indices = indices(ofSection: index) else {
            Log.abort("a snapshot has no section “\(id)”")
        }
        return indices
    }
}

private enum SnapshotGenerations {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

extension ListSnapshot: RandomAccessCollection {
    public typealias Element = ObjectPublisher<O>
    public typealias Index = Int
    public typealias SubSequence = ArraySlice<ObjectPublisher<O>>

    public var startIndex: Int { 0 }
    public var endIndex: Int { numberOfItems }

    /// The publisher of the item at an index over all sections.
    public subscript(index: Int) -> ObjectPublisher<O> { publisher(id(at: index)) }

    /// The publishers of the items in a range, with the list's indices.
    public subscript(range: Range<Int>) -> ArraySlice<ObjectPublisher<O>> {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= numberOfItems,
            "a range is outside its list")
        guard let first = range.first.map({ self[$0] }) else {
            return []
        }
        // Elements before the range only fill the array, so that indices are the list's.
        var publishers = [ObjectPublisher<O>](repeating: first, count: range.lowerBound)
        for index in range { publishers.append(self[index]) }
        return publishers[range]
    }

    /// The publisher of the item at an index over all sections; nil for an index out of range.
    public subscript(safeIndex index: Int) -> ObjectPublisher<O>? {
        index >= 0 && index < numberOfItems ? self[index] : nil
    }

    /// The publisher of the item at an index in a section. An index out of range stops the program.
    public subscript(sectionIndex: Int, itemIndex: Int) -> ObjectPublisher<O> {
        guard let publisher = self[safeSectionIndex: sectionIndex, safeItemIndex: itemIndex] else {
            Log.abort("a snapshot has no item \(itemIndex) in a section \(sectionIndex)")
        }
        return publisher
    }

    /// The publisher of the item at an index in a section; nil for indices out of range.
    public subscript(
        safeSectionIndex sectionIndex: Int, safeItemIndex itemIndex: Int
    ) -> ObjectPublisher<O>? {
        guard let indices = indices(ofSection: sectionIndex), itemIndex >= 0,
            itemIndex < indices.count
        else { return nil }
        return self[indices.lowerBound + itemIndex]
    }

    /// The publisher of the item at a path. A path out of range stops the program.
    public subscript(indexPath: IndexPath) -> ObjectPublisher<O> {
        self[indexPath[0], indexPath[1]]
    }

    /// The publisher of the item at a path; nil for a path out of range.
    public subscript(safeIndexPath indexPath: IndexPath) -> ObjectPublisher<O>? {
        guard indexPath.count == 2 else { return nil }
        return self[safeSectionIndex: indexPath[0], safeItemIndex: indexPath[1]]
    }
}
