import Synchronization
import TestSupport
import Testing

@testable import PageStore

/// Work beside a caller ends before the caller goes on, whoever did it.
@Suite struct SideWorkTests {
    private final class Kept: Sendable {
        let count = Atomic(0)
    }

    private func engine(isBusy: Bool) throws -> Engine {
        var options = Engine.Options()
        if isBusy { options.schedule = DirectSchedule(begins: false) }
        return try Engine.inMemory(options: options)
    }

    @Test(arguments: [false, true])
    func `both values come back`(isBusy: Bool) throws {
        let engine = try engine(isBusy: isBusy)
        for number in 0..<100 {
            let values = try engine.run {
                number
            } beside: { isGivenUp in
                isGivenUp() ? -1 : number + 1
            }
            #expect(values == (number, number + 1))
        }
    }

    @Test(arguments: [false, true])
    func `work is over when its body has failed`(isBusy: Bool) throws {
        let engine = try engine(isBusy: isBusy)
        for _ in 0..<100 {
            let kept = Kept()
            let error = #expect(throws: StoreError.self) {
                _ = try engine.run { () throws(StoreError) -> Int in
                    throw StoreError(.closed, "own")
                } beside: { isGivenUp throws(StoreError) -> Int in
                    while !isGivenUp() {}
                    kept.count.add(1, ordering: .relaxed)
                    throw StoreError(.closed, "other")
                }
            }
            #expect(error?.message == "own")
            #expect(kept.count.load(ordering: .relaxed) == 1)
        }
    }

    @Test(arguments: [false, true])
    func `an error of the work comes after the body`(isBusy: Bool) throws {
        let engine = try engine(isBusy: isBusy)
        let kept = Kept()
        let error = #expect(throws: StoreError.self) {
            _ = try engine.run {
                kept.count.add(1, ordering: .relaxed)
            } beside: { _ throws(StoreError) -> Int in
                throw StoreError(.closed, "other")
            }
        }
        #expect(error?.message == "other")
        #expect(kept.count.load(ordering: .relaxed) == 1)
    }

    /// Where the system comes to it late, it must not keep what the work has read.
    @Test func `work that is done holds nothing`() throws {
        let engine = try engine(isBusy: true)
        weak var last: Kept?
        do {
            let kept = Kept()
            last = kept
            let side = SideWork(nil) { _ in kept.count.add(1, ordering: .relaxed).newValue }
            #expect(try side.value() == 1)
            _ = consume kept
            withExtendedLifetime(side) { #expect(last == nil) }
        }
        try engine.close()
    }
}
