import Foundation
import TestSupport
import Testing

@testable import ObjectGraph

/// Lists and sections that outlive what they show.
@Suite(.timeLimit(.minutes(hangMinutes))) struct EndedListTests {
    private let chain = From<Dog>().orderBy(.ascending(\.$age))

    private func stack() throws -> (DataStack, DispatchQueue, NSManagedObjectID) {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let dog = transaction.create(Into<Dog>())
            (dog.age, dog.nickname) = (7, "Rex")
            return dog.objectID()
        })
        return (stack, queue, id)
    }

    private func expectNoObjects(_ monitor: ListMonitor<Dog>) {
        #expect(monitor.numberOfObjects() == 1)
        #expect(monitor[safeIndex: 0] == nil)
        #expect(monitor[safeSectionIndex: 0, safeItemIndex: 0] == nil)
        #expect(monitor[safeIndexPath: IndexPath(indexes: [0, 0])] == nil)
        #expect(monitor.objects(safelyIn: 0) == nil)
        #expect(monitor.sectionInfo(safelyAt: 0)?.objects == nil)
    }

    /// A bug: they ended the process.
    @Test func `safe calls of a list without its stack have no objects`() throws {
        var (stack, queue, _): (DataStack?, DispatchQueue, NSManagedObjectID) = try stack()
        let monitor = queue.sync { stack?.monitorList(chain) }
        queue.sync { stack = nil }
        try queue.sync { expectNoObjects(try #require(monitor)) }
    }

    @Test func `safe calls of a list without its transaction have no objects`() throws {
        let (stack, queue, _) = try stack()
        var form: UnsafeDataTransaction? = stack.beginUnsafe()
        let monitor = form?.monitorList(chain)
        #expect(monitor?[safeIndex: 0]?.age == 7)
        form = nil
        expectNoObjects(try #require(monitor))
        withExtendedLifetime(queue) {}
    }

    /// A bug: it came back as a stored object, which fetches found.
    @Test func `a section's deleted object is a deleted one`() throws {
        let (stack, queue, id) = try stack()
        let (monitor, section) = queue.sync {
            let monitor = stack.monitorList(chain)
            return (monitor, monitor.sectionInfo(at: 0))
        }
        try stack.perform(synchronous: { $0.delete($0.fetchExisting(id) as Dog?) })
        stack.drain(queue)
        try queue.sync {
            let gone = try #require(section.objects?.first as? Dog)
            #expect(gone.isDeleted && section.objects?.first as? Dog === gone)
            _ = gone.nickname
            #expect(stack.fetchExisting(id) as Dog? == nil)
            #expect(try stack.fetchAll(chain).isEmpty)
            #expect(monitor.numberOfObjects() == 0)
        }
    }
}
