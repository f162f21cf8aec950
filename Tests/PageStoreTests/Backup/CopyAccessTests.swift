import Foundation
import Primitives
import TestSupport
import Testing

@testable import PageStore

/// Who may read a copy, and how it gets its name.
@Suite struct CopyAccessTests {
    /// The file system of the disk. Notes who may use a new file when its first byte is written.
    private final class NotingFiles: ForwardingFileSystem {
        let base: any FileSystem = DiskFileSystem.shared
        let first = Mutex<[UInt32]>([])

        func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
            NotingFile(try base.open(path, mode), self)
        }
    }

    private final class NotingFile: ForwardingFile {
        let file: any StoreFile
        private let files: NotingFiles

        init(_ file: any StoreFile, _ files: NotingFiles) {
            self.file = file
            self.files = files
        }

        func access() throws(StoreError) -> FileAccess? { try file.access() }
        func give(_ access: FileAccess) throws(StoreError) { try file.give(access) }

        func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
            if try file.size() == 0, let access = try file.access() {
                files.first.withLock { $0.append(access.permissions) }
            }
            try file.write(bytes, at: byteOffset)
        }
    }

    /// Lends the paths of a folder of the disk, which is removed afterwards.
    private func withFolder(_ body: ((String) -> String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("trellis-access-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body { folder.appendingPathComponent($0).path }
    }

    private func commit(_ engine: Engine) throws {
        let transaction = try engine.beginWrite()
        transaction.catalogRoot = try transaction.createTree().root
        _ = try transaction.commit()
    }

    private func permissions(_ path: String) throws -> UInt32? {
        try DiskFileSystem.shared.open(path, .readOnly).access()?.permissions
    }

    /// A bug: a copy of a file that its owner alone could read was readable by every user. The
    /// owner of a copy can always bring it up to date.
    @Test(arguments: [(0o600, 0o600), (0o640, 0o640), (0o664, 0o664), (0o404, 0o604)])
    func `a copy is as readable as its store from its first byte on`(
        own: UInt32, expected: UInt32
    ) throws {
        try withFolder { path in
            let files = NotingFiles()
            let engine = try Engine.open(path: path("store"), files: files)
            try commit(engine)
            #expect(chmod(path("store"), mode_t(own)) == 0)
            files.first.withLock { $0 = [] }
            try engine.copy(to: path("copy"))
            #expect(try permissions(path("copy")) == expected)
            #expect(files.first.withLock { $0 } == [expected])
            try engine.close()
        }
    }

    /// A store in memory has no permissions to pass on.
    @Test func `a copy of a store in memory is readable by its owner alone`() throws {
        try withFolder { path in
            let engine = try Engine.inMemory()
            try commit(engine)
            try engine.copy(to: path("copy"), files: DiskFileSystem.shared)
            #expect(try permissions(path("copy")) == 0o600)
        }
    }

    @Test func `a file gets no more readers with the access of another one`() throws {
        try withFolder { path in
            let file = try DiskFileSystem.shared.open(path("file"), .createNew)
            let own = try #require(try file.access())
            #expect(own.permissions == 0o600)
            try file.give(FileAccess(user: own.user, group: own.group, permissions: 0o4755))
            #expect(try file.access()?.permissions == 0o755)
            file.close()
        }
    }

    /// A folder has one name only, as the files of some file systems. A bug: a file got its name by
    /// a second one, so that every backup to such a file system failed when it was written.
    @Test func `a rename needs no second name`() throws {
        try withFolder { path in
            let files = DiskFileSystem.shared
            try FileManager.default.createDirectory(
                atPath: path("old"), withIntermediateDirectories: false)
            try files.rename(path("old"), to: path("new"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: path("")) == ["new"])
        }
    }

    @Test(arguments: [true, false])
    func `a rename replaces nothing`(isAtOnce: Bool) throws {
        try withFolder { path in
            let files = DiskFileSystem.shared
            func rename() throws(StoreError) {
                if isAtOnce {
                    try files.rename(path("old"), to: path("new"))
                } else {
                    try files.link(path("old"), as: path("new"))
                }
            }
            for name in ["old", "new"] { try files.open(path(name), .createNew).close() }
            let identities = try ["old", "new"].map { try files.identity(path($0)) }
            let error = #expect(throws: StoreError.self) { try rename() }
            #expect(error?.code == .invalidArgument && error?.path == path("new"))
            #expect(try ["old", "new"].map { try files.identity(path($0)) } == identities)
            try files.unlink(path("new"))
            try rename()
            #expect(try files.identity(path("old")) == nil)
            #expect(try files.identity(path("new")) == identities[0])
        }
    }

    /// A bug: what an earlier backup had left was emptied and written, and with it whatever else
    /// had the same file.
    @Test func `a leftover is removed and not written`() throws {
        try withFolder { path in
            let engine = try Engine.open(path: path("store"))
            try commit(engine)
            let unfinished = path("copy.\(engine.uuid).part")
            try Data("left".utf8).write(to: URL(fileURLWithPath: unfinished))
            let left = try FileHandle(forReadingFrom: URL(fileURLWithPath: unfinished))
            try engine.copy(to: path("copy"))
            #expect(try left.readToEnd() == Data("left".utf8))
            let names = try FileManager.default.contentsOfDirectory(atPath: path("")).sorted()
            #expect(names == ["copy", "store"])
            try engine.close()
        }
    }

    /// A bug: commits of an earlier process were stored anew before the copy was refused.
    @Test func `a refused copy writes nothing into its store`() throws {
        let left = FaultyFileSystem()
        let writer = try Engine.open(path: "store", files: left)
        try commit(writer)
        let files = left.processDeath()
        let engine = try Engine.open(path: "store", files: files)
        let target = MemoryFileSystem()
        try target.open("copy", .createNew).close()
        let bytes = files.bytes
        let error = #expect(throws: StoreError.self) {
            try engine.copy(to: "copy", files: target)
        }
        #expect(error?.code == .invalidArgument)
        #expect(files.bytes == bytes)
        try engine.close(leavesUnwritten: true)
        #expect(files.bytes == bytes)
        try withExtendedLifetime(writer) {
            let again = try Engine.open(path: "store", files: files)
            try again.close()
            #expect(files.bytes != bytes)
        }
    }
}
