import RecordStore

extension FilterProgram {
    func accepts(
        _ row: RowView, _ number: ObjectNumber, _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        try run(from: start, row, number, evaluator)
    }

    /// Whether a record that has passed `requiredTests` passes the other tests.
    func acceptsAfterRequired(
        _ row: RowView, _ number: ObjectNumber, _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        try run(from: startAfterRequired, row, number, evaluator)
    }

    @inline(__always)
    private func run(
        from start: Int, _ row: RowView, _ number: ObjectNumber, _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        var position = start
        while position >= 0 {
            let isTrue: Bool
            switch steps[position].test {
            case .isNull(let offset): isTrue = row.isNull(at: offset)
            case .column(let offset, let index):
                isTrue = columnTests[index].holds(row.uint(at: offset))
            case .link(let offset, let value):
                isTrue = (row.link(at: offset)?.rawValue ?? 0) == value
            case .text(let offset, let operation, let index):
                isTrue = try text(row, offset, operation, texts[index], number, evaluator)
            case .foldedContains(let offset, let index):
                isTrue = try folded(row, offset, texts[index], number, evaluator)
            case .member(let index):
                let (field, values) = members[index]
                let value = try evaluator.reader.value(field, of: row)
                isTrue = !value.isNull && values.contains(value)
            case .general(let index):
                isTrue = try general(generals[index], row, number, evaluator)
            }
            position = isTrue ? steps[position].onTrue : steps[position].onFalse
        }
        return position == Self.accept
    }

    private func general(
        _ comparison: ResolvedComparison, _ row: RowView, _ number: ObjectNumber,
        _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        try evaluator.isTrue(comparison, of: Candidate(number: number, row: row))
    }

    private func text(
        _ row: RowView, _ offset: Int, _ operation: Comparison.Operation, _ text: Text,
        _ number: ObjectNumber, _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        if row.isBlob(at: offset) { return try general(text.original, row, number, evaluator) }
        let wanted = text.bytes
        return row.withHeap(at: offset) { bytes in
            let part = wanted.span
            switch operation {
            case .contains: return TextMatch.contains(bytes, part, wholeCharacters: false)
            case .beginsWith:
                return bytes.count >= part.count && Self.isEqual(bytes, part, from: 0)
            case .endsWith:
                return bytes.count >= part.count
                    && Self.isEqual(bytes, part, from: bytes.count - part.count)
            case .equal: return bytes.count == part.count && Self.isEqual(bytes, part, from: 0)
            default: return ColumnTest.holds(operation, Self.order(bytes, part), 0)
            }
        }
    }

    private static func isEqual(
        _ bytes: Span<UInt8>, _ part: Span<UInt8>, from start: Int
    ) -> Bool {
        for index in part.indices where bytes[start + index] != part[index] { return false }
        return true
    }

    private static func order(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return Int(left[index]) - Int(right[index])
        }
        return left.count - right.count
    }

    private func folded(
        _ row: RowView, _ offset: Int, _ text: Text, _ number: ObjectNumber,
        _ evaluator: ReferenceEvaluator
    ) throws -> Bool {
        if row.isBlob(at: offset) { return try general(text.original, row, number, evaluator) }
        if let search = text.search, let isFound = row.isFound(search, at: offset) {
            return isFound
        }
        let lowers = text.options.contains(.caseInsensitive)
        let foldsMarks = text.options != .caseInsensitive || !text.isASCII
        let wanted = text.bytes
        let quick = row.withHeap(at: offset) { bytes in
            Self.containsASCII(bytes, wanted.span, lowers: lowers, foldsMarks: foldsMarks)
        }
        if let quick { return quick }
        let folded = TextMatch.fold(row.string(at: offset), text.options)
        return TextMatch.contains(folded.utf8.span, wanted.span, wholeCharacters: true)
    }

    /// Whether folding turns no other character into an ASCII letter, and no letter is joined to a
    /// mark: true for ASCII and, if marks are not folded, for Latin letters up to U+017E, which are
    /// whole characters. Of these ß, ı, İ and ŉ become ASCII when case is folded.
    private static func keepsASCII(_ bytes: Span<UInt8>, foldsMarks: Bool) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte >= 0x80 else { continue }
            guard !foldsMarks, 0xC2...0xC5 ~= byte, index < bytes.count else { return false }
            switch (byte, bytes[index]) {
            case (0xC3, 0x9F), (0xC4, 0xB0), (0xC4, 0xB1), (0xC5, 0x89), (0xC5, 0xBF):
                return false
            case (_, 0x80...0xBF): index += 1
            default: return false
            }
        }
        return true
    }

    /// Whether a text contains an ASCII text; nil if the bytes do not decide.
    static func containsASCII(
        _ bytes: Span<UInt8>, _ part: Span<UInt8>, lowers: Bool, foldsMarks: Bool
    ) -> Bool? {
        guard keepsASCII(bytes, foldsMarks: foldsMarks) else { return nil }
        guard part.count > 0 else { return true }
        guard part.count <= bytes.count else { return false }
        func lower(_ byte: UInt8) -> UInt8 {
            lowers && byte &- 0x41 < 26 ? byte | 0x20 : byte
        }
        let first = part[0]
        for start in 0...(bytes.count - part.count) where lower(bytes[start]) == first {
            var index = 1
            while index < part.count && lower(bytes[start + index]) == part[index] { index += 1 }
            if index == part.count { return true }
        }
        return false
    }
}
