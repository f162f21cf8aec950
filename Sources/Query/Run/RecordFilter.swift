import RecordStore

/// What a request asks of a record: its entity and its condition, made ready once.
struct RecordFilter {
    private let program: FilterProgram
    private let tags: Set<UInt16>
    /// Whether every record of the hierarchy is of a wanted entity.
    private let isWhole: Bool
    private let evaluator: ReferenceEvaluator

    init(
        _ request: FetchRequest, _ entity: EntityLayout, _ evaluator: ReferenceEvaluator
    ) throws {
        let schema = evaluator.reader.schema
        program = try FilterProgram(request.condition, entity: entity, schema: schema)
        tags = request.includesSubentities ? entity.tags : [entity.tag]
        isWhole = tags.count == schema.knownEntity(tag: entity.hierarchy.rootTag).tags.count
        self.evaluator = evaluator
    }

    var acceptsNone: Bool { program.acceptsNone }

    @inline(__always)
    func accepts(_ row: RowView, _ number: ObjectNumber) throws -> Bool {
        guard isWhole || tags.contains(row.entityTag) else { return false }
        return try program.accepts(row, number, evaluator)
    }

    /// The records of a leaf that pass.
    func select(from scan: RecordScan) throws -> LeafSelection {
        if isWhole && program.acceptsAll { return LeafSelection(all: scan.count) }
        var positions: [Int32] = []
        for index in 0..<scan.count where try accepts(scan.row(index), scan.number(index)) {
            positions.append(Int32(index))
        }
        return LeafSelection(positions)
    }
}
