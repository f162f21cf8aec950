/// Counts the entries of each section of a list, to know without a search whether a section has
/// several runs.
struct SectionCensus {
    private var counts: [UInt32: Int] = [:]

    mutating func add(_ section: UInt32) { counts[section, default: 0] += 1 }

    mutating func remove(_ section: UInt32) {
        guard let count = counts[section] else { return }
        counts[section] = count > 1 ? count - 1 : nil
    }

    /// How many sections have entries.
    var count: Int { counts.count }
}
