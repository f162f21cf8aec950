import Foundation
import Primitives
import Testing

@testable import PageStore

/// Files that take a path while it is opened.
@Suite struct ReplacedPathTests {
    /// The file is opened twice by its path, and the log was written to the second one.
    @Test func `a log went to the file that took the path meanwhile`() throws {
        let folder = URL.temporaryDirectory.appending(path: "trellis-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/store"
        for name in ["store", "one", "two"] {
            try Data([0]).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let isDone = Mutex(false)
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            while !isDone.withLock({ $0 }) {
                for name in ["/one", "/two"] {
                    _ = link(folder + name, folder + "/next")
                    _ = rename(folder + "/next", path)
                }
            }
        }
        var (openCount, refusedCount) = (0, 0)
        for round in 1...3000 {
            let byte = UInt8(1 + round % 255)
            do throws(StoreError) {
                let file = try DiskFileSystem.shared.open(path, .readWrite)
                defer { file.close() }
                try [byte].withView { view throws(StoreError) in
                    try file.writeDurably(view, at: 0)
                }
                let buffer = ReadBuffer(count: 1)
                #expect(try file.read(into: buffer, at: 0) == 1)
                #expect(buffer.view[0] == byte)
                openCount += 1
            } catch {
                #expect(error.code == .fileReplaced)
                refusedCount += 1
            }
        }
        isDone.withLock { $0 = true }
        group.wait()
        #expect(openCount > 0, "\(refusedCount) refused")
    }
}
