import Query

// The content of the list. An index out of range, or a list whose stack or transaction has ended,
// stops the program, except in calls that say "safe".

extension ListMonitor {
    /// The object at an index over all sections.
    public subscript(index: Int) -> O { object(content.item(at: index)) }

    /// The object at an index over all sections; nil for an index out of range, and once the stack
    /// or the transaction of the list has ended.
    public subscript(safeIndex index: Int) -> O? {
        let content = content
        return index >= 0 && index < content.count ? liveObject(content.item(at: index)) : nil
    }

    /// The object at an index in a section.
    public subscript(sectionIndex: Int, itemIndex: Int) -> O {
        guard let item = item(safelyAt: itemIndex, in: sectionIndex) else {
            Log.abort("a list has no object \(itemIndex) in a section \(sectionIndex)")
        }
        return object(item)
    }

    /// The object at an index in a section; nil for indices out of range, and once the stack or the
    /// transaction of the list has ended.
    public subscript(safeSectionIndex sectionIndex: Int, safeItemIndex itemIndex: Int) -> O? {
        item(safelyAt: itemIndex, in: sectionIndex).flatMap(liveObject)
    }

    private func item(safelyAt itemIndex: Int, in sectionIndex: Int) -> ListItem? {
        let content = content
        guard let indices = content.indices(safelyOf: sectionIndex),
            itemIndex >= 0 && itemIndex < indices.count
        else { return nil }
        return content.item(at: indices.lowerBound + itemIndex)
    }

    /// The object at a path.
    public subscript(indexPath: IndexPath) -> O { self[indexPath[0], indexPath[1]] }

    /// The object at a path; nil for a path out of range.
    public subscript(safeIndexPath indexPath: IndexPath) -> O? {
        guard indexPath.count == 2 else { return nil }
        return self[safeSectionIndex: indexPath[0], safeItemIndex: indexPath[1]]
    }

    // MARK: Counts

    /// Whether the list has a section. A list without sections has one, even when it is empty.
    public func hasSections() -> Bool { numberOfSections() > 0 }

    /// Whether the list has an object.
    public func hasObjects() -> Bool { numberOfObjects() > 0 }

    /// Whether a section has an object; false for an index out of range.
    public func hasObjects(in section: Int) -> Bool {
        numberOfObjects(safelyIn: section) ?? 0 > 0
    }

    /// The number of sections; one for a list without sections.
    public func numberOfSections() -> Int {
        checkExecutor()
        return content.sectionCount
    }

    /// The number of objects in all sections.
    public func numberOfObjects() -> Int {
        checkExecutor()
        return content.count
    }

    /// The number of objects in a section.
    public func numberOfObjects(in section: Int) -> Int {
        guard let count = numberOfObjects(safelyIn: section) else {
            Log.abort("a list has no section \(section)")
        }
        return count
    }

    /// The number of objects in a section; nil for an index out of range.
    public func numberOfObjects(safelyIn section: Int) -> Int? {
        checkExecutor()
        return content.indices(safelyOf: section)?.count
    }

    // MARK: Sections

    /// A section, as it is now.
    public func sectionInfo(at section: Int) -> any NSFetchedResultsSectionInfo {
        guard let info = sectionInfo(safelyAt: section) else {
            Log.abort("a list has no section \(section)")
        }
        return info
    }

    /// An alias of ``sectionInfo(at:)``.
    public func sectionInfoAtIndex(_ section: Int) -> any NSFetchedResultsSectionInfo {
        sectionInfo(at: section)
    }

    /// A section, as it is now; nil for an index out of range.
    public func sectionInfo(safelyAt section: Int) -> (any NSFetchedResultsSectionInfo)? {
        checkExecutor()
        let content = content
        return section >= 0 && section < content.sectionCount
            ? sectionInfo(section, in: content) : nil
    }

    /// All sections, as they are now.
    public func sections() -> [any NSFetchedResultsSectionInfo] {
        checkExecutor()
        let content = content
        return (0..<content.sectionCount).map { sectionInfo($0, in: content) }
    }

    func sectionInfo(_ section: Int, in content: ListContent) -> any NSFetchedResultsSectionInfo {
        let name = content.sectionName(section)
        let indices = content.indices(ofSection: section)
        return MonitoredSection(
            name: name, indexTitle: feed.terms.section.transformer?(name), count: indices.count
        ) { [weak self] in
            guard let self, self.content.lineage == content.lineage else { return nil }
            return self.liveObjects(content, indices)
        }
    }

    /// The titles that the `sectionIndexTransformer` of ``SectionBy`` gives the sections, each
    /// once.
    public func sectionIndexTitles() -> [String] {
        var titles: [String] = []
        var known: Set<String> = []
        for title in sections().compactMap(\.indexTitle) where known.insert(title).inserted {
            titles.append(title)
        }
        return titles
    }

    /// The index of the first section with a title.
    ///
    /// - Parameters:
    ///   - title: the title.
    ///   - index: the index of the title in ``sectionIndexTitles()``; it is returned, within
    ///     bounds, when no section has the title.
    public func targetSection(forSectionIndexTitle title: String, at index: Int) -> Int {
        let sections = sections()
        let found = sections.firstIndex { $0.indexTitle == title }
        return found ?? max(0, min(index, sections.count - 1))
    }

    // MARK: Objects

    /// The index of an object over all sections; nil when it is not in the list.
    public func index(of object: O) -> Int? { feed.index(of: object.objectID()) }

    /// The path of an object; nil when it is not in the list.
    public func indexPath(of object: O) -> IndexPath? {
        index(of: object).map { content.path(of: $0).indexPath }
    }

    /// All objects, in the order of the list. Each of them is made.
    public func objectsInAllSections() -> [O] {
        checkExecutor()
        return content.items().map(object)
    }

    /// The objects of a section. Each of them is made.
    public func objects(in section: Int) -> [O] {
        checkExecutor()
        let content = content
        guard let indices = content.indices(safelyOf: section) else {
            Log.abort("a list has no section \(section)")
        }
        return indices.map { object(content.item(at: $0)) }
    }

    /// The objects of a section; nil for an index out of range, and once the stack or the
    /// transaction of the list has ended.
    public func objects(safelyIn section: Int) -> [O]? {
        checkExecutor()
        let content = content
        return content.indices(safelyOf: section).flatMap { liveObjects(content, $0) }
    }

    /// The objects of some items; nil once the stack or the transaction has ended.
    private func liveObjects(_ content: ListContent, _ indices: Range<Int>) -> [O]? {
        var objects: [O] = []
        for index in indices {
            guard let object = liveObject(content.item(at: index)) else { return nil }
            objects.append(object)
        }
        return objects
    }
}

extension ListContent {
    /// The indices of a section's entries; nil for an index out of range.
    func indices(safelyOf section: Int) -> Range<Int>? {
        section >= 0 && section < sectionCount ? indices(ofSection: section) : nil
    }
}
