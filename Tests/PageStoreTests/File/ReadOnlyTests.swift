import Foundation
import PageStore
import TestSupport
import Testing

/// A store that was opened for reading only.
@Suite struct ReadOnlyTests {
    private func commit(_ engine: Engine) throws -> PageID {
        let transaction = try engine.beginWrite()
        let id = try transaction.allocatePage(.overflow).id
        _ = try transaction.commit()
        return id
    }

    private var options: Engine.Options {
        var options = Engine.Options()
        options.mode = .reading
        return options
    }

    @Test func `reading a store, its log included, writes nothing and syncs nothing`() throws {
        let files = FaultyFileSystem()
        let writer = try Engine.open(path: "store", files: files)
        let first = try commit(writer)
        try writer.checkpointNow()
        let second = try commit(writer)
        // As if the writer had died: its log is still there.
        let left = files.processDeath()
        let engine = try Engine.open(path: "store", options: options, files: left)
        for id in [first, second] { #expect(try engine.snapshot().page(id).id == id) }
        #expect(try !engine.advance())
        #expect(try engine.logFrames().contains { $0.commitNumber == 2 })
        #expect(try engine.snapshot().pagePlaces().count == 2)
        try engine.close()
        #expect(left.callCount == 0)
        #expect(left.bytes == files.bytes)
    }

    @Test func `a file that is opened for reading cannot be written through it`() throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("read-only-\(UUID().uuidString)").path
        try Data("as it was".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try DiskFileSystem.shared.open(path, .readOnly)
        let bytes = [UInt8](repeating: 1, count: 8)
        for isDurable in [false, true] {
            let error = #expect(throws: StoreError.self) {
                try bytes.withView { view throws(StoreError) in
                    if isDurable {
                        try file.writeDurably(view, at: 0)
                    } else {
                        try file.write(view, at: 0)
                    }
                }
            }
            #expect(error?.code == .io)
        }
        #expect(throws: StoreError.self) { try file.truncate(to: 0) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "as it was")
    }
}
