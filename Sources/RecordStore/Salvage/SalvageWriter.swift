import Foundation
import PageStore

/// Writes the objects that a salvage found into a new store.
struct SalvageWriter {
    static let recordsPerCommit = 2000
    private static let bytesPerCommit = 8 << 20

    private let salvage: Salvage
    let database: RecordDatabase
    var report: SalvageReport

    init(_ salvage: Salvage, _ database: RecordDatabase) {
        self.salvage = salvage
        self.database = database
        report = salvage.report
    }

    mutating func run() throws(StoreError) {
        for entity in salvage.schema.entities where entity.superentityTag == nil {
            try writeRecords(entity)
        }
        try repairPairs()
        try repairConstraints()
        let relationships = database.schema.relationships.filter(\.hasEdges)
        // Of two sides, one that has all of its links says which of the other's are still there.
        for isWhole in [true, false] {
            for relationship in relationships where self.isWhole(relationship.id) == isWhole {
                try writeLinks(relationship)
            }
        }
        for relationship in relationships { try completeList(relationship) }
        try writeHistory()
        let reader = try database.snapshot()
        for relationship in relationships {
            var count = 0
            try reader.forEachEdge(relationship) { _, _ in count += 1 }
            report.links.append((relationship: relationship.treeName, count: count))
        }
    }

    /// Copies the history of models, so that older programs stay refused.
    private func writeHistory() throws(StoreError) {
        guard let history = salvage.catalog.history,
            history.models.last?.fingerprint == database.schema.description.fingerprint
        else { return }
        let transaction = try database.beginWrite()
        try transaction.catalog.setEntry(
            Catalog.historyKey, history.withoutCommits.bytes, in: transaction.editor)
        _ = try transaction.commit(.relaxed)
    }

    private func contains(_ number: ObjectNumber, _ entityTag: UInt16) -> Bool {
        let entity = salvage.schema.knownEntity(tag: entityTag)
        guard let tag = salvage.tags[entity.hierarchy.rootTag]?[number] else { return false }
        return entity.tags.contains(tag)
    }

    /// Passes the surviving entries of a tree to the body, in order.
    private func forEachEntry(
        _ tree: SalvagedTree?, _ body: (PageSummary.Entry) throws(StoreError) -> Void
    ) throws(StoreError) {
        for part in tree?.parts() ?? [] {
            guard let id = part.page, let page = try? salvage.pages.page(id) else { continue }
            for entry in PageSummary(page).entries(from: part.lower, to: part.upper) {
                try body(entry)
            }
        }
    }

    // MARK: Records

    private mutating func writeRecords(_ root: EntityLayout) throws(StoreError) {
        var transaction = try database.beginWrite()
        var batch = RecordBatch()
        var (recordCount, byteCount) = (0, 0)
        var last = salvage.catalog.counters[Catalog.numberKey(root.hierarchy)] ?? 0
        let tags = salvage.tags[root.tag] ?? [:]
        var report = report
        try forEachEntry(salvage.records[root.tag]) { entry throws(StoreError) in
            let number = ObjectNumber(SalvageKeys.number(entry.key))
            guard entry.key.count == 8, tags[number] != nil,
                let (entity, bytes) = salvage.record(entry.content, in: root.hierarchy)
            else { return }
            last = max(last, number.rawValue)
            var row = try bytes.withView { bytes throws(StoreError) in
                try RowBuffer(copying: RowView(checked: bytes), of: entity)
            }
            defer { row.deallocate() }
            try repair(&row, number, entity, in: transaction, &report)
            batch.insert(database.schema.knownEntity(tag: entity.tag), number, row: row)
            recordCount += 1
            byteCount += row.view.bytes.count
            guard recordCount >= Self.recordsPerCommit || byteCount >= Self.bytesPerCommit else {
                return
            }
            try transaction.apply(batch)
            _ = try transaction.commit(.relaxed)
            transaction = try database.beginWrite()
            batch = RecordBatch()
            (recordCount, byteCount) = (0, 0)
        }
        self.report = report
        try transaction.apply(batch)
        transaction.useNumbers(upTo: ObjectNumber(last), in: root.hierarchy)
        _ = try transaction.commit(.relaxed)
        let reserved = salvage.catalog.counters[Catalog.reservedKey(root.hierarchy)] ?? 0
        database.passNumbers(upTo: reserved, in: root.hierarchy)
    }

