// Editing a copy of a list. The first change, and each one that names an item by its ID, costs time
// in proportion to the number of items. An unknown anchor or section, and an index out of range,
// stop the program.

extension ListSnapshot {
    /// Appends items to a section. IDs that the list has already are not looked for.
    ///
    /// - Parameters:
    ///   - itemIDs: the IDs of the items.
    ///   - sectionID: the section to append to; nil for the last one.
    public mutating func appendItems<C: Collection>(
        withIDs itemIDs: C, toSectionWithID sectionID: SectionID? = nil
    ) where C.Element == ItemID {
        edit { list in
            guard
                let section = sectionID.map({ list.section(known: $0) })
                    ?? list.sections.indices.last
            else { Log.abort("a snapshot has no section to append to") }
            list.sections[section].items += itemIDs
        }
    }

    /// Appends items to the section at an index.
    public mutating func appendItems<C: Collection>(
        with itemIDs: C, toSectionAt sectionIndex: Int
    ) where C.Element == ItemID {
        edit { $0.sections[sectionIndex].items += itemIDs }
    }

    /// Inserts items before another one.
    public mutating func insertItems<C: Collection>(
        withIDs itemIDs: C, beforeItemID: ItemID
    ) where C.Element == ItemID {
        edit { $0.insert(itemIDs, at: $0.place(known: beforeItemID)) }
    }

    /// Inserts items after another one.
    public mutating func insertItems<C: Collection>(
        withIDs itemIDs: C, afterItemID: ItemID
    ) where C.Element == ItemID {
        edit { list in
            let place = list.place(known: afterItemID)
            list.insert(itemIDs, at: (place.section, place.item + 1))
        }
    }

    /// Inserts items at a path.
    public mutating func insertItems<C: Collection>(
        withIDs itemIDs: C, at indexPath: IndexPath
    ) where C.Element == ItemID {
        edit { $0.insert(itemIDs, at: (indexPath[0], indexPath[1])) }
    }

    /// Deletes items. Unknown IDs are ignored.
    public mutating func deleteItems<S: Sequence>(withIDs itemIDs: S) where S.Element == ItemID {
        edit { $0.remove(Set(itemIDs)) }
    }

    /// Deletes the items at paths of the list before the call.
    public mutating func deleteItems<S: Sequence>(
        at indexPaths: S
    ) where S.Element == IndexPath {
        edit { list in
            for (section, paths) in Dictionary(grouping: Set(indexPaths), by: { $0[0] }) {
                let gone = Set(paths.map { $0[1] })
                let items = list.sections[section].items
                precondition(
                    gone.allSatisfy { items.indices.contains($0) }, "a path is outside its list")
                list.sections[section].items = items.indices.filter { !gone.contains($0) }
                    .map { items[$0] }
            }
        }
    }

    /// Deletes all items; the sections stay.
    public mutating func deleteAllItems() {
        edit { list in
            for index in list.sections.indices { list.sections[index].items = [] }
        }
    }

    /// Moves an item before another one.
    public mutating func moveItem(withID itemID: ItemID, beforeItemID: ItemID) {
        edit { list in
            list.take(itemID)
            list.insert([itemID], at: list.place(known: beforeItemID))
        }
    }

    /// Moves an item after another one.
    public mutating func moveItem(withID itemID: ItemID, afterItemID: ItemID) {
        edit { list in
            list.take(itemID)
            let place = list.place(known: afterItemID)
            list.insert([itemID], at: (place.section, place.item + 1))
        }
    }

    /// Moves the item at a path.
    ///
    /// - Parameters:
    ///   - indexPath: the item's path before the call.
    ///   - newIndexPath: the item's path after the call.
    public mutating func moveItem(at indexPath: IndexPath, to newIndexPath: IndexPath) {
        edit { list in
            let id = list.sections[indexPath[0]].items.remove(at: indexPath[1])
            list.insert([id], at: (newIndexPath[0], newIndexPath[1]))
        }
    }

    /// Marks items as updated, so that they are shown again. Unknown IDs are ignored.
    public mutating func reloadItems<S: Sequence>(withIDs itemIDs: S) where S.Element == ItemID {
        edit { list in
            list.reloaded.formUnion(
                Set(itemIDs).intersection(list.sections.flatMap(\.items)))
        }
    }

    /// Marks the items at paths as updated, so that they are shown again.
    public mutating func reloadItems<S: Sequence>(
        at indexPaths: S
    ) where S.Element == IndexPath {
        edit { list in
            for path in indexPaths {
                list.reloaded.insert(list.sections[path[0]].items[path[1]])
            }
        }
    }
}

extension EditedList {
    /// Takes an item out that has to be there.
    fileprivate mutating func take(_ id: NSManagedObjectID) {
        let place = place(known: id)
        sections[place.section].items.remove(at: place.item)
    }
}
