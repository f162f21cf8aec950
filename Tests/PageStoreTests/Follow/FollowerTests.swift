import Dispatch
import Foundation
import TestSupport
import Testing

@testable import PageStore

/// Commits of other processes arrive by themselves.
@Suite(.timeLimit(.minutes(hangMinutes))) struct FollowerTests {
    private typealias Shared = FollowTests.Shared

    @Test(arguments: [true, false])
    func `commits of another open file are delivered`(isTold: Bool) async throws {
        // Without notifications of the system the file is polled.
        let shared = try Shared(files: isTold ? DiskFileSystem.shared : LocklessFileSystem())
        let reader = try shared.reader()
        var commits = reader.externalCommits.makeAsyncIterator()
        for round in 2...6 as ClosedRange<UInt64> {
            try shared.commit(checkpoints: round % 2 == 0)
            #expect(try await commits.next() == round)
            #expect(try shared.number(reader.snapshot()) == round)
        }
        try reader.close()
        #expect(try await commits.next() == nil)
    }

    @Test func `the system reports changes of a file and of its name`() throws {
        let shared = try Shared()
        let file = try DiskFileSystem.shared.open(shared.path, .readOnly)
        let isTold = DispatchSemaphore(value: 0)
        let watch = file.watch(on: DispatchQueue(label: "watch")) { isTold.signal() }
        try #require(watch != nil)
        for change in 0..<3 {
            switch change {
            case 0: try shared.commit()
            case 1: rename(shared.path, shared.path + "-moved")
            default: unlink(shared.path + "-moved")
            }
            #expect(isTold.wait(timeout: .now() + .seconds(60 * hangMinutes)) == .success)
            // A change may be reported in several parts.
            while isTold.wait(timeout: .now() + .milliseconds(50)) == .success {}
        }
        watch?.cancel()
    }

    @Test func `several followers of one store all receive a commit`() async throws {
        let shared = try Shared()
        let reader = try shared.reader()
        var first = reader.externalCommits.makeAsyncIterator()
        var second = reader.externalCommits.makeAsyncIterator()
        try shared.commit()
        #expect(try await first.next() == 2)
        #expect(try await second.next() == 2)
    }

    @Test func `a sequence of commits ends with the file that was removed`() async throws {
        let shared = try Shared()
        let reader = try shared.reader()
        var commits = reader.externalCommits.makeAsyncIterator()
        unlink(shared.path)
        let error = await #expect(throws: StoreError.self) { _ = try await commits.next() }
        #expect(error?.code == .fileRemoved)
        #expect(try reader.snapshot().commitNumber == 1)
    }

    @Test func `a store that no other process can change is not followed`() async throws {
        let shared = try Shared()
        var commits = shared.writer.externalCommits.makeAsyncIterator()
        #expect(try await commits.next() == nil)
    }
}
