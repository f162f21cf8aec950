import Foundation
import Proof
import Testing

/// Repeats the inputs that `scripts/fuzz` has found to reach code that others do not.
@Suite struct FuzzerCorpusTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Tests/EngineFuzzer/Corpus")

    @Test func `every input of the corpus is read or refused`() throws {
        let store = try FuzzedStore()
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder, includingPropertiesForKeys: nil)
        var foundCount = 0
        for file in files {
            let input = [UInt8](try Data(contentsOf: file))
            do {
                if try store.run(input) { foundCount += 1 }
            } catch {
                Issue.record("\(file.lastPathComponent): \(error)")
            }
        }
        // Some inputs change bytes that are not read.
        #expect(foundCount > 10 && foundCount < files.count)
    }

    @Test func `a fuzz input that changes nothing leaves a valid store`() throws {
        let store = try FuzzedStore()
        for sample in 1...store.sampleCount { #expect(try !store.run([UInt8(sample)])) }
    }

    /// A superblock with a wrong length is refused; a bug reported the damage as a reader that held
    /// its state for too long.
    @Test func `a refused superblock is not mistaken for a newer generation`() throws {
        let input: [UInt8] = [
            0x09, 0xb7, 0x00, 0x26, 0x20, 0x6f, 0x60, 0x61, 0x6c, 0x03, 0x85, 0xb7, 0x00, 0x11,
            0x00, 0x2f, 0x10,
        ]
        #expect(try FuzzedStore().run(input))
    }

    @Test func `a fuzz input changes bytes of a store`() throws {
        let store = try FuzzedStore()
        // The version in the newer superblocks, with a hash that is right and one that is not.
        #expect(try store.run([1, 8, 0, 0, 99, 8, 16, 0, 99]))
        #expect(try store.run([0x81, 8, 0, 0, 99, 8, 16, 0, 99]))
    }
}
