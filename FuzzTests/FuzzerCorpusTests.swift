import Foundation
import FuzzTargets
import Proof
import TestSupport
import Testing

/// Repeats the inputs that `scripts/fuzz` has found to reach code that others do not, and some that
/// are near them.
@Suite struct FuzzerCorpusTests {
    @Test(arguments: FuzzTarget.Kind.allCases)
    func `every input of the corpus is accepted or refused`(kind: FuzzTarget.Kind) throws {
        let target = try FuzzTarget(kind)
        let inputs = try FuzzCorpus(kind).inputs
        var refusedCount = 0
        for input in inputs {
            do {
                if try target.run(input.bytes) { refusedCount += 1 }
            } catch {
                Issue.record("\(kind), \(input.name): \(error)")
            }
        }
        // Some change nothing that is read.
        let acceptedCount = inputs.count - refusedCount
        #expect(refusedCount > 5 && acceptedCount > 5, "\(acceptedCount) are accepted")
    }

    @Test(arguments: FuzzTarget.Kind.allCases)
    func `an input near the corpus is accepted or refused`(kind: FuzzTarget.Kind) throws {
        let target = try FuzzTarget(kind)
        let inputs = try FuzzCorpus(kind).inputs
        var random = SeededRandom(for: "FuzzerCorpusTests \(kind)")
        for _ in FuzzRounds(60) {
            let input = Self.mutated(inputs, &random)
            do {
                _ = try target.run(input)
            } catch {
                Issue.record("\(kind), seed \(random.seed), \(input): \(error)")
            }
        }
    }

    private static func mutated(
        _ inputs: [FuzzCorpus.Input], _ random: inout SeededRandom
    ) -> [UInt8] {
        var input = inputs[random.below(inputs.count)].bytes
        for _ in 0...random.below(4) {
            switch random.below(4) {
            case 0 where !input.isEmpty:
                input[random.below(input.count)] = UInt8(random.below(256))
            case 1: input.insert(UInt8(random.below(256)), at: random.below(input.count + 1))
            case 2 where !input.isEmpty: input.remove(at: random.below(input.count))
            default:
                let other = inputs[random.below(inputs.count)].bytes
                input += other.suffix(random.below(other.count + 1))
            }
        }
        return input
    }

    @Test(arguments: ["", "\n", "a 0\n", "a 0g\n", "a 00 00\n", "a 00\na 01\n"])
    func `a corpus without inputs, or with a bad line, is refused`(text: String) {
        #expect(throws: ProofFailure.self) { try FuzzCorpus(text, name: "test") }
    }

    @Test func `an input that changes nothing means a sound store`() throws {
        let store = try FuzzedStore()
        for sample in 1...store.sampleCount { #expect(try !store.run([UInt8(sample)])) }
        #expect(try !FuzzTarget(.log).run([0]))
        for sample in 1...2 as ClosedRange<UInt8> {
            #expect(try !FuzzTarget(.file).run([0x40 | sample]))
            #expect(try !FuzzTarget(.file).run([0x10 | sample]))
        }
    }

    /// A superblock that lies about its length is refused; damage was then told of as a reader
    /// that held its state for too long.
    @Test func `a refused superblock is not taken for a later generation`() throws {
        let input: [UInt8] = [
            0x09, 0xb7, 0x00, 0x26, 0x20, 0x6f, 0x60, 0x61, 0x6c, 0x03, 0x85, 0xb7, 0x00, 0x11,
            0x00, 0x2f, 0x10,
        ]
        #expect(try FuzzedStore().run(input))
    }

    @Test func `an input changes a place in a store`() throws {
        let store = try FuzzedStore()
        // The version in the newer superblocks, with a hash that is right and one that is not.
        #expect(try store.run([1, 8, 0, 0, 99, 8, 16, 0, 99]))
        #expect(try store.run([0x81, 8, 0, 0, 99, 8, 16, 0, 99]))
    }
}
