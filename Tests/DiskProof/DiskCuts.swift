import Foundation
import Proof
import TestSupport

/// Cuts the power at each call of a trace and judges the images that the medium may hold then.
struct DiskCuts {
    /// A state that the medium may be left in.
    struct Leftover {
        var image: DiskMedium.Image
        var finding: DiskJudge.Finding
    }

    private let trace: DiskTrace
    private(set) var medium: DiskMedium
    private var random: SeededRandom
    /// Random images for each call, besides those that are always judged.
    private let perCall: Int
    /// One of the states, from which a program continues.
    private(set) var leftover: Leftover?
    private var leftoverCount = 0

    init(_ trace: DiskTrace, on medium: DiskMedium, seed: UInt64, perCall: Int) {
        self.trace = trace
        self.perCall = perCall
        self.medium = medium
        random = SeededRandom(seed: seed)
    }

    /// Throws unless the folder equals the effect of the recorded calls.
    func requireSame(as folder: URL) throws {
        guard try medium.visible == DiskFolder.image(of: folder) else {
            throw ProofFailure("the files hold what no recorded call has written")
        }
    }

    /// - Parameter isWanted: whether to go on; asked before each call.
    mutating func run(_ judge: inout DiskJudge, while isWanted: () -> Bool) throws {
        for (time, event) in trace.events.enumerated() {
            do {
                try take(event, time, &judge, isCut: event.changesMedium && isWanted())
            } catch {
                throw ProofFailure("call \(time) (\(event.description)): \(error)")
            }
        }
    }

    private mutating func take(
        _ event: DiskEvent, _ time: Int, _ judge: inout DiskJudge, isCut: Bool
    ) throws {
        if event.kind == .note { return try judge.ledger.take(event.text) }
        try medium.begin(event, time)
        if isCut {
            judge.count("cuts")
            try cut(time, event, &judge)
        }
        try medium.complete(event, time)
    }

    /// A last cut, after all calls.
    mutating func cutAtEnd(_ judge: inout DiskJudge) throws {
        for choice in [.none, .sectors(2), .sectors(6)] + [DiskMedium.Choice.all] {
            try look(choice, &judge)
        }
    }

    private mutating func cut(_ time: Int, _ event: DiskEvent, _ judge: inout DiskJudge) throws {
        for choice in choices(time, event) {
            do {
                try look(choice, &judge)
            } catch {
                throw ProofFailure("\(choice): \(error)")
            }
        }
    }

    private mutating func look(
        _ choice: DiskMedium.Choice, _ judge: inout DiskJudge
    ) throws {
        // The end of the process alone loses no acknowledged transaction.
        var bound = judge.ledger.durable
        if case .all = choice { bound = judge.ledger.acknowledged }
        let image = medium.image(choice, &random)
        let finding = try judge.judge(image, from: bound, &random)
        guard finding.head != nil else { return }
        leftoverCount += 1
        if random.below(leftoverCount) == 0 { leftover = Leftover(image: image, finding: finding) }
    }

    private mutating func choices(_ time: Int, _ event: DiskEvent) -> [DiskMedium.Choice] {
        guard !medium.isSettled else { return [.all] }
        var choices: [DiskMedium.Choice] = [.none, .all]
        if event.kind == .write, event.data.count > DiskFile.sectorSize {
            let first = Int(event.offset) / DiskFile.sectorSize
            let count = (event.data.count + DiskFile.sectorSize - 1) / DiskFile.sectorSize
            choices.append(.torn(time, firstLost: first + 1 + random.below(count)))
            choices.append(.scattered(time))
        }
        let times = medium.times
        for _ in 0..<perCall where !times.isEmpty {
            let moment = times[random.below(times.count)]
            switch random.below(8) {
            case 0: choices.append(.before(moment))
            case 1: choices.append(.without(moment))
            case 2: choices.append(.only(moment))
            default: choices.append(.sectors(1 + random.below(7)))
            }
        }
        return choices
    }
}
