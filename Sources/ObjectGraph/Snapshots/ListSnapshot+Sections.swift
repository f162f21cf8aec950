extension ListSnapshot {
    /// Appends empty sections.
    public mutating func appendSections<C: Collection>(
        withIDs sectionIDs: C
    ) where C.Element == SectionID {
        edit { $0.insertSections(sectionIDs, at: $0.sections.count) }
    }

    /// Inserts empty sections before another one. An unknown anchor stops the program.
    public mutating func insertSections<C: Collection>(
        withIDs sectionIDs: C, beforeSectionID: SectionID
    ) where C.Element == SectionID {
        edit { $0.insertSections(sectionIDs, at: $0.section(known: beforeSectionID)) }
    }

    /// Inserts empty sections after another one. An unknown anchor stops the program.
    public mutating func insertSections<C: Collection>(
        withIDs sectionIDs: C, afterSectionID: SectionID
    ) where C.Element == SectionID {
        edit { $0.insertSections(sectionIDs, at: $0.section(known: afterSectionID) + 1) }
    }

    /// Inserts empty sections at an index.
    public mutating func insertSections<C: Collection>(
        _ sectionIDs: C, at sectionIndex: Int
    ) where C.Element == SectionID {
        edit { $0.insertSections(sectionIDs, at: sectionIndex) }
    }

    /// Deletes sections with their items. Unknown IDs are ignored.
    public mutating func deleteSections<S: Sequence>(
        withIDs sectionIDs: S
    ) where S.Element == SectionID {
        let gone = Set(sectionIDs)
        edit { $0.sections.removeAll { gone.contains($0.id) } }
    }

    /// Deletes the sections at indices of the list before the call, with their items.
    public mutating func deleteSections<S: Sequence>(
        at sectionIndices: S
    ) where S.Element == Int {
        edit { list in
            for index in Set(sectionIndices).sorted().reversed() {
                list.sections.remove(at: index)
            }
        }
    }

    /// Moves a section with its items before another one. An unknown ID stops the program.
    public mutating func moveSection(withID sectionID: SectionID, beforeSectionID: SectionID) {
        edit { list in
            let section = list.sections.remove(at: list.section(known: sectionID))
            list.sections.insert(section, at: list.section(known: beforeSectionID))
        }
    }

    /// Moves a section with its items after another one. An unknown ID stops the program.
    public mutating func moveSection(withID sectionID: SectionID, afterSectionID: SectionID) {
        edit { list in
            let section = list.sections.remove(at: list.section(known: sectionID))
            list.sections.insert(section, at: list.section(known: afterSectionID) + 1)
        }
    }

    /// Moves a section with its items.
    ///
    /// - Parameters:
    ///   - sectionIndex: the section's index before the call.
    ///   - newSectionIndex: the index among the sections before the call: the section comes to
    ///     stand before the one that has it.
    public mutating func moveSection(at sectionIndex: Int, to newSectionIndex: Int) {
        edit { list in
            let section = list.sections.remove(at: sectionIndex)
            let index = newSectionIndex > sectionIndex ? newSectionIndex - 1 : newSectionIndex
            list.sections.insert(section, at: index)
        }
    }

    /// Marks sections, so that ``StagedChanges`` show them again with all that they have. Unknown
    /// IDs are ignored.
    public mutating func reloadSections<S: Sequence>(
        withIDs sectionIDs: S
    ) where S.Element == SectionID {
        let ids = Set(sectionIDs)
        edit { list in
            for index in list.sections.indices where ids.contains(list.sections[index].id) {
                list.sections[index].isReloaded = true
            }
        }
    }

    /// Marks the sections at indices, so that ``StagedChanges`` show them again.
    public mutating func reloadSections<S: Sequence>(
        at sectionIndices: S
    ) where S.Element == Int {
        edit { list in
            for index in sectionIndices { list.sections[index].isReloaded = true }
        }
    }
}

extension EditedList {
    fileprivate mutating func insertSections(_ ids: some Collection<String>, at index: Int) {
        sections.insert(contentsOf: ids.map { Section(id: $0, items: []) }, at: index)
    }
}
