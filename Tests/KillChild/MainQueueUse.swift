import ObjectGraph
import Synchronization

/// Two transactions with completions, of a program whose main thread waits, or serves its main
/// queue late; prints how many completions came and how many warnings there were.
struct MainQueueUse {
    private static let delayInMilliseconds = 1_000
    private static let completedCount = Atomic<Int>(0)

    /// Counts the warnings that nothing serves the main queue.
    private final class Counter: CoreStoreLogger {
        let count = Atomic<Int>(0)

        func log(
            level: LogLevel, message: String, fileName: StaticString, lineNumber: Int,
            functionName: StaticString
        ) {
            guard message.contains("nothing serves the main queue") else { return }
            count.wrappingAdd(1, ordering: .relaxed)
        }

        func log(
            error: CoreStoreError, message: String, fileName: StaticString, lineNumber: Int,
            functionName: StaticString
        ) {}

        func assert(
            _ condition: @autoclosure () -> Bool, message: @autoclosure () -> String,
            fileName: StaticString, lineNumber: Int, functionName: StaticString
        ) {}
    }

    /// `none`: nothing serves the main queue. `late`: it is served after a while. `queue`: the view
    /// lives on a queue of the program's. `default`: as `none`, with the library's own logger.
    let kind: String

    func run() throws {
        let counter = Counter()
        if kind != "default" { CoreStoreDefaults.logger = counter }
        MainQueueWatch.setDelay(inMilliseconds: Self.delayInMilliseconds)
        let stack = try KillChild.stack(
            path: "memory",
            viewContext: kind == "queue" ? .queue(DispatchQueue(label: "view")) : .main)
        perform(stack)
        if kind == "late" {
            Thread.sleep(forTimeInterval: 0.2)
            RunLoop.main.run(until: Date(timeIntervalSinceNow: 2))
        } else {
            Thread.sleep(forTimeInterval: 2)
            // After one warning no other follows.
            perform(stack)
            Thread.sleep(forTimeInterval: 2)
        }
        KillChild.say("completed \(Self.completedCount.load(ordering: .relaxed))")
        KillChild.say("warned \(counter.count.load(ordering: .relaxed))")
    }

    private func perform(_ stack: DataStack) {
        for _ in 0..<2 {
            stack.perform(
                asynchronous: { $0.create(Into<KillChild.Entry>()).batch = 1 },
                completion: { _ in Self.completedCount.wrappingAdd(1, ordering: .relaxed) })
        }
    }
}
