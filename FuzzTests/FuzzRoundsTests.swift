import TestSupport
import Testing

@Suite struct FuzzRoundsTests {
    @Test func `a fuzz runs for the given seconds`() {
        let start = ContinuousClock.now
        var count = 0
        for round in FuzzRounds(3, seconds: 0.5) {
            #expect(round == count)
            count += 1
        }
        let duration = ContinuousClock.now - start
        #expect(duration >= .seconds(0.5))
        #expect(count > 3)
    }

    @Test func `a fuzz without seconds runs its rounds`() {
        #expect(Array(FuzzRounds(3, seconds: 0)) == [0, 1, 2])
    }
}
