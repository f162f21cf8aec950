import Proof
import TestSupport

/// A script of random steps. Each step and each list has random numbers of its own, so that others
/// can be left out.
struct ObservePlan {
    let seed: UInt64
    var lists = Array(0..<6)
    var steps = Array(0..<30)
    var sizeMax = Int.max

    init(seed: UInt64) { self.seed = seed }

    func random(_ number: Int) -> SeededRandom {
        // Mixed, because seeds that differ by the generator's own step give one sequence.
        var random = SeededRandom(seed: seed ^ UInt64(number + 1))
        return SeededRandom(seed: random.next())
    }

    /// A failure, with the steps that led to it.
    private struct Failure: Error, CustomStringConvertible {
        var description: String
        var stepCount: Int
    }

    @discardableResult
    func run() throws -> ObserveScript {
        let script = try ObserveScript(self)
        for (index, step) in steps.enumerated() {
            do {
                try script.step(random(step))
            } catch {
                throw Failure(
                    description: "\(error); steps: \(script.trace.joined(separator: "; ")); "
                        + "lists of \(script.requests)",
                    stepCount: index + 1)
            }
        }
        return script
    }

    /// Runs the script with fewer lists, steps and objects for as long as it fails. Returns the
    /// failure of the shortest.
    func shrunk(_ error: any Error) -> String {
        var (plan, last) = (self, error)
        let end = ContinuousClock.now + .seconds(20)
        func fails(_ change: (inout ObservePlan) -> Void) -> Bool {
            guard ContinuousClock.now < end else { return false }
            var shorter = plan
            change(&shorter)
            do {
                try shorter.run()
                return false
            } catch {
                (plan, last) = (shorter, error)
                return true
            }
        }
        if let failure = error as? Failure {
            plan.steps.removeLast(steps.count - failure.stepCount)
        }
        _ = lists.contains { list in fails { $0.lists = [list] } }
        for size in [2, 8, 20] where fails({ $0.sizeMax = size }) { break }
        var count = plan.steps.count / 2
        while count > 0 {
            var index = 0
            while index < plan.steps.count {
                let range = index..<min(index + count, plan.steps.count)
                if !fails({ $0.steps.removeSubrange(range) }) { index += count }
            }
            count /= 2
        }
        return "script \(seed) with lists \(plan.lists), steps \(plan.steps) and at most "
            + "\(plan.sizeMax) objects: \(last)"
            .replacing(#/\s+/#, with: " ")
    }
}
