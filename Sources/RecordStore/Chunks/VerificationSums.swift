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
        var found = ModelContents()
        /// The file's.
        var expected = ModelContents()
        /// The entries of indexes, by index ID.
        var entries: [Int: Fingerprint] = [:]
        /// By relationship ID.
        var links: [Int: Links] = [:]
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

    /// - Parameter side: the model that the hierarchy is of.
    func add(
        _ root: EntityLayout, _ fields: [UInt16: [FieldLayout]], _ reader: RecordSnapshot,
        to side: WritableKeyPath<Values, ModelContents> & Sendable
    ) {
        add { sums, count throws(StoreError) in
            let contents = try ModelContents(reader, root, fields, count)
            sums.state.withLock { $0.values[keyPath: side].add(contents) }
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

    /// Reads what no other thread has begun to read, until nothing is left or one has failed.
    func read(_ count: Count) throws(StoreError) {
        while let task = state.withLock({ $0.tasks.isEmpty ? nil : $0.tasks.removeFirst() }) {
            do throws(StoreError) {
                try task(self, count)
            } catch {
                state.withLock { $0.tasks = [] }
                throw error
            }
        }
    }
}
