import PageStore

/// What `trellis check` compares above the pages: records with their layouts, counters, indexes
/// and links. Each part goes on where another found damage.
extension RecordReader {
    /// Returns what is wrong, nothing when nothing is. Reads every record and every entry; the
    /// object numbers of one hierarchy are in memory at a time for each of them.
    package final func check() -> [Finding] {
        var findings: [Finding] = []
        var numbers: [UInt16: Set<ObjectNumber>] = [:]
        var counts: [UInt16: Int] = [:]
        for entity in schema.entities where entity.superentityTag == nil {
            numbers[entity.tag] = checkRecords(entity, &counts, &findings)
        }
        for entity in schema.entities where numbers[entity.hierarchy.rootTag] != nil {
            checkCount(entity, counts[entity.tag] ?? 0, &findings)
        }
        for index in schema.indexes {
            checkIndex(index, counts, numbers, &findings)
        }
        for relationship in schema.relationships where !relationship.mirrorsToOne {
            checkLinks(relationship, numbers, &findings)
        }
        return findings
    }

    /// The numbers of a hierarchy's records; nil when not all could be read, so that nothing is
    /// said to be missing that may be behind the damage.
    private final func checkRecords(
        _ root: EntityLayout, _ counts: inout [UInt16: Int], _ findings: inout [Finding]
    ) -> Set<ObjectNumber>? {
        let findingCount = findings.count
        var numbers: Set<ObjectNumber> = []
        let cursor = recordCursor(root.hierarchy)
        do throws(StoreError) {
            let last = try catalog.counter(Catalog.numberKey(root.hierarchy), of: view)
            while try cursor.next() {
                numbers.insert(cursor.number)
                if cursor.number.rawValue > last {
                    findings.append(
                        Finding(
                            .corrupt, "\(root.name) \(cursor.number.rawValue) was never given out"))
                }
                do throws(StoreError) {
                    let row = try cursor.row()
                    counts[row.entityTag, default: 0] += 1
                    try checkValues(of: row)
                } catch {
                    findings.append(Finding(error))
                }
            }
        } catch {
            findings.append(Finding(error))
        }
        return findings.count == findingCount ? numbers : nil
    }

    private final func checkValues(of row: RowView) throws(StoreError) {
        for field in schema.knownEntity(tag: row.entityTag).fields where field.isVariable {
            _ = try value(field, of: row)
        }
    }

    private final func checkCount(
        _ entity: EntityLayout, _ found: Int, _ findings: inout [Finding]
    ) {
        do throws(StoreError) {
            let counted = try recordCount(of: entity, includesSubentities: false)
            guard counted != found else { return }
            findings.append(
                Finding(
                    .corrupt, "the counter of \(entity.name) says \(counted), there are \(found)"))
        } catch {
            findings.append(Finding(error))
        }
    }

    private final func checkIndex(
        _ index: IndexLayout, _ counts: [UInt16: Int], _ numbers: [UInt16: Set<ObjectNumber>],
        _ findings: inout [Finding]
    ) {
        let entity = schema.knownEntity(tag: index.entityTag)
        guard let known = numbers[entity.hierarchy.rootTag] else { return }
        let expected = entity.tags.reduce(0) { $0 + (counts[$1] ?? 0) }
        var found = 0
        let cursor = indexCursor(index)
        do throws(StoreError) {
            while try cursor.next() {
                found += 1
                if !known.contains(cursor.number) {
                    findings.append(
                        Finding(
                            .corrupt,
                            "\(index.treeName) names object \(cursor.number.rawValue), "
                                + "which is not there"))
                }
            }
            if found != expected {
                findings.append(
                    Finding(
                        .corrupt, "\(index.treeName) has \(found) entries for \(expected) records"))
            }
        } catch {
            findings.append(Finding(error))
        }
    }

    private final func checkLinks(
        _ relationship: RelationshipLayout, _ numbers: [UInt16: Set<ObjectNumber>],
        _ findings: inout [Finding]
    ) {
        let source = schema.knownEntity(tag: relationship.sourceTag)
        let target = schema.knownEntity(tag: relationship.destinationTag)
        guard let sources = numbers[source.hierarchy.rootTag],
            let targets = numbers[target.hierarchy.rootTag]
        else { return }
        for owner in sources.sorted() {
            do throws(StoreError) {
                if relationship.kind == .toOne {
                    guard try isKind(owner, of: source) else { continue }
                }
                try forEachLink(relationship, of: owner) { number in
                    guard !targets.contains(number) else { return }
                    findings.append(
                        Finding(
                            .corrupt,
                            "\(source.name) \(owner.rawValue).\(relationship.name) leads to "
                                + "object \(number.rawValue), which is not there"))
                }
            } catch {
                findings.append(Finding(error))
            }
        }
    }

    private final func isKind(
        _ number: ObjectNumber, of entity: EntityLayout
    ) throws(StoreError) -> Bool {
        try withRow(number, in: entity.hierarchy) { row in
            entity.tags.contains(row.entityTag)
        } ?? false
    }
}
