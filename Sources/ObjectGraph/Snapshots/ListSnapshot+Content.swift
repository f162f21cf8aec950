// What a snapshot has. Calls with an ID of a section or an anchor that is not there end the
// program; others answer nil or false.

extension ListSnapshot {
    // MARK: Counts

    public var numberOfItems: Int {
        switch storage {
        case .listed(let list): list.count
        case .edited(let list): list.start(of: list.sections.count)
        }
    }

    public var numberOfSections: Int {
        switch storage {
        case .listed(let list): list.sectionCount
        case .edited(let list): list.sections.count
        }
    }

    public func numberOfItems(inSectionWithID sectionID: SectionID) -> Int {
        knownIndices(ofSection: sectionID).count
    }

    public func numberOfItems(inSectionIndex sectionIndex: Int) -> Int {
        guard let indices = indices(ofSection: sectionIndex) else {
            Log.abort("a snapshot has no section \(sectionIndex)")
        }
        return indices.count
    }

    public func hasSections() -> Bool { numberOfSections > 0 }
    public func hasItems() -> Bool { numberOfItems > 0 }

    public func hasItems(inSectionIndex sectionIndex: Int) -> Bool {
        indices(ofSection: sectionIndex)?.isEmpty == false
    }

    /// False for a section that is not there.
    public func hasItems(inSectionWithID sectionID: SectionID) -> Bool {
        indexOfSection(withID: sectionID).map { hasItems(inSectionIndex: $0) } ?? false
    }

    // MARK: Sections

    public var sectionIDs: [SectionID] {
        switch storage {
        case .listed(let list): (0..<list.sectionCount).map { list.content.sectionName($0) }
        case .edited(let list): list.sections.map(\.id)
        }
    }

    public func indexOfSection(withID sectionID: SectionID) -> Int? {
        switch storage {
        case .listed(let list):
            (0..<list.sectionCount).first { list.content.sectionName($0) == sectionID }
        case .edited(let list): list.sections.firstIndex { $0.id == sectionID }
        }
    }

    /// Nil for an item that is not there.
    public func sectionID(containingItemWithID itemID: ItemID) -> SectionID? {
        switch storage {
        case .listed(let list):
            list.index(of: itemID).map {
                list.content.sectionName(list.content.path(of: $0).section)
            }
        case .edited(let list): list.place(of: itemID).map { list.sections[$0.section].id }
        }
    }

    public func sections() -> [SectionInfo] {
        sectionIDs.enumerated().map { SectionInfo($1, self, indices(ofSection: $0) ?? 0..<0) }
    }

    /// Nil for an item that is not there.
    public func section(containingItemWithID itemID: ItemID) -> SectionInfo? {
        sectionID(containingItemWithID: itemID).map {
            SectionInfo($0, self, knownIndices(ofSection: $0))
        }
    }

    /// A section of a snapshot, with its items.
    public struct SectionInfo: RandomAccessCollection, Hashable, Sendable {
        public let sectionID: SectionID
        private let list: ListSnapshot
        private let range: Range<Int>

        init(_ sectionID: SectionID, _ list: ListSnapshot, _ range: Range<Int>) {
            self.sectionID = sectionID
            self.list = list
            self.range = range
        }

        public var itemIDs: [ItemID] { range.map { list.id(at: $0) } }

        public var startIndex: Int { 0 }
        public var endIndex: Int { range.count }

        public subscript(index: Int) -> ObjectPublisher<O> {
            precondition(index >= 0 && index < range.count, "an index is outside its section")
            return list[range.lowerBound + index]
        }
    }

    // MARK: Items

    public var itemIDs: [ItemID] {
        switch storage {
        case .listed(let list): list.ids(0..<list.count)
        case .edited(let list): list.sections.flatMap(\.items)
        }
    }

    public func itemIDs(inSectionWithID sectionID: SectionID) -> [ItemID] {
        knownIndices(ofSection: sectionID).map { id(at: $0) }
    }

    public func itemIDs(
        inSectionWithID sectionID: SectionID, atIndices indices: IndexSet
    ) -> [ItemID] {
        let ids = itemIDs(inSectionWithID: sectionID)
        return indices.map { ids[$0] }
    }

    /// The index over all sections; nil for an item that is not there.
    public func indexOfItem(withID itemID: ItemID) -> Int? {
        switch storage {
        case .listed(let list): list.index(of: itemID)
        case .edited(let list):
            list.place(of: itemID).map { list.start(of: $0.section) + $0.item }
        }
    }

    /// Items that came, moved or changed by the commit that made this snapshot, and those that
    /// were reloaded.
    public var updatedItemIdentifiers: Set<ItemID> {
        switch storage {
        case .listed(let list): list.changedIDs
        case .edited(let list): list.reloaded
        }
    }

    public func items<S: Sequence>(atIndices indices: S) -> [ObjectPublisher<O>]
    where S.Element == Int {
        indices.map { self[$0] }
    }

    public func items(inSectionWithID sectionID: SectionID) -> [ObjectPublisher<O>] {
        itemIDs(inSectionWithID: sectionID).map(publisher)
    }

    public func items<S: Sequence>(
        inSectionWithID sectionID: SectionID, atIndices indices: S
    ) -> [ObjectPublisher<O>] where S.Element == Int {
        let ids = itemIDs(inSectionWithID: sectionID)
        return indices.map { publisher(ids[$0]) }
    }

    /// The same as ``items(atIndices:)``, made one by one.
    public func lazy<S: Sequence>(
        atIndices indices: S
    ) -> LazyMapSequence<S, ObjectPublisher<O>> where S.Element == Int {
        indices.lazy.map { self[$0] }
    }

    public func lazy(
        inSectionWithID sectionID: SectionID
    ) -> LazyMapSequence<[ItemID], ObjectPublisher<O>> {
        itemIDs(inSectionWithID: sectionID).lazy.map(publisher)
    }

    public func lazy<S: Sequence>(
        inSectionWithID sectionID: SectionID, atIndices indices: S
    ) -> LazyMapSequence<S, ObjectPublisher<O>> where S.Element == Int {
        let ids = itemIDs(inSectionWithID: sectionID)
        return indices.lazy.map { publisher(ids[$0]) }
    }
}
