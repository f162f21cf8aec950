import RecordStore

/// Tests candidates during one run of a query.
struct RecordFilter {
    private let program: FilterProgram
    private let tags: Set<UInt16>
    private let isWhole: Bool
    private let evaluator: ReferenceEvaluator
    /// The tests of the program's `requiredTests`, each with the current leaf's column.
    private var leafTests: [LeafTest]

    init(_ candidateFilter: CandidateFilter, _ reader: RecordReader) {
        program = candidateFilter.program
        tags = candidateFilter.tags
        isWhole = candidateFilter.isWhole
        evaluator = ReferenceEvaluator(reader)
        leafTests = program.requiredTests.map { LeafTest($0) }
    }

    @inline(__always)
    func accepts(_ row: RowView, _ number: ObjectNumber) throws -> Bool {
        guard isWhole || tags.contains(row.entityTag) else { return false }
        return try program.accepts(row, number, evaluator)
    }

    /// Selects the records of a leaf that pass.
    mutating func select(
        from leaf: borrowing LeafRows, into selection: inout LeafSelection
    ) throws {
        narrow(leaf, into: &selection)
        if program.hasOnlyRequiredTests { return }
        guard let text = program.lettersAfterRequired else {
            try selection.keep { index throws in try acceptsNarrowed(leaf, index) }
            return
        }
        try selection.keep { index throws in
            let row = leaf.row(index, for: text.offset)
            if row.isNull(at: text.offset) { return false }
            if !row.isBlob(at: text.offset),
                let isFound = row.isFound(text.letters, at: text.offset)
            {
                return isFound
            }
            return try acceptsNarrowed(leaf, index)
        }
    }

    /// Selects the records of a leaf that pass the cheap tests: entity and `requiredTests`.
    mutating func narrow(_ leaf: borrowing LeafRows, into selection: inout LeafSelection) {
        selection.takeAll(leaf.count)
        if !isWhole { selection.keep { tags.contains(leaf.entityTag($0)) } }
        for index in leafTests.indices { leafTests[index].narrow(&selection, leaf) }
    }

    /// Whether a record that has passed the cheap tests passes all.
    @inline(__always)
    func acceptsNarrowed(_ leaf: borrowing LeafRows, _ index: Int) throws -> Bool {
        if program.hasOnlyRequiredTests { return true }
        return try program.acceptsAfterRequired(leaf.row(index), leaf.number(index), evaluator)
    }
}

/// A column test, with the column of the current leaf.
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
