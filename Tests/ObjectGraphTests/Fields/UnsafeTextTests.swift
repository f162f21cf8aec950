import Dispatch
import Foundation
import ObjectGraph
import PageStore
import TestSupport
import Testing

/// Values of unsafe transactions that do not fit their records.
@Suite struct UnsafeTextTests {
    private let queue = DispatchQueue(label: "view")

    @Test func `a text set after a rollback is not confused with one being committed`() throws {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        let form = stack.beginUnsafe()
        let person = form.create(Into<Person>())
        person.name = "Ada"
        try form.commitAndWait()
        for round in 0..<20 {
            // Equally long, so that the records differ only in the bytes after their names.
            person.name = String(repeating: "x", count: 9000 + round)
            let isDone = DispatchSemaphore(value: 0)
            form.commit { _ in isDone.signal() }
            form.rollback()
            let later = String(repeating: "y", count: 9000 + round)
            person.name = later
            isDone.wait()
            try form.commitAndWait()
            let stored = try stack.read { try $0.fetchOne(From<Person>())?.name }
            #expect(stored == later, "round \(round)")
        }
    }

    @Test func `pages allocated after a return to a mark get new page IDs`() throws {
        let engine = try Engine.inMemory()
        let transaction = try engine.beginWrite()
        transaction.catalogRoot = try transaction.createTree().root
        _ = try transaction.commit()
        let scratch = ScratchPages(over: try engine.snapshot())
        let mark = scratch.mark()
        let first = try scratch.allocatePage(.overflow)
        first[200] = 1
        let frozen = scratch.frozen()
        scratch.restore(mark)
        let second = try scratch.allocatePage(.overflow)
        second[200] = 2
        #expect(first.id != second.id)
        #expect(try frozen.page(first.id)[200] == 1)
    }
}
