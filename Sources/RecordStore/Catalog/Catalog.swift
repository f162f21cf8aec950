import Foundation
import PageStore

/// A store's description of itself: its schema as text, the layout of its records, and the root of
/// each tree: spec/07-catalog.md.
///
/// The catalog's tree is the root that every commit names. A second tree holds the counters, so
/// that a commit that changes a count does not log the schema's page again.
struct Catalog {
    static let schemaKey = "schema"
    static let layoutKey = "layout"
    static let countersKey = "counters"
    static let treePrefix = "tree/"

    /// The saved form of a schema.
    struct StoredSchema: Decodable {
        static let formatVersion = 1

        /// A saved schema of a later version, which need not be readable but for its version.
        struct Newer: Error {
            var formatVersion: Int
        }

        private enum Key: CodingKey {
            case formatVersion, schema
        }

        var schema: SchemaDescription

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            let version = try container.decode(Int.self, forKey: .formatVersion)
            guard version == Self.formatVersion else { throw Newer(formatVersion: version) }
            schema = try container.decode(SchemaDescription.self, forKey: .schema)
        }
    }

    let root: TreeID
    let counters: TreeID
    /// The prefix of the keys of schema, layout, moves and trees: empty except in a migration's
    /// shadow copy.
    var prefix = ""
    /// Trees that the file's model shares: removing one here removes only its name.
    var lentTrees: [TreeID] = []

    /// The root of the catalog that a view's commit names; nil in a store without commits.
    static func rootPage(of view: PageView) throws(StoreError) -> PageID? {
        if let page = view.catalogRoot { return page }
        // The first commit makes the catalog. Without this check a file that lost it would be taken
        // for a new one, and a writer would put an empty catalog over its objects.
        if let commit = (view as? Snapshot)?.commitNumber, commit > 0 {
            throw .corrupt(nil, "commit \(commit) names no catalog")
        }
        return nil
    }

    /// The catalog that a view's commit names; nil in a new store.
    static func open(_ view: PageView) throws(StoreError) -> Catalog? {
        guard let page = try rootPage(of: view) else { return nil }
        let root = TreeID(root: page)
        guard let counters = try tree(countersKey, in: root, of: view) else {
            throw .corrupt(page, "the catalog does not name the tree of counters")
        }
        return Catalog(root: root, counters: counters)
    }

    static func create(_ editor: WriteTransaction) throws(StoreError) -> Catalog {
        let root = try editor.createTree()
        let counters = try editor.createTree()
        let catalog = Catalog(root: root, counters: counters)
        try catalog.setTree(countersKey, counters, in: editor)
        editor.catalogRoot = root.root
        return catalog
    }

    // MARK: Schema

    func schema(_ view: PageView) throws(StoreError) -> SchemaDescription {
        let text = try schemaText(view)
        guard let text else { throw .corrupt(root.root, "the catalog holds no schema") }
        do {
            return try JSONDecoder().decode(StoredSchema.self, from: Data(text)).schema
        } catch let newer as StoredSchema.Newer {
            throw StoreError(
                .newerFormat,
                "the saved schema has version \(newer.formatVersion); this program knows "
                    + "\(StoredSchema.formatVersion)", page: root.root.rawValue)
        } catch {
            throw .corrupt(root.root, "the saved schema cannot be read: \(error)")
        }
    }

    /// The saved bytes.
    func schemaText(_ view: PageView) throws(StoreError) -> [UInt8]? {
        try entry(prefix + Self.schemaKey, of: view)
    }

    /// All entries that a reader's schema, trees and identities follow from, one after the other,
    /// to see whether a migration has changed them. The schema alone may be what it was before,
    /// with other slots and trees. Nil without a schema.
    func structure(_ view: PageView) throws(StoreError) -> [UInt8]? {
        guard var bytes = try schemaText(view) else { return nil }
        // A schema is text, and no key or value begins inside another one.
        func append(_ part: [UInt8]) {
            bytes.append(bigEndian: UInt64(part.count))
            bytes += part
        }
        append(try layout(view))
        append(try entry(prefix + Self.movedKey, of: view) ?? [])
        let start = prefix + Self.treePrefix
        let cursor = Cursor(view, tree: root)
        _ = try cursor.seek(Array(start.utf8).span)
        while cursor.isValid {
            let key = cursor.key.array()
            guard key.starts(with: start.utf8) else { break }
            append(key)
            append(try cursor.value().array())
            _ = try cursor.next()
        }
        return bytes
    }

    /// The saved form of the layout: see ``StoredLayout``.
    func layout(_ view: PageView) throws(StoreError) -> [UInt8] {
        guard let bytes = try entry(prefix + Self.layoutKey, of: view) else {
            throw .corrupt(root.root, "the catalog holds no layout")
        }
        return bytes
    }

    /// The file's schema, resolved by its layout. Both are untrusted and validated.
    func resolvedSchema(_ view: PageView) throws(StoreError) -> Schema {
        let description = try schema(view)
        do throws(StoreError) {
            return try Schema(description, layout: layout(view), page: root.root)
        } catch {
            guard error.code == .invalidModel else { throw error }
            throw .corrupt(root.root, "the saved schema cannot be used: \(error.message)")
        }
    }

    /// Written when a file is made, and by migrations: see ``StoredLayout``.
    func setLayout(_ layout: [UInt8], in editor: PageEditor) throws(StoreError) {
        try setEntry(prefix + Self.layoutKey, layout, in: editor)
    }

    func setSchema(_ schema: SchemaDescription, in editor: PageEditor) throws(StoreError) {
        try setEntry(prefix + Self.schemaKey, SchemaText(schema).bytes, in: editor)
    }

    // MARK: Trees

    func tree(_ name: String, of view: PageView) throws(StoreError) -> TreeID? {
        try Catalog.tree(prefix + Self.treePrefix + name, in: root, of: view)
    }

    func createTree(_ name: String, in editor: PageEditor) throws(StoreError) -> TreeID {
        let tree = try editor.createTree()
        try setTree(prefix + Self.treePrefix + name, tree, in: editor)
        return tree
    }

    func removeTree(_ name: String, in editor: PageEditor) throws(StoreError) {
        guard let found = try tree(name, of: editor) else { return }
        if !lentTrees.contains(found) { try editor.deleteTree(found) }
        try setEntry(prefix + Self.treePrefix + name, nil, in: editor)
    }

    /// Renames a tree without changing it.
    func renameTree(_ old: String, to new: String, in editor: PageEditor) throws(StoreError) {
        guard let found = try tree(old, of: editor) else { return }
        try setEntry(prefix + Self.treePrefix + old, nil, in: editor)
        try setTree(prefix + Self.treePrefix + new, found, in: editor)
    }

    /// The names of all trees except the catalog's own two, in order.
    func treeNames(_ view: PageView) throws(StoreError) -> [String] {
        try keys(beginning: prefix + Self.treePrefix, of: view)
    }

    /// The keys that have a prefix, without it, in order.
    func keys(beginning prefix: String, of view: PageView) throws(StoreError) -> [String] {
        var names: [String] = []
        let start = Array(prefix.utf8)
        let cursor = Cursor(view, tree: root)
        _ = try cursor.seek(start.span)
        while cursor.isValid {
            let key = cursor.key
            guard start.withView({ key.hasPrefix($0) }) else { break }
            names.append(key.dropFirst(start.count).string())
            _ = try cursor.next()
        }
        return names
    }

    // MARK: Entries by their whole keys

    func entry(_ key: String, of view: PageView) throws(StoreError) -> [UInt8]? {
        try Catalog.value(key, in: root, of: view)
    }

    /// Nil removes the entry.
    func setEntry(
        _ key: String, _ bytes: [UInt8]?, in editor: PageEditor
    ) throws(StoreError) {
        if let bytes {
            _ = try editor.insert(Array(key.utf8).span, bytes.span, into: root)
        } else {
            _ = try editor.remove(Array(key.utf8).span, from: root)
        }
    }

    /// The tree that an entry names; nil if there is no such entry.
    func tree(ofKey key: String, of view: PageView) throws(StoreError) -> TreeID? {
        try Catalog.tree(key, in: root, of: view)
    }

    func setTree(
        _ key: String, _ tree: TreeID, in editor: PageEditor
    ) throws(StoreError) {
        try setEntry(key, Catalog.bytes(tree.root.rawValue), in: editor)
    }

    private static func tree(
        _ key: String, in root: TreeID, of view: PageView
    ) throws(StoreError) -> TreeID? {
        guard let value = try number(key, in: root, of: view) else { return nil }
        guard value > 0 else { throw .corrupt(root.root, "the catalog names page zero") }
        return TreeID(root: PageID(value))
    }

    // MARK: Counters

    /// Counts the records of exactly this entity.
    static func countKey(_ tag: UInt16) -> String { "count/\(tag)" }
    /// No object of the hierarchy has, or had, a larger number.
    static func numberKey(_ hierarchy: HierarchyID) -> String { "number/\(hierarchy.rootTag)" }
    /// Numbers up to this one may have been given to objects that were never committed.
    static func reservedKey(_ hierarchy: HierarchyID) -> String {
        "reserved/\(hierarchy.rootTag)"
    }

    /// The last number that a hierarchy may have given out; every later one is free.
    func lastNumber(_ hierarchy: HierarchyID, of view: PageView) throws(StoreError) -> UInt64 {
        let used = try counter(Self.numberKey(hierarchy), of: view)
        let reserved = try counter(Self.reservedKey(hierarchy), of: view)
        return min(max(used, reserved), NumberReserve.numberMax)
    }

    /// Records that numbers up to `last` may have been given out. Needs no entry if an object has
    /// had `last` or a larger number.
    func setReserved(
        _ last: UInt64, _ hierarchy: HierarchyID, in editor: PageEditor
    ) throws(StoreError) {
        if last > (try counter(Self.numberKey(hierarchy), of: editor)) {
            try setCounter(Self.reservedKey(hierarchy), last, in: editor)
        } else {
            _ = try editor.remove(Array(Self.reservedKey(hierarchy).utf8).span, from: counters)
        }
    }

    func counter(_ key: String, of view: PageView) throws(StoreError) -> UInt64 {
        try Catalog.number(key, in: counters, of: view) ?? 0
    }

    func setCounter(
        _ key: String, _ value: UInt64, in editor: PageEditor
    ) throws(StoreError) {
        _ = try editor.insert(Array(key.utf8).span, Catalog.bytes(value).span, into: counters)
    }

    func removeCounter(_ key: String, in editor: PageEditor) throws(StoreError) {
        _ = try editor.remove(Array(key.utf8).span, from: counters)
    }

    private static func number(
        _ key: String, in tree: TreeID, of view: PageView
    ) throws(StoreError) -> UInt64? {
        guard let bytes = try value(key, in: tree, of: view) else { return nil }
        guard bytes.count == 8 else {
            throw .corrupt(tree.root, "the catalog's entry \(key) is not a number")
        }
        return bytes.withView { $0.uint64(at: 0) }
    }

    private static func value(
        _ key: String, in tree: TreeID, of view: PageView
    ) throws(StoreError) -> [UInt8]? {
        try view.withValue(for: Array(key.utf8).span, in: tree) { value throws(StoreError) in
            value.array()
        }
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
}
