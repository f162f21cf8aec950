import PageStore

/// Rebuilds a store from the readable parts of a file: a new store with every record that a
/// surviving page holds, under its number, and with indexes and links built anew.
///
/// Leaves are found through the branches above them if these survive, otherwise by their content: a
/// record names its entity. Memory holds the number of each object and the bounds of each leaf.
package struct Salvage {
    let pages: SalvagedPages
    let schema: Schema
    let catalog: SalvagedCatalog
    /// By the tag of the hierarchy's root.
    private(set) var records: [UInt16: SalvagedTree] = [:]
    /// By relationship ID, for relationships with trees of pairs.
    private(set) var edges: [Int: SalvagedTree] = [:]
    /// The entity tag of each object that survives, by the tag of the hierarchy's root.
    private(set) var tags: [UInt16: [ObjectNumber: UInt16]] = [:]
    var report = SalvageReport()

    /// Writes the surviving content of a file into a new store. The file itself is not written.
    ///
    /// `lent`, the schema of a store with the same model, is used if the file's own is lost. Throws
    /// `corrupt` if there is neither, and `invalidArgument` if the new path names a file. It names
    /// one afterwards only if the new store is complete. What an interrupted salvage of the same
    /// file has left is replaced.
    package static func run(
        path: String, to newPath: String, lent: Schema? = nil,
        files: any FileSystem = DiskFileSystem.shared
    ) throws(StoreError) -> SalvageReport {
        guard try files.identity(newPath) == nil else {
            throw StoreError(
                .invalidArgument, "there is a file of that name already", path: newPath)
        }
        let pages = try SalvagedPages.scan(path: path, files: files)
        let catalog = SalvagedCatalog(pages)
        if let failure = catalog.failure, failure.code == .newerFormat { throw failure }
        let (schema, loss) = try resolved(catalog, lent, path)
        var salvage = Salvage(pages, schema, catalog)
        if let loss { salvage.report.lose("catalog", loss) }
        salvage.findLeaves()
        salvage.findNumbers()
        try Engine.create(
            at: newPath, options: options(pages), files: files, from: originID(pages), pages.origin
        ) { engine throws(StoreError) in
            let database = try RecordDatabase.open(engine, DeclaredSchema(schema))
            var writer = SalvageWriter(salvage, database)
            try writer.run()
            salvage.report = writer.report
        }
        return salvage.report
    }

    private static func resolved(
        _ catalog: SalvagedCatalog, _ lent: Schema?, _ path: String
    ) throws(StoreError) -> (schema: Schema, loss: String?) {
        do throws(StoreError) {
            return try catalog.resolved(lent: lent)
        } catch {
            throw error.at(path: path)
        }
    }

    /// The file's UUID; its number on the system where that is lost.
    private static func originID(_ pages: SalvagedPages) -> StoreUUID {
        let file = pages.origin.identity
        return pages.identity.uuid ?? StoreUUID(low: file.inode, high: file.device)
    }

    private static func options(_ pages: SalvagedPages) -> Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = pages.identity.pageSizeInBytes
        options.unitSizeInBytes = pages.identity.unitSizeInBytes
        return options
    }

    private init(_ pages: SalvagedPages, _ schema: Schema, _ catalog: SalvagedCatalog) {
        self.pages = pages
        self.schema = schema
        self.catalog = catalog
        report.extentCount = pages.extentCount
        report.pageCount = pages.pageIDs.count
        report.commitNumber = pages.commitNumber
        report.unreadableBytes = pages.unreadableBytes
        report.isVerified = pages.identity.uuid != nil
        report.isComplete = pages.isComplete
        for commits in pages.lostCommits {
            report.lose(
                "log", "the changes of commits \(commits.lowerBound) to \(commits.upperBound)")
        }
    }

    // MARK: Leaves

    private mutating func findLeaves() {
        var visited: Set<PageID> = []
        func tree(_ name: String) -> SalvagedTree {
            SalvagedTree(root: catalog.roots[name], pages, visited: &visited)
        }
        var others = Set(catalog.roots.keys)
        for entity in schema.entities where entity.superentityTag == nil {
            let name = TreeTable.recordsName(entity.name)
            records[entity.tag] = tree(name)
            others.remove(name)
        }
        for relationship in schema.relationships where relationship.hasEdges {
            edges[relationship.id] = tree(relationship.treeName)
            others.remove(relationship.treeName)
        }
        // Leaves of indexes are visited too, so that they are not taken for orphans.
        for name in others.sorted() { _ = tree(name) }
        for tree in Array(records.values) + Array(edges.values) {
            for failure in tree.failures { report.lose("pages", failure.description) }
        }
        let isWhole = records.values.allSatisfy(\.isWhole) && edges.values.allSatisfy(\.isWhole)
        if !isWhole { findOrphans(visited) }
    }

    /// Adds leaves that no branch reaches, identified by their content.
    private mutating func findOrphans(_ visited: Set<PageID>) {
        for id in pages.pageIDs where !visited.contains(id) {
            guard let page = try? pages.page(id) else { continue }
            let node = PageSummary(page)
            guard node.kind == .treeLeaf, !node.entries.isEmpty else { continue }
            if let tag = hierarchy(of: node) {
                if records[tag]?.isWhole == false { records[tag]?.add(node, id, pages) }
            } else if let relationship = relationship(of: node) {
                edges[relationship]?.add(node, id, pages)
            }
        }
    }

    /// The hierarchy whose records a leaf holds.
    private func hierarchy(of leaf: PageSummary) -> UInt16? {
        var found: UInt16?
        for entry in leaf.entries {
            guard entry.key.count == 8 else { return nil }
            switch entry.content {
            case .child: return nil
            case .blob: continue
            case .value(let bytes):
                guard let entity = entity(of: bytes),
                    found ?? entity.hierarchy.rootTag
                        == entity.hierarchy.rootTag
                else { return nil }
                found = entity.hierarchy.rootTag
            }
        }
        return found
    }

    private func entity(of record: [UInt8]) -> EntityLayout? {
        record.withView { bytes in
            guard bytes.count >= RowLayout.headerSize,
                let entity = schema.entity(tag: bytes.uint16(at: RowLayout.entityTag))
            else { return nil }
            if entity.check(bytes) {
                return entity.sizeApart(RowView(checked: bytes)).map { _ in entity }
            }
            guard let widened = entity.widened(bytes) else { return nil }
            defer { withExtendedLifetime(widened) {} }
            return entity.sizeApart(RowView(checked: widened.view)).map { _ in entity }
        }
    }

    /// The only incomplete relationship whose pairs a leaf can hold; nil if there are several.
    private func relationship(of leaf: PageSummary) -> Int? {
        var isOrdered: Bool?
        for entry in leaf.entries {
            guard entry.key.count == 16, case .value(let bytes) = entry.content,
                bytes.isEmpty || bytes.count == 8, isOrdered ?? !bytes.isEmpty == !bytes.isEmpty
            else { return nil }
            isOrdered = !bytes.isEmpty
        }
        // Links of a to-one look like those of an unordered to-many.
        let candidates = schema.relationships.filter { relationship in
            guard !relationship.mirrorsToOne else { return false }
            return (relationship.kind == .toManyOrdered) == isOrdered
                && (edges[relationship.id].map { !$0.isWhole } ?? true)
        }
        guard candidates.count == 1, let only = candidates.first, only.hasEdges else { return nil }
        return only.id
    }

    // MARK: Objects

    private mutating func findNumbers() {
        for entity in schema.entities where entity.superentityTag == nil {
            var found: [ObjectNumber: UInt16] = [:]
            let name = TreeTable.recordsName(entity.name)
            for part in records[entity.tag]?.parts() ?? [] {
                guard let node = part.page.flatMap({ try? pages.page($0) }).map({ PageSummary($0) })
                else {
                    if let range = SalvageKeys.range(part, upTo: lastNumber(entity)) {
                        report.lose(name, "objects \(SalvageKeys.text(range))", range)
                    }
                    continue
                }
                noteAge(of: part, name)
                for entry in node.entries(from: part.lower, to: part.upper) {
                    let number = entry.key.count == 8 ? SalvageKeys.number(entry.key) : 0
                    if number > 0, let record = record(entry.content, in: entity.hierarchy) {
                        found[ObjectNumber(number)] = record.entity.tag
                    } else {
                        report.lose(name, "object \(number)", number...number)
                    }
                }
            }
            tags[entity.tag] = found
        }
        for entity in schema.entities where !entity.isAbstract { compareCount(entity) }
    }

    private mutating func noteAge(of part: SalvagedTree.Part, _ name: String) {
        guard let page = part.page, pages.stalePages.contains(page) else { return }
        guard let range = SalvageKeys.range(part, upTo: nil) else { return }
        report.lose(
            name,
            "changes by commits after \(pages.commit(of: page)) of objects "
                + SalvageKeys.text(range), range)
    }

    private mutating func compareCount(_ entity: EntityLayout) {
        let found = tags[entity.hierarchy.rootTag]?.values.count { $0 == entity.tag } ?? 0
        report.objects.append((entity: entity.name, count: found))
        guard let counted = catalog.counters[Catalog.countKey(entity.tag)], counted > found else {
            return
        }
        let root = schema.knownEntity(tag: entity.hierarchy.rootTag)
        report.lose(
            TreeTable.recordsName(root.name), "\(found) of \(counted) \(entity.name) are left")
    }

    /// A record in the newest layout of its entity, and that entity; nil if it does not belong to
    /// the leaf's hierarchy.
    func record(
        _ content: PageSummary.Content, in hierarchy: HierarchyID
    ) -> (entity: EntityLayout, bytes: [UInt8])? {
        guard let bytes = try? SalvagedCatalog.bytes(content, pages),
            let entity = entity(of: bytes), entity.hierarchy == hierarchy
        else { return nil }
        guard let widened = bytes.withView({ entity.widened($0) }) else { return (entity, bytes) }
        // A view does not keep its buffer alive.
        defer { withExtendedLifetime(widened) {} }
        return (entity, widened.view.array())
    }

    /// The last number that a hierarchy gave out; nil if uncertain, because larger numbers than an
    /// old counter's may be lost too.
    func lastNumber(_ entity: EntityLayout) -> UInt64? {
        guard catalog.areCountersNewest else { return nil }
        return catalog.counters[Catalog.numberKey(entity.hierarchy)] ?? 0
    }
}

/// The numbers with which keys of records and links begin.
enum SalvageKeys {
    /// The number at the start of a key. A fence may be shorter, because separators are truncated.
    static func number(_ key: [UInt8]) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<8 { number = number << 8 | UInt64(index < key.count ? key[index] : 0) }
        return number
    }

    /// The object numbers in a range of keys, up to the last one given out; nil if there are none.
    static func range(_ part: SalvagedTree.Part, upTo last: UInt64?) -> ClosedRange<UInt64>? {
        let first = max(1, number(part.lower))
        var final = last ?? .max
        if !part.upper.isEmpty {
            let end = number(part.upper)
            // A fence longer than a number sorts after the first key of that number.
            final = min(final, part.upper.count > 8 || end == 0 ? end : end - 1)
        }
        return first <= final ? first...final : nil
    }

    static func text(_ range: ClosedRange<UInt64>) -> String {
        range.upperBound == .max
            ? "\(range.lowerBound) and above" : "\(range.lowerBound) to \(range.upperBound)"
    }
}
