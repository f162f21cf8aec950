import PageStore
import TestSupport

/// Damages a small store in every way that it knows and opens it: what is wrong is found and
/// named, or lies where nothing is read, and the history is never silently a shorter one.
package struct DamageProof: StoreProof {
    package static let requiredCounts = [
        "blocks", "lengths", "found", "judged lies",
    ]
    package private(set) var report = ProofReport()
    private let seed: UInt64
    private let budget: ProofBudget
    private var random: SeededRandom

    package init(seed: UInt64, budget: ProofBudget) {
        self.seed = seed
        self.budget = budget
        random = SeededRandom(seed: seed)
    }

    /// A store at rest, and what it holds.
    struct Sample {
        var bytes: [UInt8]
        /// By commit number.
        var contents: [ScriptContent]
        /// The log's commits and the sectors of their groups.
        var groups: [(commit: Int, place: Range<Int>)]
        /// The last commit that a group of the log calls durable.
        var durableCommit: Int
        var name: String

        var newest: ScriptContent { contents[contents.count - 1] }

        /// The oldest commit that may be shown without a word. A group that no other calls durable
        /// may be the tail of a write that did not finish, and so may the log's end from some group
        /// on, where all that is behind it is gone too.
        func oldest(after damaged: Range<Int>) -> Int {
            let unproven = groups.filter {
                $0.commit > durableCommit && $0.place.overlaps(damaged)
            }
            var oldest = contents.count - 1
            for group in groups.reversed() where group.place.overlaps(damaged) {
                guard group.commit == oldest else { break }
                oldest -= 1
            }
            return min(oldest, (unproven.map(\.commit).min() ?? .max) - 1)
        }
    }

    static let options = CrashProof.options

    package mutating func run() {
        do {
            var round: UInt64 = 0
            repeat {
                let samples = try Self.samples(seed &+ round)
                for (index, sample) in samples.enumerated() {
                    report.count("stores")
                    try damage(sample, budget.share(1 / Double(samples.count - index)))
                }
                round += 1
                if !budget.isSpent { report.count("complete rounds") }
            } while !budget.isEndless && !budget.isSpent
        } catch {
            report.fail("seed \(seed), \(error)")
        }
    }

    private mutating func damage(_ sample: Sample, _ budget: ProofBudget) throws {
        try superblocks(sample)
        try lostWrites(sample)
        // Whatever the budget is, the same seed tells the same lies.
        var lies = try RehashedLies(sample: sample, seed: seed)
        try lies.run(budget: budget.share(0.2))
        report.count("rehashed lies", lies.count)
        report.count("judged lies", lies.judgedCount)
        report.count("found", lies.foundCount)
        try everyBlock(sample, budget.share(0.2))
        try everyLength(sample, budget.share(0.2))
        try everyBit(sample, budget)
    }

    // MARK: Stores

    /// Stores with a log of one segment, of several, with a long first transaction, and none.
    static func samples(_ seed: UInt64) throws -> [Sample] {
        let scripts: [(String, [ScriptStep])] = [
            ("short log", [.insert, .blob, .checkpoint, .insert, .update, .insert, .delete]),
            ("long log", [.grow, .checkpoint, .insert, .rotate, .rotate, .insert, .bulk, .update]),
            ("first of all", [.insert, .checkpoint, .rotate]),
            ("no log", [.grow, .blob, .delete, .checkpoint]),
            ("recovered", [.insert, .grow, .delete, .reopen, .insert, .die, .insert, .insert]),
            ("relaxed", [.insert, .relaxed, .insert, .insert, .relaxed, .relaxed, .insert]),
            ("relaxed end", [.grow, .checkpoint, .insert, .relaxed, .relaxed, .relaxed]),
        ]
        return try scripts.map { name, steps in
            let disk = SimulatedDisk(seed: seed)
            var player = try ScriptPlayer(
                disk: disk, options: options, history: ScriptHistory(), seed: seed)
            for step in steps { try player.run(step) }
            let frames = try player.engine.logFrames()
            var groups: [(commit: Int, place: Range<Int>)] = []
            let bytes = disk.image.bytes(of: "store") ?? []
            var (start, durableCommit) = (0, 0)
            for frame in frames {
                if frame.type == .group {
                    start = Int(frame.byteOffset)
                    let offset = start + FrameLayout.groupDurableCommit
                    durableCommit = bytes.withView { Int($0.uint64(at: offset)) }
                }
                guard let commit = frame.commitNumber else { continue }
                let end = Int(frame.byteOffset) + frame.length
                groups.append((Int(commit), start..<((end + 511) / 512 * 512)))
            }
            return Sample(
                bytes: bytes, contents: player.history.contents, groups: groups,
                durableCommit: durableCommit, name: "\(name) \(seed)")
        }
    }

    // MARK: Kinds of damage

    private mutating func everyBit(_ sample: Sample, _ budget: ProofBudget) throws {
        var bytes = sample.bytes
        // In no order, so that a part of them is from everywhere.
        for offset in bytes.indices.shuffled(using: &random) {
            if budget.isSpent { return }
            for change in 0..<10 {
                let old = bytes[offset]
                let new: UInt8 = change < 8 ? old ^ (1 << UInt8(change)) : change == 8 ? 0 : 0xFF
                guard new != old else { continue }
                bytes[offset] = new
                report.count(change < 8 ? "bits" : "bytes")
                try expect(bytes, sample, offset..<(offset + 1), "byte \(offset) is \(new)")
                bytes[offset] = old
            }
        }
    }

    private mutating func everyLength(_ sample: Sample, _ budget: ProofBudget) throws {
        for count in sample.bytes.indices.shuffled(using: &random) {
            if budget.isSpent { break }
            report.count("lengths")
            try expect(
                Array(sample.bytes[..<count]), sample, count..<sample.bytes.count, "cut at \(count)"
            )
        }
        for extra in [1, 511, 512, 4096, 8192] {
            for fill in [UInt8(0), 0xFF] {
                report.count("lengths")
                let more = sample.bytes + Array(repeating: fill, count: extra)
                let end = sample.bytes.count
                try expect(more, sample, end..<end, "\(extra) bytes more")
            }
        }
    }

    /// Each extent as a lost write leaves its place: what lies there is sound, and not what the map
    /// names.
    private mutating func lostWrites(_ sample: Sample) throws {
        let seal = StoreSeal(sample.bytes)
        for place in seal.extents {
            for _ in 0..<8 {
                var bytes = sample.bytes
                let offset = place.lowerBound + 48 + random.below(place.count - 48)
                bytes[offset] ^= 1 << UInt8(random.below(8))
                seal.sealAlone(place, of: &bytes)
                report.count("lost writes")
                try expect(bytes, sample, place, "a lost write at \(place.lowerBound)")
            }
        }
    }

    private mutating func everyBlock(_ sample: Sample, _ budget: ProofBudget) throws {
        let size = 512
        let starts = Array(stride(from: 0, to: sample.bytes.count - size + 1, by: size))
        for start in starts.shuffled(using: &random) {
            if budget.isSpent { return }
            let place = start..<(start + size)
            var others = [
                [UInt8](repeating: 0, count: size), [UInt8](repeating: 0xFF, count: size),
                random.bytes(size),
            ]
            for _ in 0..<6 {
                let other = starts[random.below(starts.count)]
                others.append(Array(sample.bytes[other..<(other + size)]))
            }
            for (kind, other) in others.enumerated() {
                var bytes = sample.bytes
                bytes.replaceSubrange(place, with: other)
                guard bytes != sample.bytes else { continue }
                report.count("blocks")
                try expect(bytes, sample, place, "block \(start), kind \(kind)")
            }
            // Eight neighbours, as a lost page of the system is.
            let page = start / 4096 * 4096..<min(start / 4096 * 4096 + 4096, sample.bytes.count)
            guard start == page.lowerBound else { continue }
            var bytes = sample.bytes
            bytes.replaceSubrange(page, with: repeatElement(0, count: page.count))
            report.count("blocks")
            try expect(bytes, sample, page, "page \(start)")
        }
    }

    /// Both copies in every combination of sound, broken and foreign.
    private mutating func superblocks(_ sample: Sample) throws {
        func broken(_ kind: Int, _ slot: Int, _ bytes: inout [UInt8]) {
            let start = slot * 4096
            switch kind {
            case 1:
                bytes.replaceSubrange(start..<(start + 4096), with: repeatElement(0, count: 4096))
            case 2: bytes[start + 100] ^= 1
            case 3:
                let other = Array(bytes[(4096 - start)..<(8192 - start)])
                bytes.replaceSubrange(start..<(start + 4096), with: other)
            default: break
            }
        }
        for first in 0..<4 {
            for second in 0..<4 where first + second > 0 {
                var bytes = sample.bytes
                broken(first, 0, &bytes)
                broken(second, 1, &bytes)
                report.count("superblock pairs")
                try expect(bytes, sample, 0..<8192, "superblocks \(first) and \(second)")
            }
        }
    }

    // MARK: What must hold

    private mutating func expect(
        _ bytes: [UInt8], _ sample: Sample, _ damaged: Range<Int>, _ what: String
    ) throws {
        do {
            let verdict = try DamageVerdict.of(bytes, seed: seed)
            switch verdict {
            case .found: report.count("found")
            case .shows(let engine):
                let snapshot = try engine.snapshot()
                if (try? StoreComparison.compare(snapshot, sample.newest, "")) != nil {
                    report.count("without effect")
                    return
                }
                let number = Int(snapshot.commitNumber)
                let oldest = sample.oldest(after: damaged)
                guard number >= oldest else {
                    throw ProofFailure(
                        "it is commit \(number), not \(oldest), and nothing is reported")
                }
                try StoreComparison.compare(snapshot, sample.contents[number], "the commit")
                report.count("like a torn tail")
            }
        } catch {
            throw ProofFailure("\(sample.name), \(what): \(error)")
        }
    }
}