    /// Copies large values into the new store; clears lost ones, and links to lost objects. What is
    /// not optional and has no value becomes empty or zero.
    private func repair(
        _ row: inout RowBuffer, _ number: ObjectNumber, _ entity: EntityLayout,
        in transaction: RecordTransaction, _ report: inout SalvageReport
    ) throws(StoreError) {
        let root = salvage.schema.knownEntity(tag: entity.hierarchy.rootTag)
        let tree = TreeTable.recordsName(root.name)
        for field in entity.fields {
            let offset = field.byteOffset
            if case .link(let id) = field.content, let target = row.view.link(at: offset) {
                let relationship = salvage.schema.relationship(id: id)
                guard !contains(target, relationship.destinationTag) else { continue }
                row.setLink(nil, at: offset)
                report.lose(
                    tree,
                    "the object \(target.rawValue) that \(number.rawValue).\(field.name) "
                        + "leads to", number.rawValue...number.rawValue)
            } else if !field.isOptional, row.view.isNull(at: offset) {
                Self.setEmpty(&row, field)
                report.lose(
                    tree, "the value of \(number.rawValue).\(field.name)",
                    number.rawValue...number.rawValue)
            } else if field.isVariable, !row.view.isNull(at: offset), row.view.isBlob(at: offset) {
                if let name = try? BlobName.read(row.view.heapBytes(at: offset)),
                    let copy = try transaction.copyBlob(name, of: salvage.pages)
                {
                    BlobName.bytes(copy).withView { row.set($0, isBlob: true, at: offset) }
                    continue
                }
                row.set([UInt8](), at: offset)
                if field.isOptional { row.clear(at: offset) }
                report.lose(
                    tree, "the value of \(number.rawValue).\(field.name)",
                    number.rawValue...number.rawValue)
            }
        }
    }

    /// Sets an attribute to what a new object's would be without a default.
    private static func setEmpty(_ row: inout RowBuffer, _ field: FieldLayout) {
        switch field.type {
        case .uuid: row.set([UInt8](repeating: 0, count: 16), at: field.byteOffset)
        case .decimal: row.set(Decimal(0), at: field.byteOffset)
        case .string, .url, .data: row.set([UInt8](), at: field.byteOffset)
        default: row.set(UInt64(0), at: field.byteOffset)
        }
    }

    // MARK: Links between two to-many sides

    private mutating func writeLinks(_ relationship: RelationshipLayout) throws(StoreError) {
        let tree = salvage.edges[relationship.id]
        noteLosses(relationship, tree)
        var transaction = try database.beginWrite()
        var changeCount = 0
        var list: (owner: ObjectNumber, targets: [ObjectNumber])?
        func flush() throws(StoreError) {
            guard let (owner, targets) = list else { return }
            changeCount += targets.count
            try set(relationship, owner, targets, in: transaction)
            guard changeCount >= Self.recordsPerCommit else { return }
            _ = try transaction.commit(.relaxed)
            transaction = try database.beginWrite()
            changeCount = 0
        }
        try forEachEntry(tree) { entry throws(StoreError) in
            guard entry.key.count == 16, case .value(let value) = entry.content,
                value.count == (relationship.kind == .toManyOrdered ? 8 : 0)
            else { return }
            let owner = ObjectNumber(SalvageKeys.number(entry.key))
            let target = ObjectNumber(
                SalvageKeys.number(value.isEmpty ? Array(entry.key.dropFirst(8)) : value))
            guard contains(owner, relationship.sourceTag),
                contains(target, relationship.destinationTag)
            else { return }
            if list?.owner != owner {
                try flush()
                list = (owner, [])
            }
            list?.targets.append(target)
        }
        try flush()
        _ = try transaction.commit(.relaxed)
    }

