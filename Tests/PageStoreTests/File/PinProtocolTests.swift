import Foundation
import Testing

/// Every order of the steps of a writer and of readers, up to a few checkpoints and commits.
@Suite struct PinProtocolTests {
    struct Outcome {
        var stateCount = 0
        var broken: PinProtocolModel?
    }

    /// Walks through all states that can be reached.
    private func explore(
        _ kinds: [PinProtocolModel.ReaderKind], _ mutant: PinProtocolModel.Mutant,
        generationMax: Int, commitMax: Int
    ) -> Outcome {
        let start = PinProtocolModel(kinds)
        var seen: Set<PinProtocolModel> = [start]
        var open = [start]
        while let state = open.popLast() {
            if state.isBroken { return Outcome(stateCount: seen.count, broken: state) }
            let next = state.next(mutant, generationMax: generationMax, commitMax: commitMax)
            for state in next where seen.insert(state).inserted { open.append(state) }
        }
        return Outcome(stateCount: seen.count)
    }

    /// The last generation explored: the number of states grows eightfold with each one.
    private static let generationMax =
        ProcessInfo.processInfo.environment["TRELLIS_LONG"] == nil ? 5 : 6

    @Test(arguments: [[.newest], [.previous]] as [[PinProtocolModel.ReaderKind]])
    func `no order of steps frees pages that a reader shows`(
        kinds: [PinProtocolModel.ReaderKind]
    ) {
        let outcome = explore(kinds, .none, generationMax: Self.generationMax, commitMax: 2)
        #expect(outcome.broken == nil)
        #expect(outcome.stateCount > 10_000)
        print("pin protocol: \(kinds), \(outcome.stateCount) states")
    }

    @Test func `readers of two kinds are safe beside each other`() {
        let outcome = explore(
            [.newest, .previous], .none, generationMax: Self.generationMax - 2, commitMax: 1)
        #expect(outcome.broken == nil)
        #expect(outcome.stateCount > 10_000)
        print("pin protocol: both kinds, \(outcome.stateCount) states")
    }

    @Test(arguments: PinProtocolModel.Mutant.allCases.filter { $0 != .none })
    func `a protocol without one of its rules frees pages that a reader shows`(
        mutant: PinProtocolModel.Mutant
    ) {
        // A reader of the newest generation is safe for one more checkpoint.
        let kind: PinProtocolModel.ReaderKind =
            mutant == .writerAsksBeforeTheSuperblock ? .previous : .newest
        let outcome = explore([kind], mutant, generationMax: 5, commitMax: 2)
        #expect(outcome.broken != nil, "\(mutant) is not missed")
    }
}
