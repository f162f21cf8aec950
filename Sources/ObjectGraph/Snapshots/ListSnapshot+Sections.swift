extension ListSnapshot {
    public mutating func appendSections<C: Collection>(
        withIDs sectionIDs: C
    ) where C.Element == SectionID {
        edit { $0.insertSections(sectionIDs, at: $0.sections.count) }
    }

    public mutating func insertSections<C: Collection>(
        withIDs sectionIDs: C, beforeSectionID: SectionID
    ) where C.Element == SectionID {
        edit { $0.insertSections(sectionIDs, at: $0.section(known: beforeSectionID)) }
    }

    public mutating func insertSections<C: Collection>(
        withIDs sectionIDs: C, afterSectionID: SectionID
    ) where C.Element == SectionID {
        edit { $0.insertSections(sectionIDs, at: $0.section(known: afterSectionID) + 1) }
    }

    public mutating func insertSections<C: Collection>(
        _ sectionIDs: C, at sectionIndex: Int
    ) where C.Element == SectionID {
        edit { $0.insertSections(sectionIDs, at: sectionIndex) }
    }

    /// Deletes sections with their items; those that are not there are passed over.
    public mutating func deleteSections<S: Sequence>(
        withIDs sectionIDs: S
    ) where S.Element == SectionID {
        let gone = Set(sectionIDs)
        edit { $0.sections.removeAll { gone.contains($0.id) } }
    }

    public mutating func deleteSections<S: Sequence>(
        at sectionIndices: S
    ) where S.Element == Int {
        edit { list in
            for index in Set(sectionIndices).sorted().reversed() {
                list.sections.remove(at: index)
            }
        }
    }

    public mutating func moveSection(withID sectionID: SectionID, beforeSectionID: SectionID) {
        edit { list in
            let section = list.sections.remove(at: list.section(known: sectionID))
            list.sections.insert(section, at: list.section(known: beforeSectionID))
        }
    }

    public mutating func moveSection(withID sectionID: SectionID, afterSectionID: SectionID) {
        edit { list in
            let section = list.sections.remove(at: list.section(known: sectionID))
            list.sections.insert(section, at: list.section(known: afterSectionID) + 1)
        }
    }

    /// - Parameter newSectionIndex: the place among the sections as they are before the move.
    public mutating func moveSection(at sectionIndex: Int, to newSectionIndex: Int) {
        edit { list in
            let section = list.sections.remove(at: sectionIndex)
            let index = newSectionIndex > sectionIndex ? newSectionIndex - 1 : newSectionIndex
            list.sections.insert(section, at: index)
        }
    }

    /// Marks the items of sections to be shown anew; those that are not there are passed over.
    public mutating func reloadSections<S: Sequence>(
        withIDs sectionIDs: S
    ) where S.Element == SectionID {
        let ids = Set(sectionIDs)
        edit { list in
            for section in list.sections where ids.contains(section.id) {
                list.reloaded.formUnion(section.items)
            }
        }
    }

    public mutating func reloadSections<S: Sequence>(
        at sectionIndices: S
    ) where S.Element == Int {
        edit { list in
            for index in sectionIndices { list.reloaded.formUnion(list.sections[index].items) }
        }
    }
}

extension EditedList {
    fileprivate mutating func insertSections(_ ids: some Collection<String>, at index: Int) {
        sections.insert(contentsOf: ids.map { Section(id: $0, items: []) }, at: index)
    }
}
