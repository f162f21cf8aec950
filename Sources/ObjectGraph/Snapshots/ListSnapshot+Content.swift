// The content of a snapshot. An unknown ID of a section or of an anchor stops the program; other
// calls return nil or false for it.

extension ListSnapshot {
    // MARK: Counts

    /// The number of items in all sections.
    public var numberOfItems: Int {
        switch storage {
        case .listed(let list): list.count
        case .edited(let list): list.start(of: list.sections.count)
        }
    }

    /// The number of sections; one for a list without sections that has an item.
    public var numberOfSections: Int {
        switch storage {
        case .listed(let list): list.sectionCount
        case .edited(let list): list.sections.count
        }
    }

    /// The number of items in a section. An unknown ID stops the program.
    public func numberOfItems(inSectionWithID sectionID: SectionID) -> Int {
        knownIndices(ofSection: sectionID).count
    }

    /// The number of items in a section. An index out of range stops the program.
    public func numberOfItems(inSectionIndex sectionIndex: Int) -> Int {
        guard let indices = indices(ofSection: sectionIndex) else {
            Log.abort("a snapshot has no section \(sectionIndex)")
        }
        return indices.count
    }

    /// Whether the list has a section.
    public func hasSections() -> Bool { numberOfSections > 0 }
    /// Whether the list has an item.
    public func hasItems() -> Bool { numberOfItems > 0 }

    /// Whether a section has an item; false for an index out of range.
    public func hasItems(inSectionIndex sectionIndex: Int) -> Bool {
        indices(ofSection: sectionIndex)?.isEmpty == false
    }

    /// Whether a section has an item; false for an unknown ID.
    public func hasItems(inSectionWithID sectionID: SectionID) -> Bool {
        indexOfSection(withID: sectionID).map { hasItems(inSectionIndex: $0) } ?? false
    }

    // MARK: Sections

    /// The names of the sections, in order.
    public var sectionIDs: [SectionID] { (0..<numberOfSections).map { sectionID(at: $0) } }

    /// The index of the first section with an ID; nil for an unknown ID.
    public func indexOfSection(withID sectionID: SectionID) -> Int? {
        switch storage {
        case .listed(let list): list.section(named: sectionID)
        case .edited(let list): list.sections.firstIndex { $0.id == sectionID }
        }
    }

    /// The name of the section that has an item; nil for an unknown ID.
    public func sectionID(containingItemWithID itemID: ItemID) -> SectionID? {
        place(of: itemID).map { self.sectionID(at: $0.section) }
    }

    /// The sections, in order.
    public func sections() -> [SectionInfo] {
        var start = 0
        return (0..<numberOfSections).map { section in
            let end = start + itemCount(ofSection: section)
            defer { start = end }
            return SectionInfo(sectionID(at: section), self, start..<end)
        }
    }

    /// The section that has an item; nil for an unknown ID.
    public func section(containingItemWithID itemID: ItemID) -> SectionInfo? {
        guard let section = place(of: itemID)?.section, let indices = indices(ofSection: section)
        else { return nil }
        return SectionInfo(sectionID(at: section), self, indices)
    }

    /// A section of a snapshot, with its items. Two are equal if they have the same name and the
    /// same items of one stack.
    public struct SectionInfo: RandomAccessCollection, Hashable, Sendable {
        /// The name of the section.
        public let sectionID: SectionID
        private let list: ListSnapshot
        private let range: Range<Int>

        init(_ sectionID: SectionID, _ list: ListSnapshot, _ range: Range<Int>) {
            self.sectionID = sectionID
            self.list = list
            self.range = range
        }

        public static func == (left: SectionInfo, right: SectionInfo) -> Bool {
            guard left.sectionID == right.sectionID, left.count == right.count,
                left.list.hasStack(of: right.list)
            else { return false }
            return left.list == right.list && left.range == right.range
                || left.itemIDs == right.itemIDs
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(sectionID)
            hasher.combine(range.count)
        }

        /// The IDs of the section's items, in order. Each call makes the array.
        public var itemIDs: [ItemID] { range.map { list.id(at: $0) } }

        public var startIndex: Int { 0 }
        public var endIndex: Int { range.count }

        /// The publisher of the item at an index in the section.
        public subscript(index: Int) -> ObjectPublisher<O> {
            precondition(index >= 0 && index < range.count, "an index is outside its section")
            return list[range.lowerBound + index]
        }
    }

    // MARK: Items

    /// The IDs of all items, in order.
    public var itemIDs: [ItemID] {
        switch storage {
        case .listed(let list): list.ids(0..<list.count)
        case .edited(let list): list.sections.flatMap(\.items)
        }
    }

    /// The IDs of a section's items, in order. An unknown ID stops the program.
    public func itemIDs(inSectionWithID sectionID: SectionID) -> [ItemID] {
        knownIndices(ofSection: sectionID).map { id(at: $0) }
    }

    /// The IDs of some items of a section, by their indices there.
    public func itemIDs<S: Sequence>(
        inSectionWithID sectionID: SectionID, atIndices indices: S
    ) -> [ItemID] where S.Element == Int {
        let ids = itemIDs(inSectionWithID: sectionID)
        return indices.map { ids[$0] }
    }

    /// The index of an item over all sections; nil for an unknown ID.
    public func indexOfItem(withID itemID: ItemID) -> Int? {
        switch storage {
        case .listed(let list): list.index(of: itemID)
        case .edited(let list):
            list.place(of: itemID).map { list.start(of: $0.section) + $0.item }
        }
    }

    /// The IDs of items that came, moved or changed by the commit that made this snapshot, and of
    /// those that were reloaded. After a refetch they are those of the list before, as far as this
    /// one has them.
    public var updatedItemIdentifiers: Set<ItemID> {
        switch storage {
        case .listed(let list): list.changedIDs
        case .edited(let list): list.reloaded
        }
    }

    /// The publishers of items, by their indices over all sections.
    public func items<S: Sequence>(atIndices indices: S) -> [ObjectPublisher<O>]
    where S.Element == Int {
        indices.map { self[$0] }
    }

    /// The publishers of a section's items. An unknown ID stops the program.
    public func items(inSectionWithID sectionID: SectionID) -> [ObjectPublisher<O>] {
        itemIDs(inSectionWithID: sectionID).map(publisher)
    }

    /// The publishers of some items of a section, by their indices there.
    public func items<S: Sequence>(
        inSectionWithID sectionID: SectionID, atIndices indices: S
    ) -> [ObjectPublisher<O>] where S.Element == Int {
        let ids = itemIDs(inSectionWithID: sectionID)
        return indices.map { publisher(ids[$0]) }
    }

    /// The publishers of items by their indices over all sections, made one by one as they are
    /// read.
    public func lazy<S: Sequence>(
        atIndices indices: S
    ) -> LazyMapSequence<S, ObjectPublisher<O>> where S.Element == Int {
        indices.lazy.map { self[$0] }
    }

    /// The publishers of a section's items, made one by one as they are read.
    public func lazy(
        inSectionWithID sectionID: SectionID
    ) -> LazyMapSequence<[ItemID], ObjectPublisher<O>> {
        itemIDs(inSectionWithID: sectionID).lazy.map(publisher)
    }

    /// The publishers of some items of a section, made one by one as they are read.
    public func lazy<S: Sequence>(
        inSectionWithID sectionID: SectionID, atIndices indices: S
    ) -> LazyMapSequence<S, ObjectPublisher<O>> where S.Element == Int {
        let ids = itemIDs(inSectionWithID: sectionID)
        return indices.lazy.map { publisher(ids[$0]) }
    }
}
