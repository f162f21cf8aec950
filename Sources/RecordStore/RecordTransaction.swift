import PageStore

/// A reader of one commit; many threads may use it.
package final class RecordSnapshot: RecordReader, @unchecked Sendable {
    package let commitNumber: UInt64

    init(schema: Schema, snapshot: Snapshot, catalog: Catalog, trees: TreeTable) {
        commitNumber = snapshot.commitNumber
        super.init(schema: schema, view: snapshot, catalog: catalog, trees: trees)
    }
}

/// The only transaction that changes records; its reads see its own changes.
package final class RecordTransaction: RecordEditor {
    private let pages: WriteTransaction
    private let numbers: NumberReserve
    /// The rest of the last block of reserved numbers, and the block's size, by the tag of the
    /// hierarchy's root.
    private var blocks: [(rest: NumberBlock, count: Int)?]
    /// The largest number of an inserted object, by the tag of the hierarchy's root; zero for none.
    private var insertedMax: [UInt64]
    /// Cached by ``isKnownToExist(_:of:)``, by entity tag: the last of the numbers of which none is
    /// missing.
    private var denseUpperBound: [UInt64?]

    init(
        schema: Schema, editor: WriteTransaction, catalog: Catalog, trees: TreeTable,
        numbers: NumberReserve, notesChanges: Bool = false
    ) {
        pages = editor
        self.numbers = numbers
        blocks = Array(repeating: nil, count: schema.tagMax + 1)
        insertedMax = Array(repeating: 0, count: schema.tagMax + 1)
        denseUpperBound = Array(repeating: nil, count: schema.tagMax + 1)
        super.init(
            schema: schema, editor: editor, catalog: catalog, trees: trees,
            notes: notesChanges ? ChangeNotes(schema) : nil)
    }

    deinit { returnNumbers() }

    /// A number that no other object of the hierarchy ever had or will have.
    package func allocateNumber(in hierarchy: HierarchyID) throws(StoreError) -> ObjectNumber {
        let tag = Int(hierarchy.rootTag)
        if let number = blocks[tag]?.rest.take() { return number }
        // Blocks double in size, so that several holders that take turns skip few numbers.
        let count = min(2 * (blocks[tag]?.count ?? 0), Self.blockCountMax)
        var block = try numbers.take(max(1, count), in: hierarchy)
        guard let number = block.take() else { preconditionFailure("a block holds numbers") }
        blocks[tag] = (block, max(1, count))
        return number
    }

    private static let blockCountMax = 4096

    private func returnNumbers() {
        for tag in blocks.indices {
            guard let block = blocks[tag] else { continue }
            numbers.giveBack(block.rest)
            blocks[tag] = nil
        }
    }

    /// Marks all numbers up to `last` as used: for a store that takes over objects of another.
    package override func useNumbers(upTo last: ObjectNumber, in hierarchy: HierarchyID) {
        let tag = Int(hierarchy.rootTag)
        insertedMax[tag] = max(insertedMax[tag], last.rawValue)
    }

    /// Whether the store certainly had an entity's object when the transaction began. Looks up no
    /// record: if there are as many records as numbers given out, every number has one. False for
    /// every object of a hierarchy with several entities, or one that has ever lost an object.
    package func isKnownToExist(
        _ number: ObjectNumber, of entity: EntityLayout
    ) throws(StoreError) -> Bool {
        let tag = Int(entity.tag)
        if let last = denseUpperBound[tag] { return number.rawValue > 0 && number.rawValue <= last }
        var last: UInt64 = 0
        if entity.tags.count == 1, entity.hierarchy.rootTag == entity.tag {
            let count = try recordCount(of: entity) - savedChanges[entity.tag, default: 0]
            let given = try catalog.counter(Catalog.numberKey(entity.hierarchy), of: view)
            if given == count { last = given }
        }
        denseUpperBound[tag] = last
        return try isKnownToExist(number, of: entity)
    }

    /// A reader of the store as of the transaction's beginning, valid until the transaction ends.
    package override var before: RecordReader {
        get throws(StoreError) {
            RecordReader(schema: schema, view: try pages.before, catalog: catalog, trees: trees)
        }
    }

    /// Makes the changes durable and visible; returns the commit's number.
    @discardableResult
    package func commit(_ durability: Durability = .durable) throws(StoreError) -> UInt64 {
        try prepareEnd()
        return try pages.commit(durability)
    }

    /// Whether a commit would write anything.
    package var hasChanges: Bool { pages.hasChanges }

    /// Ends the transaction so that the next may begin; see ``WriteTransaction/stage(_:)``.
    package func stage(_ durability: Durability) throws(StoreError) -> StagedRecordCommit {
        try prepareEnd()
        let changes = notes?.changeSet(self)
        return StagedRecordCommit(
            try pages.stage(durability), schema: schema, catalog: catalog, trees: trees,
            changes: changes)
    }

    /// Completes the changes for a caller that commits the pages itself. The transaction must not
    /// be used afterwards.
    func saveChanges() throws(StoreError) {
        forgetBatches()
        returnNumbers()
        try saveNumbers()
    }

    private func prepareEnd() throws(StoreError) {
        do throws(StoreError) {
            try saveChanges()
        } catch {
            pages.rollback()
            throw error
        }
    }

    private func saveNumbers() throws(StoreError) {
        for (tag, last) in insertedMax.enumerated() where last > 0 {
            let hierarchy = HierarchyID(rootTag: UInt16(tag))
            let key = Catalog.numberKey(hierarchy)
            guard last > (try catalog.counter(key, of: view)) else { continue }
            try catalog.setCounter(key, last, in: editor)
            numbers.pass(last, in: hierarchy)
        }
    }

    package func rollback() {
        forgetBatches()
        returnNumbers()
        pages.rollback()
    }
}
