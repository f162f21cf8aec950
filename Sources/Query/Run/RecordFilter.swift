import RecordStore

/// What a request asks of a record: its entity and its condition, made ready once.
struct RecordFilter {
    private let program: FilterProgram
    private let tags: Set<UInt16>
    /// Whether every record of the hierarchy is of a wanted entity.
    private let isWhole: Bool
    private let evaluator: ReferenceEvaluator
    /// What the program's leads ask of a leaf.
    private var leads: [LeafTest]

    init(
        _ request: FetchRequest, _ entity: EntityLayout, _ evaluator: ReferenceEvaluator
    ) throws {
        let schema = evaluator.reader.schema
        program = try FilterProgram(request.condition, entity: entity, schema: schema)
        tags = request.includesSubentities ? entity.tags : [entity.tag]
        isWhole = tags.count == schema.knownEntity(tag: entity.hierarchy.rootTag).tags.count
        self.evaluator = evaluator
        leads = program.leads.map { LeafTest($0) }
    }

    var acceptsNone: Bool { program.acceptsNone }

    @inline(__always)
    func accepts(_ row: RowView, _ number: ObjectNumber) throws -> Bool {
        guard isWhole || tags.contains(row.entityTag) else { return false }
        return try program.accepts(row, number, evaluator)
    }

    /// The records of a leaf that pass.
    mutating func select(
        from leaf: borrowing LeafRows, into selection: inout LeafSelection
    ) throws {
        narrow(leaf, into: &selection)
        if program.acceptsLed { return }
        guard let text = program.ledLetters else {
            try selection.keep { index throws in try acceptsNarrowed(leaf, index) }
            return
        }
        try selection.keep { index throws in
            let row = leaf.row(index)
            if row.isNull(at: text.offset) { return false }
            if !row.isBlob(at: text.offset),
                let isFound = row.isFound(text.letters, at: text.offset)
            {
                return isFound
            }
            return try acceptsNarrowed(leaf, index)
        }
    }

    /// The records of a leaf that pass what costs next to nothing to ask.
    mutating func narrow(_ leaf: borrowing LeafRows, into selection: inout LeafSelection) {
        selection.takeAll(leaf.count)
        if !isWhole { selection.keep { tags.contains(leaf.row($0).entityTag) } }
        for index in leads.indices { leads[index].narrow(&selection, leaf) }
    }

    /// Whether one of those passes all.
    @inline(__always)
    func acceptsNarrowed(_ leaf: borrowing LeafRows, _ index: Int) throws -> Bool {
        if program.acceptsLed { return true }
        return try program.acceptsLed(leaf.row(index), leaf.number(index), evaluator)
    }
}

/// A test of a column, and what the column has in the leaf at hand.
private struct LeafTest {
    let test: ColumnTest
    var column: LeafColumn

    init(_ test: ColumnTest) {
        self.test = test
        column = LeafColumn(test.field)
    }

    mutating func narrow(_ selection: inout LeafSelection, _ leaf: borrowing LeafRows) {
        column.read(leaf)
        test.narrow(&selection, column)
    }
}
