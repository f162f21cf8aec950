import Foundation
import RecordStore
import Synchronization

/// A list that is maintained over steps, each at the cost of its changes.
///
/// Invariants, between two calls:
/// - `content` shows the result of a fetch of the request at the last step's commits.
/// - The tree holds all matches, or with `isCutOff` all up to its last entry and none after it.
/// - The keys of the tree are those of the last step's commits.
package struct LiveList {
    package private(set) var content: ListContent
    let request: ListRequest
    /// One for each store.
    let watches: [RequestWatch]
    var sections: SectionInterning
    private(set) var census = SectionCensus()
    private(set) var isCutOff = false
    /// The number of the last step, which stamps the entries that it touches.
    var step: UInt32 = 0
    private var lineage = LiveList.newLineage()
    /// The changes of failed steps, for the next one.
    private var missed: [ChangeSet?]

    private static let lineages = Atomic<UInt64>(0)

    private static func newLineage() -> UInt64 { lineages.add(1, ordering: .relaxed).newValue }

    /// The list after a step.
    struct Outcome {
        var content: ListContent
        var census: SectionCensus
        var isCutOff: Bool
        var difference: ListDifference
    }

    /// Fetches the list from the stores' current state.
    package init(
        _ request: ListRequest, in stores: [(store: StoreIdentity, reader: RecordReader)]
    ) throws {
        self.request = request
        watches = try stores.map { store, reader in
            RequestWatch(try RequestParts(request, reader.schema, store: store), reader.schema)
        }
        missed = stores.map { _ in nil }
        sections = SectionInterning(request.section)
        content = ListContent(
            tree: CountedTree(), window: request.window, names: sections.names, lineage: lineage)
        let fetched = try fetch(in: stores.map(\.reader)) { _, _, _ in 0 }
        content = content(fetched.tree, fetched.census)
        (census, isCutOff) = (fetched.census, fetched.isCutOff)
        request.section.rest()
    }

    /// Nil if each change shows which objects it concerns; else why the list is always refetched.
    var refusal: String? { watches.lazy.compactMap(\.parts.refusal).first }

    /// How the list follows changes, for display.
    package var explanation: String {
        guard let refusal else {
            let related = watches.first?.dependencies.count ?? 0
            return "kept: changed objects are looked up"
                + (related == 0 ? "" : ", and those that \(related) paths lead back to")
        }
        return "fetched again and compared after each change of what it reads: \(refusal)"
    }

    /// A content of this list.
    func content(_ tree: CountedTree, _ census: SectionCensus) -> ListContent {
        ListContent(
            tree: tree, window: request.window, names: sections.names,
            hasRepeatedSections: request.hasSections && tree.sectionCount != census.count,
            lineage: lineage)
    }

    // MARK: Steps

    /// Applies a step; nil if nothing shown differs. If this throws, the content stays, and the
    /// next step includes the changes.
    ///
    /// - Parameter steps: one for each store.
    package mutating func take(_ steps: [StoreStep]) throws -> ListDifference? {
        precondition(steps.count == watches.count, "a step has a part for each store of the list")
        if steps.allSatisfy(\.changes.isEmpty), !missed.contains(where: { $0 != nil }) {
            return nil
        }
        step += 1
        defer { request.section.rest() }
        do {
            return try taken(steps)
        } catch {
            for index in steps.indices {
                var known = missed[index] ?? ChangeSet()
                known.join(steps[index].changes)
                missed[index] = known
            }
            throw error
        }
    }

    private mutating func taken(_ steps: [StoreStep]) throws -> ListDifference? {
        var outcome: Outcome?
        if !missed.contains(where: { $0 != nil }) {
            guard zip(watches, steps).contains(where: { $0.isConcerned(by: $1.changes) }) else {
                return nil
            }
            if refusal == nil { outcome = try kept(steps) }
        }
        return install(try outcome ?? refetched(steps, missed))
    }

    /// Fetches the list again, whatever changed.
    package mutating func refetch(_ steps: [StoreStep]) throws -> ListDifference? {
        step += 1
        defer { request.section.rest() }
        return install(try refetched(steps, missed))
    }

    private mutating func install(_ outcome: Outcome) -> ListDifference? {
        (content, census, isCutOff) = (outcome.content, outcome.census, outcome.isCutOff)
        missed = missed.map { _ in nil }
        if step == .max { beginStampsAgain() }
        return outcome.difference.isEmpty ? nil : outcome.difference
    }

    /// All stamps are used up: later ones belong to a new lineage, and are not compared with these.
    private mutating func beginStampsAgain() {
        let edits = (0..<content.tree.count).map { TreeEdit(rank: $0, .stamp(0)) }
        (step, lineage) = (0, Self.newLineage())
        content = content(content.tree.edited(edits), census)
    }
}

/// Interns section names, with a cache of recent values.
struct SectionInterning {
    /// A cache with more values is cleared.
    private static let valuesMax = 4096

    let section: ListRequest.Section
    private(set) var names: SectionNames?
    private var known: [Value: UInt32] = [:]

    init(_ section: ListRequest.Section) {
        self.section = section
        if case .none = section { names = nil } else { names = SectionNames() }
    }

    /// Forgets all names: unused ones would be kept forever.
    mutating func renew() {
        known = [:]
        if names != nil { names = SectionNames() }
    }

    mutating func number(
        of row: RowView, _ number: ObjectNumber, _ evaluation: RecordEvaluation
    ) throws -> UInt32 {
        guard let names else { return 0 }
        switch section {
        case .none: return 0
        case .computed(let name, _):
            return names.number(of: try name(evaluation.reader, number))
        case .path(_, let name):
            guard let path = evaluation.parts.section else { return 0 }
            let value = try evaluation.value(path, row, number)
            if let section = known[value] { return section }
            let section = names.number(of: name(value))
            // Equal numbers may be written in several ways, and so have several names.
            switch value {
            case .float, .double, .decimal: break
            default:
                if known.count >= Self.valuesMax { known = [:] }
                known[value] = section
            }
            return section
        }
    }
}
