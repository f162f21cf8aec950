import Foundation
import Primitives
import TestSupport
import Testing

@testable import PageStore

/// The names of copies: a backup that was interrupted between two calls leaves an additional name
/// or one that is not durable.
@Suite struct CopyNameTests {
    /// Counts how often a folder was made durable.
    private final class CountingFiles: ForwardingFileSystem {
        let base: any FileSystem = MemoryFileSystem()
        private let count = Mutex(0)
        var folderSyncCount: Int { count.withLock { $0 } }

        func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
            try base.open(path, mode)
        }

        func syncDirectory(of path: String) throws(StoreError) {
            count.withLock { $0 += 1 }
            try base.syncDirectory(of: path)
        }
    }

    /// One file, whose process ends at a call: it removes no name.
    private final class EndingFiles: ForwardingFileSystem {
        let base: any FileSystem
        private let named = Mutex(false)
        private var isNamed: Bool { named.withLock { $0 } }

        init(_ base: FaultyFileSystem) { self.base = base }

        func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
            try base.open(path, mode)
        }

        func identity(_ path: String) throws(StoreError) -> FileIdentity? {
            path.hasSuffix(".part") == isNamed ? nil : try base.identity(path)
        }

        func rename(_ path: String, to newPath: String) throws(StoreError) {
            named.withLock { $0 = true }
        }

        func unlink(_ path: String) throws(StoreError) {}
    }

    private func commit(_ engine: Engine) throws {
        let transaction = try engine.beginWrite()
        transaction.catalogRoot = try transaction.createTree().root
        _ = try transaction.commit()
    }

    /// The process that made the copy may have ended before the name was durable.
    @Test(arguments: [false, true])
    func `a copy that was brought up to date has a durable name`(hasChanges: Bool) throws {
        let files = CountingFiles()
        let engine = try Engine.open(path: "store", files: files)
        try commit(engine)
        try engine.copy(to: "copy")
        if hasChanges { try commit(engine) }
        let count = files.folderSyncCount
        try engine.updateCopy(at: "copy")
        #expect(files.folderSyncCount > count)
    }

    /// Lends the paths of a folder of the disk, which is removed afterwards.
    private func withFolder(_ body: ((String) -> String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("trellis-names-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body { folder.appendingPathComponent($0).path }
    }

    /// A backup was interrupted between naming the copy and removing its unfinished name. The copy
    /// was moved since, and the next backup finds the unfinished name.
    @Test func `a finished copy is not the next backup's unfinished one`() throws {
        try withFolder { path in
            let engine = try Engine.open(path: path("store"))
            try commit(engine)
            try engine.copy(to: path("copy"))
            try FileManager.default.linkItem(
                atPath: path("copy"), toPath: path("copy.\(engine.uuid).part"))
            try FileManager.default.moveItem(atPath: path("copy"), toPath: path("archive"))
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path("archive")))
            try commit(engine)
            try engine.copy(to: path("copy"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path("archive"))) == bytes)
            let names = try FileManager.default.contentsOfDirectory(atPath: path("")).sorted()
            #expect(names == ["archive", "copy", "store"])
            let copy = try Engine.open(path: path("copy"))
            #expect(try copy.snapshot().commitNumber == 2)
            try copy.close()
            try engine.close()
        }
    }

    /// The name of an unfinished copy is longer, and is cut.
    @Test func `a copy has a name as long as the file system takes`() throws {
        try withFolder { path in
            let engine = try Engine.open(path: path("store"))
            try commit(engine)
            let letters = ["c", "ä", "👩‍👩‍👧‍👦"]
            for (length, letter) in [217, 218, 250, 255].flatMap({ length in
                letters.map { (length, $0) }
            }) {
                let count = length / letter.utf8.count
                let rest = length - count * letter.utf8.count
                let name =
                    String(repeating: letter, count: count)
                    + String(repeating: "x", count: rest)
                try engine.copy(to: path(name))
                let copy = try Engine.open(path: path(name))
                #expect(try copy.snapshot().commitNumber == 1)
                try copy.close()
                try FileManager.default.removeItem(atPath: path(name))
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: path(""))
            #expect(names == ["store"])
            try engine.close()
        }
    }

    /// A bug: the file that the link leads to was written over, or made.
    @Test func `a backup does not follow a link at its unfinished name`() throws {
        try withFolder { path in
            let engine = try Engine.open(path: path("store"))
            let unfinished = "copy.\(engine.uuid).part"
            try FileManager.default.createSymbolicLink(
                atPath: path(unfinished), withDestinationPath: path("elsewhere"))
            let error = #expect(throws: StoreError.self) { try engine.copy(to: path("copy")) }
            #expect(error?.code == .invalidArgument)
            let names = try FileManager.default.contentsOfDirectory(atPath: path("")).sorted()
            #expect(names == [unfinished, "store"])
            try engine.close()
        }
    }

    /// A bug: a whole copy that had not got its name, and one with bytes that were never written,
    /// were refused as files of unknown origin, so that no further backup succeeded.
    @Test func `a backup replaces what one has left that ended at any call`() throws {
        let engine = try Engine.open(path: "store", files: MemoryFileSystem())
        for _ in 0..<40 { try commit(engine) }
        let expected = try engine.snapshot().content().pages
        let unfinished = "copy.\(engine.uuid).part"
        var isDone = false
        var (call, wholeCount) = (0, 0)
        while !isDone {
            call += 1
            let medium = FaultyFileSystem()
            medium.fault = .init(
                at: call, calls: [.write, .durableWrite, .sync, .truncate, .syncDirectory],
                goesOn: true)
            let ending = EndingFiles(medium)
            isDone = (try? engine.copy(to: "copy", files: ending)) != nil
            let left = [medium.powerCut().bytes, medium.processDeath().bytes]
            let garbage = left.map { bytes in
                bytes.enumerated().map { $0 % 512 < 7 ? UInt8(truncatingIfNeeded: $0) : $1 }
            }
            for bytes in left + garbage {
                let files = MemoryFileSystem()
                try write(bytes, to: unfinished, files)
                if isWhole(unfinished, files) { wholeCount += 1 }
                try engine.copy(to: "copy", files: files)
                let copy = try Engine.open(path: "copy", files: files)
                #expect(try copy.snapshot().content().pages == expected, "call \(call)")
                #expect(try files.identity(unfinished) == nil)
            }
        }
        #expect(call > 8 && wholeCount > 0)
    }

    private func write(_ bytes: [UInt8], to path: String, _ files: MemoryFileSystem) throws {
        let file = try files.open(path, .create)
        try bytes.withView { view throws(StoreError) in try file.write(view, at: 0) }
        file.close()
    }

    private func isWhole(_ path: String, _ files: MemoryFileSystem) -> Bool {
        var options = Engine.Options()
        options.mode = .reading
        guard let copy = try? Engine.open(path: path, options: options, files: files) else {
            return false
        }
        defer { try? copy.close() }
        return copy.parts.pager.commitNumber > 0
    }
}
