import PageStore

/// A fuzzer's input interpreted as a file, or as changes of a store.
///
/// The first byte selects. 0: the rest is a file. Otherwise its low half is the number of a store
/// of ``DamageProof``, and the rest are changes of it, each an offset of three bytes and the new
/// byte; then the hashes are corrected, unless the highest bit is set.
package struct FuzzedStore {
    private let samples: [(bytes: [UInt8], seal: StoreSeal)]

    package init() throws {
        samples = try DamageProof.samples(1).map { ($0.bytes, StoreSeal($0.bytes)) }
    }

    package var sampleCount: Int { samples.count }

    /// Opens the store that an input describes, checks it, reads all of it and writes to it.
    /// Returns whether damage was found. Throws for results that no file may have.
    @discardableResult
    package func run(_ input: [UInt8]) throws -> Bool { try DamageVerdict.use(file(of: input)) }

    func file(of input: [UInt8]) -> [UInt8] {
        guard let kind = input.first, kind != 0 else { return Array(input.dropFirst()) }
        let sample = samples[Int(kind & 0x0F) % samples.count]
        var bytes = sample.bytes
        var changed: [Range<Int>] = []
        for start in stride(from: 1, to: input.count - 3, by: 4) {
            let place =
                (Int(input[start]) | Int(input[start + 1]) << 8 | Int(input[start + 2]) << 16)
                % bytes.count
            bytes[place] = input[start + 3]
            let extent = sample.seal.extents.first { $0.contains(place) }
            if let extent, !changed.contains(extent) { changed.append(extent) }
        }
        if kind & 0x80 == 0 { sample.seal.seal(changed, of: &bytes) }
        return bytes
    }
}
