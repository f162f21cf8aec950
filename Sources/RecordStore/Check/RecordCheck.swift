import PageStore

/// The checks of `trellis check` above the pages: records with their layouts, counters, indexes and
/// links. Each part continues where another found damage.
///
/// Reads every record and every entry once. Memory holds the number and the entity of every object,
/// and fingerprints of each two sides that must be equal; if those differ, both sides are read
/// again to name the error.
struct RecordCheck {
    let reader: RecordReader
    /// The entity tag of every object, by the tag of the hierarchy's root. Hierarchies that cannot
    /// be read completely are left out: objects in damaged pages are not reported missing.
    private(set) var tags: [UInt16: [ObjectNumber: UInt16]] = [:]
    private var counts: [UInt16: Int] = [:]
    /// The blobs that records name.
    private var blobs: Set<BlobID> = []
    /// The entries that the records require of each index, and of each to-one's tree.
    private var indexed: [Fingerprint]
    private(set) var linked: [Fingerprint]
    private(set) var findings: [Finding] = []

    static func run(_ reader: RecordReader) -> [Finding] {
        var check = RecordCheck(reader)
        let schema = reader.schema
        for entity in schema.entities where entity.superentityTag == nil {
            check.checkRecords(entity)
        }
        for entity in schema.entities where check.tags[entity.hierarchy.rootTag] != nil {
            check.checkCount(entity)
        }
        for index in schema.indexes { check.checkIndex(index) }
        check.checkHistory()
        check.checkMovedObjects()
        var links = LinkCheck(check)
        links.run()
        // A record that cannot be read may name any blob.
        let isComplete = check.tags.count == check.hierarchyCount
        return check.findings + links.findings
            + MigrationCheck.run(reader, blobs: isComplete ? check.blobs : nil)
    }

    private init(_ reader: RecordReader) {
        self.reader = reader
        indexed = Array(repeating: Fingerprint(), count: reader.schema.indexes.count)
        linked = Array(repeating: Fingerprint(), count: reader.schema.relationships.count)
    }

    private var hierarchyCount: Int {
        reader.schema.entities.count { $0.superentityTag == nil }
    }

    private mutating func report(_ message: String) { report(Finding(.corrupt, message)) }

    private mutating func report(_ finding: Finding) {
        if findings.count < TreeCheck.findingCountMax { findings.append(finding) }
    }

    // MARK: Records

    private mutating func checkRecords(_ root: EntityLayout) {
        var isReadable = true
        var tags: [ObjectNumber: UInt16] = [:]
        let cursor = reader.recordCursor(root.hierarchy)
        do throws(StoreError) {
            let last = try reader.catalog.counter(
                Catalog.numberKey(root.hierarchy), of: reader.view)
            while try cursor.next() {
                if cursor.number.rawValue > last || cursor.number.rawValue == 0 {
                    report("\(root.name) \(cursor.number.rawValue) was never given out")
                }
                do throws(StoreError) {
                    let row = try cursor.row()
                    tags[cursor.number] = row.entityTag
                    try take(row, cursor.number)
                } catch {
                    isReadable = false
                    report(Finding(error))
                }
            }
        } catch {
            isReadable = false
            report(Finding(error))
        }
        if isReadable { self.tags[root.tag] = tags }
    }

    /// Reads all values of a record, and adds the index entries and links that it requires.
    private mutating func take(_ row: RowView, _ number: ObjectNumber) throws(StoreError) {
        let entity = reader.schema.knownEntity(tag: row.entityTag)
        counts[row.entityTag, default: 0] += 1
        for field in entity.fields where field.isVariable {
            try reader.checkValue(field, of: row)
            guard let blob = try reader.blob(field, of: row) else { continue }
            if !blobs.insert(blob).inserted {
                report("object \(number.rawValue) names a blob that is another one's as well")
            }
        }
        if entity.sizeApart(row) == nil {
            report("values of object \(number.rawValue) share more bytes than they may")
        }
        for field in entity.fields where !field.isOptional && row.isNull(at: field.byteOffset) {
            report("object \(number.rawValue) has no “\(field.name)”, which is not optional")
        }
        for offset in entity.retiredOffsets
        where !row.isNull(at: offset) || row.uint(at: offset) != 0 {
            report("object \(number.rawValue) has a value of a property that is gone")
        }
        for index in entity.indexes {
            let columns = try columns(index, of: row)
            columns.withView { indexed[index.id].add($0, number) }
        }
        for relationship in entity.relationships {
            guard let field = relationship.field, let target = row.link(at: field.byteOffset)
            else { continue }
            linked[relationship.id].add(target, number)
        }
    }

