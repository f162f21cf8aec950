import Foundation
import Proof
import TestSupport
import Testing

@testable import DiskProof

/// A slice of the proof that `scripts/prove disk` runs in full, and of the tools that it depends
/// on.
@Suite struct DiskProofTests {
    @Test func `the system calls of a program leave a valid store at every cut and fault`() {
        ProofSlice.run(DiskProof.self, "faults", above: 10, seconds: 4)
    }

    @Test func `a program whose calls are not recorded is reported`() throws {
        let run = try DiskRun()
        defer { run.remove() }
        try run.run([.durable], seed: 1, closes: true, isPreloaded: false)
        let error = #expect(throws: ProofFailure.self) { try run.trace() }
        #expect(error?.description.contains("no call was recorded") == true)
    }

    @Test func `a required call that is never made is reported`() throws {
        let run = try DiskRun()
        defer { run.remove() }
        try run.run([.durable], seed: 1, closes: true)
        let trace = try run.trace()
        try trace.requireKnownCalls()
        try trace.requireCalls(["open", "pwrite", "durable pwrite", "fsync"])
        let error = #expect(throws: ProofFailure.self) { try trace.requireCalls(DiskProof.calls) }
        #expect(error?.description.contains("never seen: ") == true)
        #expect(error?.description.contains("renameat2") == true)
    }

    /// The first write of the log's first commit, and how often the device writes nothing.
    @Test(arguments: [(7, false), (8, true), (0, true)])
    func `eight writes without progress end in a typed error`(
        count: Int, isError: Bool
    ) throws {
        let run = try DiskRun()
        defer { run.remove() }
        try run.run([], seed: 1, closes: true)
        let fault = DiskFault(kind: "write", call: 1, effect: "zero", count: count)
        try run.run([.durable], seed: 1, closes: true, fault: fault)
        var judge = DiskJudge(folder: run.base)
        var cuts = DiskCuts(try run.trace(), on: DiskMedium(), seed: 1, perCall: 0)
        try cuts.run(&judge, while: { false })
        try cuts.cutAtEnd(&judge)
        #expect(judge.ledger.errors.isEmpty != isError)
        #expect((judge.ledger.acknowledgedCount == 1) != isError)
        let empty = try run.trace().events.count { $0.kind == .write && $0.result == 0 }
        #expect(count == 0 ? empty >= 8 && empty < 1000 : empty == count)
    }
}
