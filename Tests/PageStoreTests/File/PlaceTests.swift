import Dispatch
import Foundation
import Testing

@testable import PageStore

/// The store's file as other processes see it: its lock, and renames of its path.
@Suite struct PlaceTests {
    private final class Place {
        let folder: URL
        let path: String

        init() throws {
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("place-\(UUID().uuidString)", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            path = folder.appendingPathComponent("store").path
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func name(_ name: String) -> String { folder.appendingPathComponent(name).path }
    }

    /// Adds a page and returns the number of the commit.
    @discardableResult
    private func commit(_ engine: Engine) throws(StoreError) -> UInt64 {
        let transaction = try engine.beginWrite()
        _ = try transaction.allocatePage(.overflow)
        return try transaction.commit()
    }

    private func code(_ body: () throws(StoreError) -> Void) -> StoreError.Code? {
        do throws(StoreError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    private func reader(_ path: String) throws -> Engine {
        var options = Engine.Options()
        options.mode = .reading
        return try Engine.open(path: path, options: options)
    }

    private func commitNumber(_ path: String) throws -> UInt64 {
        try reader(path).snapshot().commitNumber
    }

    // MARK: Two writers

    @Test func `a second writer waits until the first has closed`() throws {
        let place = try Place()
        try commit(Engine.open(path: place.path))
        let other = try DiskFileSystem.shared.open(place.path, .readWrite)
        #expect(try other.lockWriter())
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(60)) { other.close() }
        var options = Engine.Options()
        options.writerTimeout = .seconds(60)
        let engine = try Engine.open(path: place.path, options: options)
        #expect(try commit(engine) == 2)
        try engine.close()
    }

    @Test func `a second writer fails when its timeout has passed`() throws {
        let place = try Place()
        try commit(Engine.open(path: place.path))
        let other = try DiskFileSystem.shared.open(place.path, .readWrite)
        #expect(try other.lockWriter())
        for timeout in [Duration.zero, .milliseconds(80)] {
            var options = Engine.Options()
            options.writerTimeout = timeout
            let start = ContinuousClock.now
            let error = #expect(throws: StoreError.self) {
                try Engine.open(path: place.path, options: options)
            }
            #expect(error?.code == .lockedByOther && error?.path == place.path)
            #expect(ContinuousClock.now - start >= timeout)
        }
        other.close()
        try Engine.open(path: place.path).close()
    }

    @Test func `a writer that waited for a file that was replaced meanwhile is refused`() throws {
        let place = try Place()
        try commit(Engine.open(path: place.path))
        let other = try DiskFileSystem.shared.open(place.path, .readWrite)
        #expect(try other.lockWriter())
        let (path, old) = (place.path, place.name("old"))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(60)) {
            rename(path, old)
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            other.close()
        }
        var options = Engine.Options()
        options.writerTimeout = .seconds(60)
        let error = #expect(throws: StoreError.self) {
            try Engine.open(path: path, options: options)
        }
        #expect(error?.code == .fileReplaced)
    }

    // MARK: Names

    @Test func `a store whose file was renamed commits nothing until the name is back`() throws {
        let place = try Place()
        let engine = try Engine.open(path: place.path)
        try commit(engine)
        let reader = try reader(place.path)
        rename(place.path, place.name("other"))
        #expect(code { () throws(StoreError) in try commit(engine) } == .fileRenamed)
        #expect(code { () throws(StoreError) in try engine.checkpointNow() } == .fileRenamed)
        #expect(code { () throws(StoreError) in try reader.advance() } == .fileRenamed)
        #expect(try engine.snapshot().commitNumber == 1)
        rename(place.name("other"), place.path)
        #expect(try commit(engine) == 2)
        #expect(try reader.advance())
        // A file that stays renamed is complete.
        rename(place.path, place.name("other"))
        try engine.close()
        #expect(try commitNumber(place.name("other")) == 2)
    }

    @Test func `a store whose file was removed commits nothing and can be copied`() throws {
        let place = try Place()
        let engine = try Engine.open(path: place.path)
        for _ in 0..<5 { try commit(engine) }
        let reader = try reader(place.path)
        unlink(place.path)
        #expect(code { () throws(StoreError) in try commit(engine) } == .fileRemoved)
        #expect(code { () throws(StoreError) in try engine.checkpointNow() } == .fileRemoved)
        #expect(code { () throws(StoreError) in try reader.advance() } == .fileRemoved)
        try engine.copy(to: place.name("saved"))
        try reader.copy(to: place.name("saved too"))
        try engine.close()
        #expect(try commitNumber(place.name("saved")) == 5)
        #expect(try commitNumber(place.name("saved too")) == 5)
    }

    @Test func `a store whose file was replaced leaves the other file alone`() throws {
        let place = try Place()
        let engine = try Engine.open(path: place.path)
        try commit(engine)
        let reader = try reader(place.path)
        rename(place.path, place.name("old"))
        let other = try Engine.open(path: place.path)
        for _ in 0..<3 { try commit(other) }
        #expect(code { () throws(StoreError) in try commit(engine) } == .fileReplaced)
        #expect(code { () throws(StoreError) in try engine.checkpointNow() } == .fileReplaced)
        #expect(code { () throws(StoreError) in try reader.advance() } == .fileReplaced)
        #expect(try reader.snapshot().commitNumber == 1)
        try engine.close()
        #expect(try commit(other) == 4)
        try other.close()
        #expect(try commitNumber(place.path) == 4)
        #expect(try commitNumber(place.name("old")) == 1)
    }

    @Test func `a file with a second name is still the store when it keeps the first`() throws {
        let place = try Place()
        let engine = try Engine.open(path: place.path)
        try commit(engine)
        link(place.path, place.name("second"))
        #expect(try commit(engine) == 2)
        unlink(place.path)
        #expect(code { () throws(StoreError) in try commit(engine) } == .fileRenamed)
        try engine.close()
        #expect(try commitNumber(place.name("second")) == 2)
    }

    /// Each commit checks the path before it writes. Requesting the file's times there made each
    /// later write update them, for which its commit waited as well.
    @Test func `checking the path does not make the next write update the file time`() throws {
        let place = try Place()
        let file = try DiskFileSystem.shared.open(place.path, .create)
        var isEverOlder = false
        // If the system's clock ticks in between, the time is updated in any case.
        for byte in 0..<100 as Range<UInt8> {
            try [byte].withView { try file.write($0, at: 0) }
            _ = try status(place.path)
            try [byte].withView { try file.write($0, at: 1) }
            let start = DiskFileSystem.shared.now()
            #expect(try DiskFileSystem.shared.identity(place.path) == file.identity)
            try [byte].withView { try file.write($0, at: 2) }
            let time = try status(place.path).st_ctim
            let noted = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
            if noted <= start { isEverOlder = true }
        }
        #expect(isEverOlder)
    }

    private func status(_ path: String) throws -> stat {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status
    }
}
