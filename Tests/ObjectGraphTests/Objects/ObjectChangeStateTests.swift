import Testing

@testable import ObjectGraph

/// The states of a changed object and the events that lead from one to another.
@Suite struct ObjectChangeStateTests {
    private typealias State = ObjectChangeState
    private typealias Event = ObjectChangeState.Event

    /// The next state for each event; an event that is not listed cannot happen.
    private static let table: [State: [Event: State]] = [
        .stored: [
            .create: .inserting, .writeRow: .updatingRow, .changeLinks: .updatingLinks,
            .delete: .deleted, .restoreInserted: .inserted, .restoreUpdated: .updated,
            .rewind: .stored,
            .end: .stored,
        ],
        .inserting: [
            .writeRow: .inserting, .changeLinks: .inserting, .flush: .inserted,
            .delete: .deleted, .rewind: .stored,
            .end: .inserted,
        ],
        .inserted: [
            .writeRow: .insertedRow, .changeLinks: .insertedLinks, .delete: .deleted,
            .rewind: .stored,
            .end: .inserted,
        ],
        .insertedLinks: [
            .writeRow: .insertedRow, .changeLinks: .insertedLinks, .flush: .inserted,
            .delete: .deleted, .rewind: .stored,
            .end: .inserted,
        ],
        .insertedRow: [
            .writeRow: .insertedRow, .changeLinks: .insertedRow, .flush: .inserted,
            .delete: .deleted, .rewind: .stored,
            .end: .inserted,
        ],
        .updatingLinks: [
            .writeRow: .updatingRow, .changeLinks: .updatingLinks, .flush: .updated,
            .delete: .deleted, .discard: .stored, .discardValues: .updated, .rewind: .stored,
            .end: .updated,
        ],
        .updatingRow: [
            .writeRow: .updatingRow, .changeLinks: .updatingRow, .flush: .updated,
            .delete: .deleted, .revert: .reverting, .discard: .stored,
            .discardValues: .updated, .rewind: .stored,
            .end: .updated,
        ],
        .updated: [
            .writeRow: .updatedRow, .changeLinks: .updatedLinks, .delete: .deleted,
            .rewind: .stored,
            .end: .updated,
        ],
        .updatedLinks: [
            .writeRow: .updatedRow, .changeLinks: .updatedLinks, .flush: .updated,
            .delete: .deleted, .rewind: .stored,
            .end: .updated,
        ],
        .updatedRow: [
            .writeRow: .updatedRow, .changeLinks: .updatedRow, .flush: .updated,
            .delete: .deleted, .revert: .reverting, .rewind: .stored,
            .end: .updated,
        ],
        .reverting: [
            .writeRow: .updatedRow, .changeLinks: .updatedRow, .flush: .stored,
            .delete: .deleted, .rewind: .stored,
            .end: .stored,
        ],
        .deleted: [
            .writeRow: .deleted, .changeLinks: .deleted, .rewind: .stored,
            .end: .deleted,
        ],
    ]

    @Test func `every event leads from each state to the one in the table`() {
        for state in State.allCases {
            for event in Event.allCases {
                #expect(
                    state.after(event) == Self.table[state]?[event], "\(state) after \(event)")
            }
        }
    }

    @Test func `an open object has a pending row, and one with a pending row is pending`() {
        for state in State.allCases {
            #expect(!state.isOpen || state.isRowPending, "\(state)")
            #expect(!state.isRowPending || state.isPending, "\(state)")
            #expect(state.isOpen == (state.isRowPending && state != .reverting), "\(state)")
        }
    }

    @Test func `a flush or an end leaves nothing pending and keeps the kind of change`() {
        for state in State.allCases {
            for event in [Event.flush, .end] {
                guard let next = state.after(event) else { continue }
                #expect(!next.isPending, "\(state) after \(event)")
                #expect(next.kind == state.kind, "\(state) after \(event)")
            }
            #expect((state.after(.flush) == nil) == !state.isPending, "\(state)")
        }
    }

    @Test func `a write opens every object that is not deleted`() {
        for state in State.allCases {
            let next = state.after(.writeRow)
            #expect(next?.isOpen == (state != .deleted), "\(state)")
            // A write and a change of links keep each other's effect in either order.
            #expect(state.after(.changeLinks)?.after(.writeRow) == next, "\(state)")
        }
    }

    @Test func `every state is reached from a stored object`() {
        var found: Set<State> = [.stored]
        var open = [State.stored]
        while let state = open.popLast() {
            for event in Event.allCases {
                guard let next = state.after(event), found.insert(next).inserted else { continue }
                open.append(next)
            }
        }
        #expect(found == Set(State.allCases))
    }
}
