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
    /// Makes the index titles of sections; nil if they have none.
    private let titles: (@Sendable (String?) -> String?)?
    /// Each change makes another one.
    private var generation: UInt64

    private static var nextGeneration: UInt64 { SnapshotGenerations.next() }

    /// An empty list without a stack.
    public init() {
        storage = .edited(EditedList())
        (link, titles) = (nil, nil)
        generation = Self.nextGeneration
    }

    /// An empty list of a stack.
    init(of stack: DataStack) {
        storage = .edited(EditedList())
        (link, titles) = (stack.link, nil)
        generation = Self.nextGeneration
    }

    init(_ content: ListedContent, _ section: SectionRule, _ link: WeakLink<DataStack>) {
        storage = .listed(content)
        self.link = link
        titles = section.transformer
        generation = Self.nextGeneration
    }

    /// Whether both are the same version of one list. Lists that were fetched separately differ.
    public static func == (left: ListSnapshot, right: ListSnapshot) -> Bool {
        left.generation == right.generation
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(generation) }

    /// The publisher of an item; nil when the stack has ended.
    private func existingPublisher(_ index: Int) -> ObjectPublisher<O>? {
        link?.object?.publishObject(id(at: index))
    }

    /// Whether this is a version of an observed list, as the program received it.
    func shows(_ content: ListContent) -> Bool {
        guard case .listed(let list) = storage else { return false }
        return list.content.isSameVersion(as: content)
    }

    /// Whether both are of one stack.
    func hasStack(of other: ListSnapshot) -> Bool { link === other.link }

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

    /// The place of an item; nil for an unknown ID.
    func place(of id: ItemID) -> EditedList.Place? {
        switch storage {
        case .listed(let list):
            list.index(of: id).map { index in
                let path = list.content.path(of: index)
                return (path.section, path.item)
            }
        case .edited(let list): list.place(of: id)
        }
    }

    /// The number of items of a section that the list has.
    func itemCount(ofSection section: Int) -> Int {
        switch storage {
        case .listed(let list): list.content.indices(ofSection: section).count
        case .edited(let list): list.sections[section].items.count
        }
    }

    /// The name of a section that the list has.
    func sectionID(at section: Int) -> SectionID {
        switch storage {
        case .listed(let list): list.content.sectionName(section)
        case .edited(let list): list.sections[section].id
        }
    }

    /// The index title of a section that the list has; nil for none.
    func indexTitle(ofSection section: Int) -> String? { titles?(sectionID(at: section)) }

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

    /// The publishers of the items in a range, with the list's indices. Empty when the stack has
    /// ended.
    public subscript(range: Range<Int>) -> ArraySlice<ObjectPublisher<O>> {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= numberOfItems,
            "a range is outside its list")
        let known = Swift.min(range.lowerBound, endIndex - 1)
        guard !isEmpty, let first = existingPublisher(known) else { return [] }
        // Elements before the range only fill the array, so that indices are the list's.
        var publishers = [ObjectPublisher<O>](repeating: first, count: range.lowerBound)
        for index in range { publishers.append(self[index]) }
        return publishers[range]
    }

    /// The publisher of the item at an index over all sections; nil for an index out of range, and
    /// when the stack has ended.
    public subscript(safeIndex index: Int) -> ObjectPublisher<O>? {
        index >= 0 && index < numberOfItems ? existingPublisher(index) : nil
    }

    /// The publisher of the item at an index in a section. An index out of range stops the program.
    public subscript(sectionIndex: Int, itemIndex: Int) -> ObjectPublisher<O> {
        guard let index = index(ofItem: itemIndex, inSection: sectionIndex) else {
            Log.abort("a snapshot has no item \(itemIndex) in a section \(sectionIndex)")
        }
        return self[index]
    }

    /// The index over all sections of an item of a section; nil for indices out of range.
    func index(ofItem item: Int, inSection section: Int) -> Int? {
        guard let indices = indices(ofSection: section), item >= 0, item < indices.count else {
            return nil
        }
        return indices.lowerBound + item
    }

    /// The publisher of the item at an index in a section; nil for indices out of range, and when
    /// the stack has ended.
    public subscript(
        safeSectionIndex sectionIndex: Int, safeItemIndex itemIndex: Int
    ) -> ObjectPublisher<O>? {
        index(ofItem: itemIndex, inSection: sectionIndex).flatMap { existingPublisher($0) }
    }

    /// The publisher of the item at a path. A path out of range stops the program.
    public subscript(indexPath: IndexPath) -> ObjectPublisher<O> {
        self[indexPath[0], indexPath[1]]
    }

    /// The publisher of the item at a path; nil for a path out of range, and when the stack has
    /// ended.
    public subscript(safeIndexPath indexPath: IndexPath) -> ObjectPublisher<O>? {
        guard indexPath.count == 2 else { return nil }
        return self[safeSectionIndex: indexPath[0], safeItemIndex: indexPath[1]]
    }
}
