/// The two copies of the superblock as they were found.
struct SuperblockChoice {
    var newest: Superblock
    var other: Superblock?
    /// The generation of the other copy; the newest itself when that copy is invalid, so that all
    /// that pends is free: the log may lie there, when the copy was the newest one.
    var previousGeneration: UInt64

    /// Reads both copies.
    ///
    /// A copy that the disk does not give fails the call, because it may be the newer one.
    ///
    /// - Parameters:
    ///   - known: a size that the file has had; it is asked where a superblock needs more. With
    ///     `.max` any length will do.
    ///   - toleratesDamage: whether one copy is enough, whatever is wrong with the other.
    static func read(
        _ file: MeteredFile, sizeInBytes known: UInt64 = 0, toleratesDamage: Bool = false
    ) throws(StoreError) -> SuperblockChoice {
        var size = known
        var valid: [Superblock] = []
        var failures: [StoreError] = []
        for slot in 0..<2 {
            do throws(StoreError) {
                valid.append(try read(file, slot: slot, &size))
            } catch {
                let isUnread = error.code == .io || error.code == .permissionDenied
                if isUnread && !toleratesDamage { throw error }
                failures.append(error)
            }
        }
        // Which copy is the newer one, only a program of its version knows.
        if let newer = failures.first(where: { $0.code == .newerFormat }) { throw newer }
        if valid.count == 2, valid[0].uuid != valid[1].uuid {
            throw .corrupt(nil, "the two superblocks belong to different stores", byteOffset: 0)
        }
        guard let newest = valid.max(by: { $0.generation < $1.generation }) else {
            let order: [StoreError.Code] = [
                .io, .permissionDenied, .truncated, .corrupt, .notAStore,
            ]
            for code in order {
                if let failure = failures.first(where: { $0.code == code }) { throw failure }
            }
            throw StoreError(.notAStore, "the file has no superblock", byteOffset: 0)
        }
        let other = valid.first { $0.generation != newest.generation }
        // Of a copy that cannot be read nothing is needed any more.
        let previous = other?.generation ?? newest.generation
        return SuperblockChoice(newest: newest, other: other, previousGeneration: previous)
    }

    /// The checkpoint before the newest one.
    private func previous() throws(StoreError) -> Superblock {
        guard let other else {
            throw .corrupt(nil, "the other superblock cannot be read", byteOffset: 0)
        }
        return other
    }

    /// - Parameter size: the last size of the file that is known.
    private static func read(
        _ file: MeteredFile, slot: Int, _ size: inout UInt64
    ) throws(StoreError) -> Superblock {
        var superblock = try read(file, slot: slot)
        while superblock.requiredLength > size {
            // After the superblock: a writer lets the file grow before it writes one that needs it…
            size = try file.size()
            guard superblock.requiredLength > size else { break }
            // … and cuts the file off only where the slot has a later one.
            let later = try read(file, slot: slot)
            guard later.generation > superblock.generation else {
                throw truncated(superblock, sizeInBytes: size)
            }
            superblock = later
        }
        return superblock
    }

    private static func read(_ file: MeteredFile, slot: Int) throws(StoreError) -> Superblock {
        let buffer = ReadBuffer(count: SuperblockLayout.size)
        let start = UInt64(slot * SuperblockLayout.size)
        let count = try file.read(into: buffer, at: start)
        let bytes = buffer.view.slice(from: 0, count: count)
        guard count >= 8,
            bytes.uint64(at: SuperblockLayout.magic) == SuperblockLayout.magicValue
        else {
            throw StoreError(
                .notAStore, "the file does not begin as a Trellis store", byteOffset: start)
        }
        return try Superblock.decode(bytes, slot: slot)
    }

    /// Reads both copies. A superblock that points past the end of the file is accepted in a mode
    /// that tolerates damage, where no other is valid.
    static func read(
        _ file: MeteredFile, _ mode: OpenMode
    ) throws(StoreError) -> SuperblockChoice {
        do throws(StoreError) {
            return try read(file, toleratesDamage: mode.toleratesDamage)
        } catch {
            let codes: Set<StoreError.Code> = [.truncated, .io, .permissionDenied]
            guard mode.toleratesDamage, codes.contains(error.code) else { throw error }
            return try read(file, sizeInBytes: .max, toleratesDamage: true)
        }
    }

    /// The superblock that a mode shows.
    func shown(_ mode: OpenMode) throws(StoreError) -> Superblock {
        mode.showsPrevious ? try previous() : newest
    }

    static func truncated(_ superblock: Superblock, sizeInBytes: UInt64) -> StoreError {
        StoreError(
            .truncated,
            "the file has \(sizeInBytes) bytes and needs \(superblock.requiredLength)",
            byteOffset: sizeInBytes)
    }
}