/// What a reader and a check say of a file.
enum DamageVerdict {
    case found
    case shows(Engine)

    static func of(_ bytes: [UInt8], seed: UInt64) throws -> DamageVerdict {
        var image = DiskImage()
        image.files[1] = bytes
        image.names["store"] = 1
        var options = DamageProof.options
        options.mode = .reading
        do throws(StoreError) {
            let disk = SimulatedDisk(image, seed: seed)
            let engine = try Engine.open(path: "store", options: options, files: disk)
            let snapshot = try engine.snapshot()
            let findings = StoreCheck.run(snapshot)
            return findings.isEmpty ? .shows(engine) : .found
        } catch {
            let known: Set<StoreError.Code> = [.corrupt, .truncated, .notAStore, .newerFormat]
            guard known.contains(error.code), error.path != nil || error.byteOffset != nil else {
                throw ProofFailure("the error names no place or is of another kind: \(error)")
            }
            return .found
        }
    }

    /// Reads, checks, and whatever that finds, writes. Returns whether damage was found.
    ///
    /// - Parameter judge: looks at the answers where nothing was found.
    static func use(
        _ bytes: [UInt8], judge: (Engine) throws -> Void = { _ in }
    ) throws -> Bool {
        let start = ContinuousClock.now
        defer { precondition(ContinuousClock.now - start < .seconds(20), "it takes too long") }
        let verdict = try of(bytes, seed: 1)
        if case .shows(let engine) = verdict { try judge(engine) }
        try write(bytes)
        if case .found = verdict { return true }
        return false
    }

    /// A writer that does not check first.
    private static func write(_ bytes: [UInt8]) throws {
        var image = DiskImage()
        image.files[1] = bytes
        image.names["store"] = 1
        let disk = SimulatedDisk(image, seed: 2)
        do throws(StoreError) {
            let engine = try Engine.open(
                path: "store", options: DamageProof.options, files: disk)
            let transaction = try engine.beginWrite()
            let key = UInt64(7).key
            if let root = transaction.catalogRoot {
                try transaction.insert(key.span, key.span, into: TreeID(root: root))
            }
            _ = try transaction.commit()
            try engine.close()
        } catch {
            let known: Set<StoreError.Code> = [
                .corrupt, .truncated, .notAStore, .newerFormat, .readOnly, .tooLarge,
            ]
            guard known.contains(error.code) else { throw error }
        }
    }
}
