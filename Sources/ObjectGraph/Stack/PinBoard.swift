import Primitives

/// Where a pin was made, for ``DataStack/statistics`` to name it.
struct PinPlace: Sendable {
    var name: String?
    var fileID: StaticString
    var line: UInt

    var text: String { name ?? "\(fileID):\(line)" }
}

/// The contexts that keep commits as they are for as long as the program likes.
final class PinBoard: Sendable {
    private struct Entry {
        var kind: DataStackStatistics.Pin.Kind
        var place: PinPlace
        var commitNumbers: [UInt64]
        var start: ContinuousClock.Instant
    }

    private struct State {
        var nextID: UInt64 = 0
        var entries: [UInt64: Entry] = [:]
    }

    private let state = Mutex(State())

    func add(
        _ kind: DataStackStatistics.Pin.Kind, _ place: PinPlace, commitNumbers: [UInt64]
    ) -> UInt64 {
        let entry = Entry(
            kind: kind, place: place, commitNumbers: commitNumbers, start: .now)
        return state.withLock { state in
            defer { state.nextID += 1 }
            state.entries[state.nextID] = entry
            return state.nextID
        }
    }

    /// Notes that a context has moved to other commits, and is as young as they are.
    func move(_ id: UInt64, to commitNumbers: [UInt64]) {
        state.withLock { state in
            state.entries[id]?.commitNumbers = commitNumbers
            state.entries[id]?.start = .now
        }
    }

    func remove(_ id: UInt64) {
        let entry = state.withLock { $0.entries.removeValue(forKey: id) }
        withExtendedLifetime(entry) {}
    }

    /// All pins, the oldest first.
    var all: [DataStackStatistics.Pin] {
        let now = ContinuousClock.now
        return state.withLock { Array($0.entries.values) }.sorted { $0.start < $1.start }
            .map { entry in
                DataStackStatistics.Pin(
                    kind: entry.kind, name: entry.place.text, commitNumbers: entry.commitNumbers,
                    age: now - entry.start)
            }
    }
}

extension DataStackStatistics {
    /// A context of the program's that pins commits: while it lives, their space in the file is not
    /// reused.
    public struct Pin: Hashable, Sendable {
        /// The kind of context.
        public enum Kind: String, Hashable, Sendable {
            /// A ``ReadView`` or an ``UnsafeDataTransaction``.
            case readView, unsafeTransaction
        }

        /// The kind of context.
        public let kind: Kind
        /// The name that the program gave, else the file and line that made it.
        public let name: String
        /// The commit of each storage, in the order in which the storages were added.
        public let commitNumbers: [UInt64]
        /// For how long these commits have been pinned.
        public let age: Duration
    }
}
