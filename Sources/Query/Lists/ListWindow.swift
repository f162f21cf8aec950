/// The part of a list that a request with a limit or an offset shows.
package struct ListWindow: Hashable, Sendable {
    package static let all = ListWindow(offset: 0, limit: nil)
    private static let reserveMin = 64

    package let offset: Int
    /// Nil for no limit.
    package let limit: Int?

    package init(offset: Int, limit: Int?) {
        precondition(offset >= 0, "an offset counts objects, so it cannot be negative")
        precondition(limit ?? 0 >= 0, "a limit counts objects, so it cannot be negative")
        self.offset = offset
        self.limit = limit
    }

    /// The ranks that are shown of a list with `count` entries.
    package func ranks(of count: Int) -> Range<Int> {
        let start = min(offset, count)
        return start..<start + min(limit ?? .max, count - start)
    }

    /// How many entries must be known to show the window; nil for all.
    package var shownEnd: Int? {
        limit.map { $0 > Int.max - offset ? Int.max : offset + $0 }
    }

    /// How many entries a list holds at most, so that a few deletions need no fetch; nil for all.
    package var keptMax: Int? {
        guard let limit, let shownEnd else { return nil }
        let reserve = max(limit, Self.reserveMin)
        return shownEnd > Int.max - reserve ? Int.max : shownEnd + reserve
    }
}
