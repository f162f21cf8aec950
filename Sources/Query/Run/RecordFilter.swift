import RecordStore

/// What a request asks of a record: its entity and its condition, made ready once.
struct RecordFilter {
    private let program: FilterProgram
    private let tags: Set<UInt16>
    /// Whether every record of the hierarchy is of a wanted entity.
    private let isWhole: Bool
    private let evaluator: ReferenceEvaluator
    /// What the program's leads ask of a leaf.
    private var leadColumns: [LeafColumn]

    init(
        _ request: FetchRequest, _ entity: EntityLayout, _ evaluator: ReferenceEvaluator
    ) throws {
        let schema = evaluator.reader.schema
        program = try FilterProgram(request.condition, entity: entity, schema: schema)
        tags = request.includesSubentities ? entity.tags : [entity.tag]
        isWhole = tags.count == schema.knownEntity(tag: entity.hierarchy.rootTag).tags.count
        self.evaluator = evaluator
        leadColumns = program.leads.map { LeafColumn($0.field) }
    }

    var acceptsNone: Bool { program.acceptsNone }

    @inline(__always)
    func accepts(_ row: RowView, _ number: ObjectNumber) throws -> Bool {
        guard isWhole || tags.contains(row.entityTag) else { return false }
        return try program.accepts(row, number, evaluator)
    }

    /// The records of a leaf that pass.
    mutating func select(from leaf: LeafRows, into selection: inout LeafSelection) throws {
        narrow(leaf, into: &selection)
        if program.acceptsLed { return }
        try selection.keep { index throws in try acceptsNarrowed(leaf, index) }
    }

    /// The records of a leaf that pass what costs next to nothing to ask.
    mutating func narrow(_ leaf: LeafRows, into selection: inout LeafSelection) {
        selection.takeAll(leaf.count)
        if !isWhole { selection.keep { tags.contains(leaf.row($0).entityTag) } }
        for index in leadColumns.indices {
            leadColumns[index].read(leaf)
            program.leads[index].narrow(&selection, leadColumns[index])
        }
    }

    /// Whether one of those passes all.
    @inline(__always)
    func acceptsNarrowed(_ leaf: LeafRows, _ index: Int) throws -> Bool {
        if program.acceptsLed { return true }
        return try program.acceptsLed(leaf.row(index), leaf.number(index), evaluator)
    }
}
