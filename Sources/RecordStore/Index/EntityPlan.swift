import PageStore

/// The edits of all trees that a batch changes. Later batches reuse their memory.
struct BatchTrees {
    /// By the tag of the hierarchy's root.
    private(set) var records: [UInt16: TreeEdits] = [:]
    /// By index ID.
    private(set) var indexes: [Int: TreeEdits] = [:]
    /// By relationship ID.
    private(set) var links: [Int: TreeEdits] = [:]
    private var order = KeyOrder()

    mutating func records(_ hierarchy: HierarchyID) -> TreeEdits {
        Self.edits(hierarchy.rootTag, in: &records)
    }

    mutating func index(_ id: Int) -> TreeEdits { Self.edits(id, in: &indexes) }

    mutating func links(_ id: Int) -> TreeEdits { Self.edits(id, in: &links) }

    private static func edits<Key>(_ key: Key, in all: inout [Key: TreeEdits]) -> TreeEdits {
        if let known = all[key] { return known }
        let edits = TreeEdits()
        all[key] = edits
        return edits
    }

    /// Returns the results of ``TreeEdits/apply(to:of:isUnique:with:)`` for unique indexes.
    mutating func apply(
        to transaction: RecordEditor
    ) throws(StoreError) -> [(index: IndexLayout, conflictCandidates: [ObjectNumber])] {
        var found: [(index: IndexLayout, conflictCandidates: [ObjectNumber])] = []
        let editor = transaction.editor
        for (tag, edits) in records.sorted(by: { $0.key < $1.key }) {
            let tree = transaction.trees.records(HierarchyID(rootTag: tag))
            if let copy = transaction.recordCopy, copy.hierarchy.rootTag == tag {
                try copy.apply(edits, with: &order)
                continue
            }
            if !edits.isEmpty { try transaction.checkOwn(tree) }
            try edits.apply(to: tree, of: editor, with: &order)
        }
        for (id, edits) in indexes.sorted(by: { $0.key < $1.key }) {
            let index = transaction.schema.indexes[id]
            if !edits.isEmpty { try transaction.checkOwn(transaction.trees.indexes[id]) }
            let conflictCandidates = try edits.apply(
                to: transaction.trees.indexes[id], of: editor, isUnique: index.isUnique,
                with: &order)
            if !conflictCandidates.isEmpty { found.append((index, conflictCandidates)) }
        }
        for (id, edits) in links.sorted(by: { $0.key < $1.key }) {
            let tree = transaction.trees.links(transaction.schema.relationship(id: id))
            if !edits.isEmpty { try transaction.checkOwn(tree) }
            try edits.apply(to: tree, of: editor, with: &order)
        }
        return found
    }
}

/// The plans of the entities that a transaction changes, each created for its first record.
final class EntityPlans {
    private var trees = BatchTrees()
    /// By the tag of the entity.
    private var plans: [EntityPlan?]

    init(_ schema: Schema) {
        plans = Array(repeating: nil, count: schema.tagMax)
    }

    func plan(_ tag: UInt16, _ transaction: RecordEditor) -> EntityPlan {
        if let known = plans[Int(tag) - 1] { return known }
        let plan = EntityPlan(
            transaction.schema.knownEntity(tag: tag), transaction, &trees)
        plans[Int(tag) - 1] = plan
        return plan
    }

    /// See ``BatchTrees/apply(to:)``.
    func applyTrees(
        to transaction: RecordEditor
    ) throws(StoreError) -> [(index: IndexLayout, conflictCandidates: [ObjectNumber])] {
        try trees.apply(to: transaction)
    }

    /// The change of each entity's record count since the last call, by tag.
    func takeCountChanges() -> [(tag: UInt16, change: Int)] {
        plans.compactMap { plan in
            guard let plan, plan.countChange != 0 else { return nil }
            defer { plan.countChange = 0 }
            return (plan.entity.tag, plan.countChange)
        }
    }

