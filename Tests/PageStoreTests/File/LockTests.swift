import SystemPackage
import Testing

@testable import PageStore

/// What the system's answers about locks mean.
@Suite struct LockTests {
    /// A bug: a system without a free lock was taken for a file system without locks, and two
    /// processes could write one file.
    @Test func `a system that has no more locks refuses a writer and says why`() throws {
        let error = #expect(throws: StoreError.self) {
            _ = try DiskFile.isLocked(.noLocks, "store")
        }
        #expect(error?.code == .io && error?.path == "store")
        #expect(error?.systemError == Errno.noLocks.rawValue)
        #expect(error?.message.contains("no more locks") == true)
    }

    @Test func `a lock is had, held by another, or unknown to the file system`() throws {
        #expect(try DiskFile.isLocked(Errno(rawValue: 0), "store") == true)
        #expect(try DiskFile.isLocked(.resourceTemporarilyUnavailable, "store") == false)
        #expect(try DiskFile.isLocked(.permissionDenied, "store") == false)
        #expect(try DiskFile.isLocked(.notSupported, "store") == nil)
        #expect(try DiskFile.isLocked(.invalidArgument, "store") == nil)
        let error = #expect(throws: StoreError.self) {
            _ = try DiskFile.isLocked(.ioError, "store")
        }
        #expect(error?.code == .io)
    }
}
