import Foundation
import PageStore
import Primitives
import TestSupport
import Testing

/// The name of a store that has just been created.
@Suite struct CreationTests {
    /// The machine's files; notes of which paths the folder was made durable.
    private final class NotingFiles: ForwardingFileSystem {
        let base: any FileSystem = DiskFileSystem.shared
        private let noted = Mutex<[String]>([])
        var syncedPaths: [String] { noted.withLock { $0 } }

        func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
            try base.open(path, mode)
        }

        func target(of path: String) throws(StoreError) -> String { try base.target(of: path) }

        func syncDirectory(of path: String) throws(StoreError) {
            noted.withLock { $0.append(path) }
            try base.syncDirectory(of: path)
        }
    }

    /// A bug: the link's folder was synchronised, and the store had its name in another one.
    @Test func `a store that is created through a link has a durable name`() throws {
        let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appendingPathComponent("creation-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["a", "b"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        let link = folder.appendingPathComponent("a/link").path
        let store = folder.appendingPathComponent("b/store").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store)
        let files = NotingFiles()
        let engine = try Engine.open(path: link, files: files)
        let transaction = try engine.beginWrite()
        transaction.catalogRoot = try transaction.createTree().root
        _ = try transaction.commit()
        #expect(files.syncedPaths == [store])
        try engine.close()
    }
}
