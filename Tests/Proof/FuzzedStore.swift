import PageStore

/// Reads the bytes of a fuzzer as a file, or as changes of a store.
///
/// The first byte chooses. 0: the rest is a file. Otherwise its low half is the number of a store
/// of ``DamageProof`` and the rest are changes of it, each an offset of three bytes and the byte
/// that is stored there; then the hashes are made correct again, unless the highest bit is set.
package struct FuzzedStore {
    private let samples: [(bytes: [UInt8], seal: StoreSeal)]

    package init() throws {
        samples = try DamageProof.samples(1).map { ($0.bytes, StoreSeal($0.bytes)) }
    }

    package var sampleCount: Int { samples.count }

    /// Opens what an input means, checks it, reads all of it and writes to it. Whether something
    /// was found to be wrong. Throws what no file may lead to.
    @discardableResult
    package func run(_ input: [UInt8]) throws -> Bool { try DamageVerdict.use(file(of: input)) }

    func file(of input: [UInt8]) -> [UInt8] {
        guard let kind = input.first, kind != 0 else { return Array(input.dropFirst()) }
        let sample = samples[Int(kind & 0x0F) % samples.count]
        return sample.seal.file(
            sample.bytes, changedBy: input.dropFirst(), isSealed: kind & 0x80 == 0)
    }
}

extension StoreSeal {
    /// The store with changes, each an offset of three bytes and the byte that is stored there.
    ///
    /// - Parameter isSealed: whether the hashes are made correct again.
    package func file(
        _ bytes: [UInt8], changedBy changes: ArraySlice<UInt8>, isSealed: Bool
    ) -> [UInt8] {
        var bytes = bytes
        var changed: [Range<Int>] = []
        for start in stride(from: changes.startIndex, to: changes.endIndex - 3, by: 4) {
            let offset =
                (Int(changes[start]) | Int(changes[start + 1]) << 8 | Int(changes[start + 2]) << 16)
                % bytes.count
            bytes[offset] = changes[start + 3]
            let extent = extents.first { $0.contains(offset) }
            if let extent, !changed.contains(extent) { changed.append(extent) }
        }
        if isSealed { seal(changed, of: &bytes) }
        return bytes
    }
}
