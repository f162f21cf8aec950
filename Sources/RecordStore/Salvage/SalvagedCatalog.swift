import Foundation
import PageStore

/// The schema, the layout and the roots of the trees, from the catalog if it is found, otherwise
/// from leaves that look like the catalog's.
struct SalvagedCatalog {
    private(set) var schema: SchemaDescription?
    private var layout: [UInt8]?
    /// The models that the file has had; nil if lost or unknown.
    private(set) var history: ModelHistory?
    /// Root pages by the tree names of spec/07-catalog.md, and `counters`.
    private(set) var roots: [String: PageID] = [:]
    /// The readable counters, by their keys.
    private(set) var counters: [String: UInt64] = [:]
    /// Whether the counters are certainly of the newest commit; otherwise they may be too low.
    private(set) var areCountersNewest = false
    /// Why the catalog that the newest commit names could not be used.
    private(set) var failure: StoreError?
    /// Whether only a version of the catalog is left that was replaced later.
    private(set) var isStale = false

    init(_ pages: SalvagedPages) {
        do throws(StoreError) {
            guard let view = try CatalogView(pages) else {
                throw .corrupt(nil, "nothing names the catalog")
            }
            let found = try view.schema()
            if let found, (try? Schema(found)) == nil {
                throw .corrupt(nil, "the saved schema cannot be used")
            }
            schema = found
            layout = try view.layout()
            history = try? view.history()
            for named in try view.trees() { roots[named.name] = named.tree.root }
            var visited: Set<PageID> = []
            isStale = !SalvagedTree(root: pages.catalogRoot, pages, visited: &visited).isWhole
        } catch {
            failure = error
            search(pages)
        }
        readCounters(pages)
    }

    /// The schema by which records are read, and a description of what is lost of it.
    ///
    /// - Parameter lent: the schema of a store with the same model, to replace lost parts.
    func resolved(lent: Schema?) throws(StoreError) -> (schema: Schema, loss: String?) {
        guard let schema else {
            guard let lent else {
                throw .corrupt(
                    nil,
                    "the schema is lost with the catalog; a store that has the same one, "
                        + "such as a backup, can lend it")
            }
            return (lent, failure?.message)
        }
        if isStale {
            let loss = "its newest version, with all that later commits added to the model"
            if let lent { return (lent, loss) }
            if let layout, let resolved = try Self.resolve(schema, layout) {
                return (resolved, loss)
            }
            return (try Schema(schema), loss)
        }
        if let layout, let resolved = try Self.resolve(schema, layout) { return (resolved, nil) }
        if let lent, let resolved = try Self.resolve(schema, StoredLayout.bytes(of: lent)) {
            return (resolved, nil)
        }
        return (
            try Schema(schema),
            "the layout of records: they are read in the order of the schema's declarations, "
                + "which is not theirs when declarations were moved after the file was made"
        )
    }

    /// Resolves the schema by a layout; nil if that belongs to another schema.
    private static func resolve(
        _ schema: SchemaDescription, _ layout: [UInt8]
    ) throws(StoreError) -> Schema? {
        do throws(StoreError) {
            return try Schema(schema, layout: layout, page: PageID(0))
        } catch {
            guard error.code != .newerFormat else { throw error }
            return nil
        }
    }

    // MARK: Without a readable catalog

    private mutating func search(_ pages: SalvagedPages) {
        var commits: [String: UInt64] = [:]
        for id in pages.pageIDs {
            guard let page = try? pages.page(id), page[0] == PageKind.treeLeaf.rawValue else {
                continue
            }
            let commit = pages.commit(of: id)
            for entry in PageSummary(page).entries {
                guard let key = String(validating: entry.key, as: UTF8.self),
                    commits[key] ?? 0 <= commit, take(key, entry.content, pages)
                else { continue }
                commits[key] = commit
            }
        }
    }

    /// Adopts an entry if it belongs to a catalog.
    private mutating func take(
        _ key: String, _ content: PageSummary.Content, _ pages: SalvagedPages
    ) -> Bool {
        if key == Catalog.schemaKey {
            guard let found = try? SalvagedCatalog.bytes(content, pages),
                let schema = SalvagedCatalog.schema(found)
            else { return false }
            self.schema = schema
            return true
        }
        if key == Catalog.layoutKey {
            guard let found = try? SalvagedCatalog.bytes(content, pages),
                (try? StoredLayout(found, page: PageID(0))) != nil
            else { return false }
            layout = found
            return true
        }
        if key == Catalog.historyKey {
            guard let found = try? SalvagedCatalog.bytes(content, pages),
                let history = try? ModelHistory(found, page: PageID(0))
            else { return false }
            self.history = history
            return true
        }
        guard let name = SalvagedCatalog.treeName(key), case .value(let bytes) = content,
            bytes.count == 8
        else { return false }
        roots[name] = PageID(bytes.withView { $0.uint64(at: 0) })
        return true
    }

    /// The name of the tree of an entry, as in ``CatalogView``; nil for other entries. Trees of an
    /// unfinished migration keep their prefix, so that none is taken for one of the file's model.
    private static func treeName(_ key: String) -> String? {
        for prefix in ["", MigrationShadow.prefix, ReplacedTrees.prefix] {
            if let name = key.withoutBytePrefix(prefix + Catalog.treePrefix) {
                return prefix + name
            }
        }
        return key == Catalog.countersKey ? key : nil
    }

    private static func schema(_ text: [UInt8]) -> SchemaDescription? {
        let stored = try? JSONDecoder().decode(Catalog.StoredSchema.self, from: Data(text))
        guard let stored, (try? Schema(stored.schema)) != nil else { return nil }
        return stored.schema
    }

    static func bytes(
        _ content: PageSummary.Content, _ pages: SalvagedPages
    ) throws(StoreError) -> [UInt8] {
        switch content {
        case .value(let bytes): return bytes
        case .blob(let blob): return try pages.readBlob(blob)
        case .child(let page): throw .corrupt(page, "a child is stored instead of a value")
        }
    }

    private mutating func readCounters(_ pages: SalvagedPages) {
        var visited: Set<PageID> = []
        let tree = SalvagedTree(root: roots[Catalog.countersKey], pages, visited: &visited)
        areCountersNewest = tree.isWhole && tree.leaves.allSatisfy { pages.isNewest($0.page) }
        for leaf in tree.leaves {
            guard let page = try? pages.page(leaf.page) else { continue }
            for entry in PageSummary(page).entries {
                guard let key = String(validating: entry.key, as: UTF8.self),
                    case .value(let bytes) = entry.content, bytes.count == 8
                else { continue }
                counters[key] = bytes.withView { $0.uint64(at: 0) }
            }
        }
    }
}