    private func columns(_ index: IndexLayout, of row: RowView) throws(StoreError) -> [UInt8] {
        var key = reader.keyEncoder(columnCount: index.columns.count)
        try reader.append(index.columns, of: row, to: &key)
        return key.bytes
    }

    private mutating func checkCount(_ entity: EntityLayout) {
        let found = counts[entity.tag] ?? 0
        do throws(StoreError) {
            let counted = try reader.recordCount(of: entity, includesSubentities: false)
            if counted != found {
                report("the counter of \(entity.name) is \(counted), and there are \(found)")
            }
        } catch {
            report(Finding(error))
        }
    }

    /// The last model of the history must be the file's.
    private mutating func checkHistory() {
        do throws(StoreError) {
            // A reader may have a later model than the file.
            guard let model = try reader.catalog.history(reader.view)?.models.last,
                try model.fingerprint != reader.catalog.schema(reader.view).fingerprint
            else { return }
            report("the last model of the history, “\(model.version)”, is not the file's")
        } catch {
            report(Finding(error))
        }
    }

    private mutating func checkMovedObjects() {
        do throws(StoreError) {
            _ = try reader.catalog.movedObjects(reader.view)
        } catch {
            report(Finding(error))
        }
    }

    // MARK: Indexes

    private mutating func checkIndex(_ index: IndexLayout) {
        let entity = reader.schema.knownEntity(tag: index.entityTag)
        guard let known = tags[entity.hierarchy.rootTag] else { return }
        do throws(StoreError) {
            var found = Fingerprint()
            let cursor = reader.indexCursor(index)
            var last: (columns: [UInt8], number: ObjectNumber)?
            // The objects with the key of the last entry, where there are several.
            var group: [[Value]: ObjectNumber] = [:]
            while try cursor.next() {
                found.add(cursor.columns, cursor.number)
                guard index.isUnique else { continue }
                let columns = cursor.columns.array()
                if let last, last.columns == columns {
                    if group.isEmpty { try compareUnique(index, entity, last.number, &group) }
                    try compareUnique(index, entity, cursor.number, &group)
                } else {
                    group = [:]
                }
                last = (columns, cursor.number)
            }
            guard found != indexed[index.id] else { return }
            try nameStrangers(index, entity, known)
            try nameMissing(index, entity)
        } catch {
            report(Finding(error))
        }
    }

    /// Compares an object with others of an equal key: nil conflicts with nothing, and a key has
    /// only the beginning of a long text.
    private mutating func compareUnique(
        _ index: IndexLayout, _ entity: EntityLayout, _ number: ObjectNumber,
        _ group: inout [[Value]: ObjectNumber]
    ) throws(StoreError) {
        var values: [Value] = []
        _ = try reader.withRow(number, in: entity.hierarchy) { row throws(StoreError) in
            guard entity.tags.contains(row.entityTag) else { return }
            for column in index.columns where !row.isNull(at: column.byteOffset) {
                values.append(try reader.value(column, of: row))
            }
        }
        guard values.count == index.columns.count else { return }
        if let other = group[values] {
            report(
                "\(index.treeName): objects \(other.rawValue) and \(number.rawValue) "
                    + "have the same values")
        } else {
            group[values] = number
        }
    }

    /// Reports entries that no record requires.
    private mutating func nameStrangers(
        _ index: IndexLayout, _ entity: EntityLayout, _ known: [ObjectNumber: UInt16]
    ) throws(StoreError) {
        let cursor = reader.indexCursor(index)
        while try cursor.next() {
            let name = "\(index.treeName) names object \(cursor.number.rawValue)"
            guard let tag = known[cursor.number] else {
                report("\(name), which is not there")
                continue
            }
            guard entity.tags.contains(tag) else {
                report("\(name), which is no \(entity.name)")
                continue
            }
            let isRight = try reader.withRow(cursor.number, in: entity.hierarchy) {
                row throws(StoreError) in
                try columns(index, of: row).withView { $0 == cursor.columns }
            }
            if isRight != true { report("\(name) under columns that are not its own") }
        }
    }

    private mutating func nameMissing(
        _ index: IndexLayout, _ entity: EntityLayout
    ) throws(StoreError) {
        let cursor = reader.recordCursor(entity.hierarchy)
        while try cursor.next() {
            let row = try cursor.row()
            guard entity.tags.contains(row.entityTag) else { continue }
            let key = try columns(index, of: row) + RecordKey.bytes(cursor.number)
            guard try !reader.view.contains(key.span, in: reader.trees.indexes[index.id])
            else { continue }
            report("\(index.treeName) lacks the entry of object \(cursor.number.rawValue)")
        }
    }
}

extension RecordReader {
    /// Returns the errors found; empty if the store is sound.
    package final func check() -> [Finding] { RecordCheck.run(self) }
}
