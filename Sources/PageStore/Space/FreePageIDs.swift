/// Free page IDs, kept as runs: a file may claim any number of them, and a claim costs no memory.
struct FreePageIDs {
    struct Run: Hashable {
        var start: UInt64
        var count: UInt64
        var end: UInt64 { start + count }
    }

    /// A stack: the next id to take begins the last run. Runs never overlap.
    private var stack: [Run] = []

    init() {}

    /// Runs in ascending order; empty ones are left out.
    init(ascending runs: [Run]) {
        stack = runs.filter { $0.count > 0 }.reversed()
    }

    var isEmpty: Bool { stack.isEmpty }

    mutating func take() -> PageID? {
        guard var run = stack.popLast() else { return nil }
        let id = PageID(run.start)
        run.start += 1
        run.count -= 1
        if run.count > 0 { stack.append(run) }
        return id
    }

    mutating func insert(_ id: PageID) {
        if let last = stack.last, last.start == id.rawValue + 1 {
            stack[stack.count - 1] = Run(start: id.rawValue, count: last.count + 1)
        } else {
            stack.append(Run(start: id.rawValue, count: 1))
        }
    }

    /// The runs in ascending order, neighbours joined.
    var runs: [Run] {
        var joined: [Run] = []
        for run in stack.sorted(by: { $0.start < $1.start }) {
            if let last = joined.last, last.end >= run.start {
                joined[joined.count - 1].count = max(last.end, run.end) - last.start
            } else {
                joined.append(run)
            }
        }
        return joined
    }

    /// Returns the IDs without some, which are given in ascending order.
    func subtracting(_ ids: [PageID]) -> FreePageIDs {
        var kept: [Run] = []
        var rest = ids[...]
        for run in runs {
            var start = run.start
            rest = rest.drop { $0.rawValue < run.start }
            while let id = rest.first, id.rawValue < run.end {
                kept.append(Run(start: start, count: id.rawValue - start))
                start = id.rawValue + 1
                rest = rest.dropFirst()
            }
            if start < run.end { kept.append(Run(start: start, count: run.end - start)) }
        }
        return FreePageIDs(ascending: kept)
    }

    mutating func insert(_ run: Run) {
        if run.count > 0 { stack.append(run) }
    }
}