    /// The largest number inserted into each hierarchy since the last call.
    func takeInsertedMax() -> [(hierarchy: HierarchyID, last: UInt64)] {
        plans.compactMap { plan in
            guard let plan, plan.insertedMax > 0 else { return nil }
            defer { plan.insertedMax = 0 }
            return (plan.entity.hierarchy, plan.insertedMax)
        }
    }
}

/// The indexes and links of an entity, resolved once, so that loops over records need no lookups.
final class EntityPlan {
    struct Link {
        var byteOffset: Int
        var edits: TreeEdits
        /// The ordered inverse, if it stores pairs of its own.
        var inverseWithEdges: Int?
        /// Nil if changes are not recorded.
        var notes: LinkNotes?
    }

    let entity: EntityLayout
    let records: TreeEdits
    let indexes: [IndexPlan]
    let links: [Link]
    /// Nil if changes are not recorded.
    let notes: ChangeNotes.Records?
    var countChange = 0
    /// The largest number of an inserted record; zero if there is none.
    var insertedMax: UInt64 = 0

    init(_ entity: EntityLayout, _ transaction: RecordEditor, _ trees: inout BatchTrees) {
        self.entity = entity
        records = trees.records(entity.hierarchy)
        notes = transaction.notes?.records(in: entity.hierarchy)
        var indexes: [IndexPlan] = []
        let skipped = transaction.unmaintainedTrees
        for index in entity.indexes
        where skipped.isEmpty || !skipped.contains(transaction.trees.indexes[index.id]) {
            indexes.append(IndexPlan(index, trees.index(index.id), transaction))
        }
        self.indexes = indexes
        var links: [Link] = []
        for relationship in entity.relationships {
            guard let field = relationship.field,
                skipped.isEmpty || !skipped.contains(transaction.trees.links(relationship))
            else { continue }
            var link = Link(byteOffset: field.byteOffset, edits: trees.links(relationship.id))
            if let inverse = relationship.inverseID,
                transaction.schema.relationship(id: inverse).hasEdges
            {
                link.inverseWithEdges = inverse
            }
            link.notes = transaction.notes?.links(relationship)
            links.append(link)
        }
        self.links = links
    }
}

/// One index of an entity, while batches are applied.
final class IndexPlan {
    private let columns: [KeyColumn]
    private let edits: TreeEdits
    /// Reused for its memory; nil while in use.
    private var key: KeyEncoder?
    private let encoder: KeyEncoder

    init(_ index: IndexLayout, _ edits: TreeEdits, _ transaction: RecordEditor) {
        columns = index.columns.map { KeyColumn($0) }
        self.edits = edits
        encoder = transaction.keyEncoder(columnCount: index.columns.count)
    }

    /// Adds or removes the entry of a record.
    func add(
        _ row: RowView, _ number: ObjectNumber, _ reader: RecordReader, isRemoval: Bool
    ) throws(StoreError) {
        // Moved to a local variable while it grows: each access to the property checks exclusivity.
        var key = key.take() ?? encoder
        defer { self.key = key }
        key.removeAll()
        for column in columns { try reader.append(column, of: row, to: &key) }
        key.append(number)
        if isRemoval {
            edits.remove(key.bytes)
        } else {
            edits.insert(key.bytes)
        }
    }

    /// Whether two versions of a record have different index entries.
    func differs(_ before: RowView, _ after: RowView) -> Bool {
        columns.contains { !Self.isEqual($0, before, after) }
    }

    private static func isEqual(_ column: KeyColumn, _ left: RowView, _ right: RowView) -> Bool {
        let offset = column.byteOffset
        guard left.isNull(at: offset) == right.isNull(at: offset) else { return false }
        if left.isNull(at: offset) { return true }
        guard column.isVariable else { return left.uint(at: offset) == right.uint(at: offset) }
        return left.isBlob(at: offset) == right.isBlob(at: offset)
            && left.heapBytes(at: offset) == right.heapBytes(at: offset)
    }
}
