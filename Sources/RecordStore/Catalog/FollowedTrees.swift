import PageStore
import Primitives

/// The trees of a store that is opened for reading while other processes may change its schema.
///
/// The reader keeps its own schema. It goes on after a change if its trees exist and records have
/// its layout, apart from slots that come after those that it knows. So a reader goes on when the
/// change only adds, and a reader of an unmigrated file when a writer with its model migrates it.
final class FollowedTrees: Sendable {
    /// One of the structures that the file has had.
    private struct Version {
        /// See ``Catalog/structure(_:)``.
        let structure: [UInt8]
        let trees: TreeTable
        /// A commit that has the structure. Commits before and after it may have others: a model
        /// may lead back to an earlier one.
        var commit: UInt64?
    }

    /// Older versions are forgotten. A reader of an old commit then looks its trees up again.
    private static let versionsMax = 8

    private let schema: Schema
    private let catalog: Catalog
    private let moved: MovedObjects
    /// The last ones that were looked up, the latest at the end.
    private let versions: Mutex<[Version]>

    /// - Parameter structure: of the commit that the trees were looked up in.
    init(
        _ schema: Schema, _ catalog: Catalog, _ trees: TreeTable, _ moved: MovedObjects,
        of structure: [UInt8]
    ) {
        self.schema = schema
        self.catalog = catalog
        self.moved = moved
        versions = Mutex([Version(structure: structure, trees: trees, commit: nil)])
    }

    /// The trees as of a commit; nil if the reader cannot go on because another process has changed
    /// the schema.
    func trees(of snapshot: Snapshot) throws(StoreError) -> TreeTable? {
        let commit = snapshot.commitNumber
        let known = versions.withLock { $0.last { $0.commit == commit }?.trees }
        if let known { return known }
        guard let structure = try catalog.structure(snapshot) else { return nil }
        if let known = find(structure, at: commit) { return known }
        guard let trees = try adoptedTrees(snapshot) else { return nil }
        let version = Version(structure: structure, trees: trees, commit: commit)
        versions.withLock { versions in
            if versions.count == Self.versionsMax { versions.removeFirst() }
            versions.append(version)
        }
        return trees
    }

    /// The trees of the version with a structure, which is noted to be that of a commit.
    private func find(_ structure: [UInt8], at commit: UInt64) -> TreeTable? {
        versions.withLock { versions in
            guard let index = versions.lastIndex(where: { $0.structure == structure })
            else { return nil }
            versions[index].commit = commit
            return versions[index].trees
        }
    }

    private func adoptedTrees(_ snapshot: Snapshot) throws(StoreError) -> TreeTable? {
        let stored: Schema
        do throws(StoreError) {
            stored = try catalog.resolvedSchema(snapshot)
            // The writer may have taken another route to the schema than the reader foresaw, and
            // identities that it gives out would lead the reader to other objects.
            guard try catalog.movedObjects(snapshot) == moved else { return nil }
        } catch {
            // A later program's schema need not be readable.
            guard error.code == .newerFormat else { throw error }
            return nil
        }
        guard let addition = LayoutAddition(from: schema, to: stored) else { return nil }
        var (trees, missing) = try TreeTable.open(schema, catalog, snapshot)
        trees.hasLaterSlots = addition.addsSlots
        return missing.isEmpty ? trees : nil
    }
}

/// The difference between a reader's schema and the file's, if the reader can ignore it: new
/// properties, entities in hierarchies of their own, and indexes.
private struct LayoutAddition {
    /// Whether records of known entities may have more slots.
    private(set) var addsSlots = false

    /// Nil for any other difference. A new subentity of a known entity is one too, because its
    /// objects would have to be shown as objects of that entity.
    init?(from known: Schema, to stored: Schema) {
        let edits = SchemaDifference.edits(from: known.description, to: stored.description)
        guard edits.filter(\.needsMigration).allSatisfy({ Self.isAddition($0, known, stored) })
        else { return nil }
        let later = stored.storedLayout ?? StoredLayout(declaredBy: stored)
        let layout = Dictionary(later.entities.map { ($0.tag, $0) }) { first, _ in first }
        for entity in (known.storedLayout ?? StoredLayout(declaredBy: known)).entities {
            guard let later = layout[entity.tag], later.extends(entity) else { return nil }
            if later.slotCounts.count > entity.slotCounts.count { addsSlots = true }
        }
    }

    private static func isAddition(
        _ edit: SchemaEdit, _ known: Schema, _ stored: Schema
    ) -> Bool {
        switch edit {
        case .propertyAdded: true
        case .entityAdded(let name):
            stored.entity(named: name).map { added in
                added.ancestorTags.allSatisfy { known.entity(tag: $0) == nil }
            } ?? false
        default: false
        }
    }
}

extension StoredLayout.Entity {
    /// Whether this layout differs from an earlier one only by properties whose slots come after
    /// all of its slots.
    fileprivate func extends(_ earlier: Self) -> Bool {
        let end = earlier.slotCounts.last ?? 0
        guard name == earlier.name, slotCounts.starts(with: earlier.slotCounts),
            retired.map(\.slot).filter({ $0 < end }) == earlier.retired.map(\.slot)
        else { return false }
        return properties.filter { $0.slot < end }.map(\.slot) == earlier.properties.map(\.slot)
            && earlier.properties.allSatisfy { property in
                properties.contains { later in
                    later.slot == property.slot && later.name == property.name
                        && later.initialValue == property.initialValue
                }
            }
    }
}
