/// The protocol by which a writer and the readers of other processes share a file, as a machine of
/// small steps: spec/03-wal.md, 3.9. Everything that a step does not need is left out.
///
/// Generations are numbered in the order of their publication. Two kinds of space stand for all:
/// each checkpoint stores a map that the next one replaces, and each commit writes an extent that
/// the next commit replaces.
struct PinProtocolModel: Hashable {
    /// A rule that is left out or reversed, to check that the others do not suffice without it.
    enum Mutant: CaseIterable {
        case none
        case readerDoesNotCheck
        case readerChecksBeforeItScans
        case readerLocksAfterItChecked
        case readerUnlocksBeforeItMovesOn
        case writerDoesNotAsk
        case writerAsksBeforeTheSuperblock
        case recoveryDoesNotAsk
    }

    enum ReaderKind: Hashable { case newest, previous }

    enum ReaderStep: Hashable { case idle, take, lock, scan, check, dead }

    struct Reader: Hashable {
        var kind: ReaderKind
        var step = ReaderStep.idle
        /// The newest generation that the reader has read, and the one that it pins.
        var newest: UInt8 = 0
        var generation: UInt8 = 0
        var scanned: UInt8 = 0
        /// The generations whose locks the reader holds, one bit each.
        var locks: UInt16 = 0
        /// The generation and the commit of its snapshot.
        var shown: [UInt8] = []
    }

    enum WriterStep: Hashable { case plan, ask, publish, publishTwin, release }

    static let checkpoint: [WriterStep] = [.plan, .publish, .ask, .release]
    static let askingEarly: [WriterStep] = [.plan, .ask, .publish, .release]
    static let recovery: [WriterStep] =
        [.ask, .release] + checkpoint + [.publishTwin, .ask, .release]

    var readers: [Reader]
    /// By generation: the last commit that it covers, and its map.
    var covers: [UInt8] = [0, 0]
    var maps: [UInt8] = [0, 1]
    /// By commit: the newest generation when it was made.
    var births: [UInt8] = [0]
    var freeMaps: UInt16 = 0
    var freeExtents: UInt16 = 0
    /// The writer's remaining steps.
    var program: [WriterStep] = []
    var planned: UInt8 = 0
    var asked: UInt16 = 0
    var isRecovering = false
    var crashesLeft = 1

    init(_ kinds: [ReaderKind]) { readers = kinds.map { Reader(kind: $0) } }

    var newest: UInt8 { UInt8(covers.count - 1) }
    var commit: UInt8 { UInt8(births.count - 1) }

    // MARK: Invariant

    /// Whether a snapshot's space may have been written over.
    var isBroken: Bool {
        readers.contains { reader in
            guard reader.shown.count == 2 else { return false }
            return freeMaps >> maps[Int(reader.shown[0])] & 1 == 1
                || freeExtents >> reader.shown[1] & 1 == 1
        }
    }

    // MARK: Steps

    /// All states that can follow by one step of the writer or of a reader.
    func next(_ mutant: Mutant, generationMax: Int, commitMax: Int) -> [PinProtocolModel] {
        var found: [PinProtocolModel] = []
        func add(_ change: (inout PinProtocolModel) -> Void) {
            var copy = self
            change(&copy)
            found.append(copy)
        }
        for index in readers.indices where readers[index].step != .dead {
            for step in readerSteps(index) { add { $0.read(index, step, mutant) } }
            add { $0.readers[index] = Reader(kind: readers[index].kind, step: .dead) }
        }
        if program.isEmpty {
            // A recovery publishes twice.
            if covers.count < generationMax {
                let steps =
                    mutant == .writerAsksBeforeTheSuperblock ? Self.askingEarly : Self.checkpoint
                add { $0.program = steps }
            }
        } else {
            add { $0.write(mutant) }
        }
        if !isRecovering && births.count <= commitMax { add { $0.births.append(newest) } }
        if crashesLeft > 0 && covers.count + 1 < generationMax {
            add {
                $0.crashesLeft -= 1
                $0.program = Self.recovery
                $0.isRecovering = true
            }
        }
        return found
    }

    /// The reader's next steps: to continue, or with a snapshot to advance or release it.
    private func readerSteps(_ index: Int) -> [ReaderStep] {
        let reader = readers[index]
        guard reader.step == .idle else { return [reader.step] }
        guard !reader.shown.isEmpty else { return [.take] }
        return reader.kind == .newest ? [.take, .dead] : [.dead]
    }

    private mutating func read(_ index: Int, _ step: ReaderStep, _ mutant: Mutant) {
        var reader = readers[index]
        defer { readers[index] = reader }
        let order: [ReaderStep] =
            switch mutant {
            case .readerDoesNotCheck: [.take, .lock, .scan]
            case .readerChecksBeforeItScans: [.take, .lock, .check, .scan]
            case .readerLocksAfterItChecked: [.take, .scan, .check, .lock]
            default: [.take, .lock, .scan, .check]
            }
        switch step {
        case .idle: return
        case .dead:
            // The snapshot ends.
            reader = Reader(kind: reader.kind)
            return
        case .take:
            reader.newest = newest
            reader.generation = reader.kind == .newest ? newest : newest - 1
            if mutant == .readerUnlocksBeforeItMovesOn { reader.locks = 0 }
        case .lock: reader.locks |= 1 << reader.generation
        case .scan:
            reader.scanned =
                reader.kind == .newest ? commit : covers[Int(reader.generation)]
        case .check:
            guard newest == reader.newest else {
                // The lock of the shown generation stays.
                let kept: UInt16 = reader.shown.first.map { 1 << $0 } ?? 0
                reader.locks &= kept
                reader.step = .idle
                return
            }
        }
        let position = order.firstIndex(of: step) ?? 0
        if position + 1 < order.count {
            reader.step = order[position + 1]
        } else {
            reader.shown = [reader.generation, reader.scanned]
            reader.locks &= 1 << reader.generation
            reader.step = .idle
        }
    }

    private mutating func write(_ mutant: Mutant) {
        switch program.removeFirst() {
        case .plan: planned = commit
        case .publish:
            covers.append(planned)
            maps.append((maps.last ?? 0) + 1)
        case .publishTwin:
            covers.append(planned)
            maps.append(maps.last ?? 0)
        case .ask:
            let isLeftOut =
                mutant == .writerDoesNotAsk || mutant == .recoveryDoesNotAsk && isRecovering
            asked = isLeftOut ? 0 : readers.reduce(0) { $0 | $1.locks }
        case .release: release()
        }
        if program.isEmpty { isRecovering = false }
    }

    /// The rule of reuse: died at or before the generation in the other superblock, and no
    /// generation in [born, died) is held.
    private mutating func release() {
        func isFree(_ born: Int?, _ died: Int?) -> Bool {
            guard let born, let died, died <= Int(newest) - 1 else { return false }
            return !(born..<died).contains { asked >> UInt16($0) & 1 == 1 }
        }
        for map in Set(maps) {
            let born = maps.firstIndex(of: map)
            let died = maps.firstIndex { $0 > map }
            if isFree(born, died) { freeMaps |= 1 << map }
        }
        for commit in births.indices.dropLast() {
            let died = covers.firstIndex { Int($0) > commit }
            if isFree(Int(births[commit]), died) { freeExtents |= 1 << UInt16(commit) }
        }
    }
}
