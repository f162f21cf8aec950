import RecordStore

/// The states that an unsafe transaction can return to: one before each group of changes.
///
/// A state holds the pages that its group changed, so that their number is bounded by the memory
/// that they take: past it the oldest groups cannot be undone any more.
struct UndoHistory {
    struct State {
        /// By access.
        var marks: [ObjectIdentifier: RecordScratch.Mark] = [:]
        var denials: [ChangeBuffer.Denial] = []
        /// What the program has assigned to each object that it created or updated.
        var assigned: [ObjectName: UInt64] = [:]
    }

    static let sizeInBytesMax = 64 << 20

    private var undoStates: [State] = []
    private var redoStates: [State] = []
    /// The state in which the open group began.
    private var current: State
    /// Whether the open group has changes.
    var isChanged = false

    init(_ state: State) { current = state }

    var canUndo: Bool { isChanged || !undoStates.isEmpty }
    var canRedo: Bool { !isChanged && !redoStates.isEmpty }

    mutating func restart(_ state: State) { self = UndoHistory(state) }

    /// Begins a group. Groups that were undone before it cannot be repeated.
    mutating func endGroup(_ state: State) {
        undoStates.append(current)
        redoStates = []
        (current, isChanged) = (state, false)
        var sizeInBytes = undoStates.reduce(Self.size(current)) { $0 + Self.size($1) }
        while sizeInBytes > Self.sizeInBytesMax, undoStates.count > 1 {
            sizeInBytes -= Self.size(undoStates.removeFirst())
        }
    }

    /// The state before the last group.
    mutating func undo() -> State? {
        guard let state = undoStates.popLast() else { return nil }
        redoStates.append(current)
        current = state
        return state
    }

    mutating func redo() -> State? {
        guard let state = redoStates.popLast() else { return nil }
        undoStates.append(current)
        current = state
        return state
    }

    private static func size(_ state: State) -> Int {
        state.marks.values.reduce(0) { $0 + $1.sizeInBytes }
    }
}