    private func isWhole(_ relationshipID: Int) -> Bool {
        salvage.edges[relationshipID]?.isWhole == true
    }

    /// Sets an owner's targets: first the surviving ones, then those that only the inverse has. If
    /// the inverse is a to-one, its records decide which targets belong to the list, and so do the
    /// links of an inverse of which none is lost.
    private func set(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber, _ targets: [ObjectNumber],
        in transaction: RecordTransaction
    ) throws(StoreError) {
        var wanted = targets
        if let inverse = relationship.inverseID.map({ database.schema.relationship(id: $0) }),
            inverse.kind == .toOne
        {
            let members = try members(of: inverse, owner, transaction)
            let known = Set(members)
            wanted = targets.filter { known.contains($0) } + members
        } else {
            let linked = try transaction.linkedNumbers(relationship, of: owner)
            if !isWhole(relationship.id), relationship.inverseID.map(isWhole) == true {
                let known = Set(linked)
                wanted.removeAll { !known.contains($0) }
            }
            wanted += linked
        }
        var seen: Set<ObjectNumber> = []
        wanted.removeAll { !seen.insert($0).inserted }
        var batch = RecordBatch()
        batch.setLinks(relationship, owner: owner, wanted)
        try transaction.apply(batch)
    }

    private func members(
        of inverse: RelationshipLayout, _ owner: ObjectNumber, _ reader: RecordReader
    ) throws(StoreError) -> [ObjectNumber] {
        var members: [ObjectNumber] = []
        try reader.forEachSource(of: inverse, target: owner) { members.append($0) }
        return members
    }

    /// Restores lists of which no entry survives, from the records: the loss may be visible nowhere
    /// else.
    private func completeList(_ relationship: RelationshipLayout) throws(StoreError) {
        guard let inverse = relationship.inverseID.map({ database.schema.relationship(id: $0) }),
            inverse.kind == .toOne
        else { return }
        let transaction = try database.beginWrite()
        let source = salvage.schema.knownEntity(tag: relationship.sourceTag)
        for owner in (salvage.tags[source.hierarchy.rootTag] ?? [:]).keys.sorted()
        where contains(owner, source.tag) {
            let members = try members(of: inverse, owner, transaction)
            guard try members.count != transaction.linkCount(relationship, of: owner) else {
                continue
            }
            try set(
                relationship, owner, transaction.linkedNumbers(relationship, of: owner),
                in: transaction)
        }
        _ = try transaction.commit(.relaxed)
    }

    private mutating func noteLosses(_ relationship: RelationshipLayout, _ tree: SalvagedTree?) {
        guard let tree, !tree.isWhole else { return }
        let inverse = relationship.inverseID.map { salvage.schema.relationship(id: $0) }
        let isMirrored =
            inverse.map { $0.kind == .toOne || salvage.edges[$0.id]?.isWhole == true } ?? false
        guard !isMirrored || relationship.kind == .toManyOrdered else { return }
        let what = isMirrored ? "the order of the lists" : "the links"
        let source = salvage.schema.knownEntity(tag: relationship.sourceTag)
        for part in tree.parts() {
            let isLost = (try? part.page.map { try salvage.pages.page($0) }) == nil
            let age = part.page.flatMap { page in
                salvage.pages.stalePages.contains(page) ? salvage.pages.commit(of: page) : nil
            }
            guard isLost || age != nil,
                let range = SalvageKeys.range(part, upTo: salvage.lastNumber(source))
            else { continue }
            let changes = age.map { "changes by commits after \($0) of " } ?? ""
            report.lose(
                relationship.treeName, "\(changes)\(what) of objects \(SalvageKeys.text(range))",
                range)
        }
    }
}
