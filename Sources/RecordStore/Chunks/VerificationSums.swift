import PageStore
import Primitives

/// What ``MigrationVerification`` compares, summed up by as many threads as there are.
final class VerificationSums: Sendable {
    /// The pairs of a tree of links, as sums that do not depend on their order.
    struct Links {
        var forward = Fingerprint()
        var backward = Fingerprint()
    }

    struct Values {
        /// The later model's.
        fileprivate(set) var found = ModelContents()
        /// The file's.
        fileprivate(set) var expected = ModelContents()
        /// The entries of indexes, by index ID.
        fileprivate(set) var entries: [Int: Fingerprint] = [:]
        /// By relationship ID.
        fileprivate(set) var links: [Int: Links] = [:]
    }

    /// Called with each entry that is read; throws where the reading is to end.
    typealias Count = () throws(StoreError) -> Void
    private typealias Task = @Sendable (VerificationSums, Count) throws(StoreError) -> Void

    private struct State {
        var tasks: [Task] = []
        var values = Values()
    }

    private let state = Mutex(State())

    /// The sums of what was read.
    var values: Values { state.withLock { $0.values } }

    // MARK: What is to be read

    func addFound(_ reader: RecordSnapshot, _ root: EntityLayout, _ fields: [UInt16: [FieldLayout]])
    {
        add { sums, count throws(StoreError) in
            let contents = try ModelContents(reader, root, fields, count)
            sums.state.withLock { $0.values.found.add(contents) }
        }
    }

    func addExpected(
        _ reader: RecordSnapshot, _ root: EntityLayout, _ fields: [UInt16: [FieldLayout]]
    ) {
        add { sums, count throws(StoreError) in
            let contents = try ModelContents(reader, root, fields, count)
            sums.state.withLock { $0.values.expected.add(contents) }
        }
    }

    func add(_ index: IndexLayout, _ reader: RecordSnapshot) {
        add { sums, count throws(StoreError) in
            var entries = Fingerprint()
            let cursor = reader.indexCursor(index)
            while try cursor.next() {
                entries.add(cursor.columns, cursor.number)
                try count()
            }
            sums.state.withLock { [entries] in $0.values.entries[index.id] = entries }
        }
    }

    func add(_ relationship: RelationshipLayout, _ reader: RecordSnapshot) {
        add { sums, count throws(StoreError) in
            var links = Links()
            try reader.forEachEdge(relationship) { owner, edge throws(StoreError) in
                links.forward.add(owner, edge.target)
                links.backward.add(edge.target, owner)
                try count()
            }
            sums.state.withLock { [links] in $0.values.links[relationship.id] = links }
        }
    }

    private func add(_ task: @escaping Task) { state.withLock { $0.tasks.append(task) } }

    // MARK: Reading

    /// Reads what no other thread has begun to read, until nothing is left.
    func read(_ count: Count) throws(StoreError) {
        while let task = state.withLock({ $0.tasks.isEmpty ? nil : $0.tasks.removeFirst() }) {
            try task(self, count)
        }
    }
}
