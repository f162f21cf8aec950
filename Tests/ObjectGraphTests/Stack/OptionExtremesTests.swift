import ObjectGraph
import PageStore
import Proof
import TestSupport
import Testing

/// Numbers that a program may assign to options and pass to calls: none of them ends the process.
@Suite struct OptionExtremesTests {
    private static let numbers = [Int.min, -1, 0, 1, Int.max]
    private static let durations = [
        Duration.seconds(Int64.max) * -18,
        Duration(secondsComponent: .min, attosecondsComponent: 0),
        .nanoseconds(-1), .zero, Duration(secondsComponent: .max, attosecondsComponent: 0),
        .seconds(Int64.max) * 18,
    ]

    private func use(
        _ options: EngineOptions, _ files: SimulatedDisk, _ durability: Durability? = nil
    ) throws {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(
            LocalStore(
                fileURL: URL(fileURLWithPath: "/extremes"), files: files, engineOptions: options))
        for number in 0..<3 {
            try stack.perform(
                synchronous: { $0.create(Into<Dog>()).nickname = "\(number)" },
                durability: durability)
        }
        for number in Self.numbers {
            _ = try stack.vacuum(byteBudget: number)
            for other in Self.numbers {
                let found = try stack.perform { transaction in
                    try transaction.fetchAll(
                        From<Dog>(),
                        Tweak { ($0.fetchLimit, $0.fetchOffset) = (number, other) })
                }
                let rest = other > 0 ? max(0, 3 - min(other, 3)) : 3
                #expect(found.count == (number > 0 ? min(number, rest) : rest))
            }
        }
        _ = stack.statistics
        try stack.close()
    }

    @Test(arguments: numbers)
    func `a cache may have any size`(size: Int) throws {
        var options = EngineOptions()
        options.cacheSizeInBytes = size
        try use(options, SimulatedDisk(seed: 1))
    }

    @Test(arguments: numbers + [4095, 4097, 65_537, 131_072])
    func `a page of an impossible size is refused`(size: Int) throws {
        var options = EngineOptions()
        options.pageSizeInBytes = size
        let error = #expect(throws: CoreStoreError.self) {
            try use(options, SimulatedDisk(seed: 1))
        }
        #expect(error?.storeError?.code == .invalidArgument)
    }

    @Test(arguments: durations)
    func `timeouts and ages may be of any length`(duration: Duration) throws {
        var options = EngineOptions()
        options.writerTimeout = duration
        options.snapshotAgeMax = duration
        try use(options, SimulatedDisk(seed: 1))
    }

    /// A longer one is waited for: see `DurabilityTests`.
    @Test(arguments: durations.filter { $0 <= .zero })
    func `a delay of commits may be in the past`(duration: Duration) throws {
        var options = EngineOptions()
        options.durability = .grouped(maxDelay: duration)
        try use(options, SimulatedDisk(seed: 1))
        try use(EngineOptions(), SimulatedDisk(seed: 1), .grouped(maxDelay: duration))
    }
}
