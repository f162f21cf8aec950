import Foundation
import Testing

@testable import PageStore

/// What remains of a store after its file was closed.
@Suite struct ClosedFileTests {
    /// A bug: the page was read through a descriptor that the system had given to another file, and
    /// was said to be damaged.
    @Test func `a page that is read after the closing is closed and not damaged`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("closed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("store").path
        let writer = try Engine.open(path: path)
        let transaction = try writer.beginWrite()
        let id = try transaction.allocatePage(.overflow).id
        _ = try transaction.commit()
        try writer.close()

        let engine = try Engine.open(path: path)
        let snapshot = try engine.snapshot()
        try engine.close()
        // They get the numbers that the store's file had.
        let others = try (0..<8).map { number in
            let other = folder.appendingPathComponent("other-\(number)")
            try Data(repeating: 1, count: 1 << 17).write(to: other)
            return try FileHandle(forReadingFrom: other)
        }
        defer { withExtendedLifetime(others) {} }
        let error = #expect(throws: StoreError.self) { try snapshot.page(id) }
        #expect(error?.code == .closed)
    }

    @Test func `descriptors are closed once, after the last call that uses them`() {
        let idle = DescriptorUse()
        #expect(idle.begin() && !idle.end())
        #expect(idle.begin() && idle.close() && idle.end())
        #expect(!idle.begin() && !idle.close())

        let busy = DescriptorUse()
        #expect(busy.begin() && busy.begin())
        #expect(busy.close() && !busy.end())
        #expect(!busy.begin())
        #expect(busy.end())
    }

    @Test func `calls of many threads end with one closing`() async {
        for _ in 0..<200 {
            let use = DescriptorUse()
            let closings = await withTaskGroup(of: Int.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        var closings = 0
                        for round in 0..<50 where use.begin() {
                            if number == 0, round == 25 { _ = use.close() }
                            if use.end() { closings += 1 }
                        }
                        return closings
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(closings == 1)
        }
    }
}
