import ObjectGraph
import TestSupport

/// A child process for tests: one that can be killed, holds a store, forks, or has its own main
/// thread.
///
/// `KillChild write PATH` commits batches of objects until it is killed, and writes each batch's
/// number to standard output once the commit has been acknowledged. `read` prints the batches that
/// are there, each with the count of its objects and links. `hold` keeps the store open until its
/// input ends. `churn` writes while another thread checkpoints all the time; `watch`, `keep` and
/// `follow` read beside it. `fork` uses the store on both sides of a fork. `busy` runs
/// transactions on the main thread beside others. `denied` opens stores in a folder that it has no
/// rights in. `load` makes objects in one transaction: how many, and with how many MiB of cache,
/// say two more arguments. `intake` imports a file of so many MiB likewise. `fill` makes so many
/// objects of an earlier model, `migrate` brings them to a later one, in chunks of so many objects,
/// with so many MiB of cache, and freeing so many pages at once, and `tell` says which of the two
/// is there. `completions` runs transactions with or without a main loop. `measure OUTPUT
/// PROGRAM …` runs another program and prints its time and memory.
@main
struct KillChild {
    final class Entry: CoreStoreObject {
        @Field.Stored("batch") var batch: Int = 0
        @Field.Stored("position") var position: Int = 0
        @Field.Stored("text") var text: String = ""
        @Field.Relationship("previous", inverse: \.$next) var previous: Entry?
        @Field.Relationship("next") var next: Entry?
    }

    static func stack(
        path: String, viewContext: ViewContext = .main,
        _ change: (inout EngineOptions) -> Void = { _ in }
    ) throws -> DataStack {
        var options = EngineOptions()
        change(&options)
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Entry>("Entry", indexes: [[\.$batch], [\.$text]])]),
            viewContext: viewContext)
        if path == "memory" {
            try stack.addStorageAndWait(InMemoryStore())
        } else {
            try stack.addStorageAndWait(
                LocalStore(fileURL: URL(fileURLWithPath: path), engineOptions: options))
        }
        return stack
    }

    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 5, ["load", "state"].contains(arguments[1]),
            let count = Int(arguments[3]), let mebibytes = Int(arguments[4])
        {
            let cacheSize = mebibytes << 20
            let use = LoadUse(path: arguments[2], count: count, cacheSizeInBytes: cacheSize)
            return try arguments[1] == "load" ? use.run() : use.state()
        }
        if arguments.count == 5, arguments[1] == "intake", let size = Int(arguments[3]),
            let mebibytes = Int(arguments[4])
        {
            return try IntakeUse(
                path: arguments[2], mebibytes: size, cacheSizeInBytes: mebibytes << 20
            ).run()
        }
        if arguments.count == 4, arguments[1] == "fill", let count = Int(arguments[3]) {
            return try MigrateUse(path: arguments[2]).fill(count)
        }
        if arguments.count == 5 || arguments.count == 6, arguments[1] == "migrate",
            let chunk = Int(arguments[3]), let mebibytes = Int(arguments[4])
        {
            var options = EngineOptions()
            if arguments.count == 6 { options.migrationDropPagesMax = Int(arguments[5]) }
            options.cacheSizeInBytes = mebibytes << 20
            if chunk > 0 { options.migrationChunkRowsMax = chunk }
            return try MigrateUse(path: arguments[2]).migrate(options)
        }
        if arguments.count > 3, arguments[1] == "measure" {
            return MeasureUse(output: arguments[2], command: Array(arguments[3...])).run()
        }
        guard arguments.count == 3 else { exit(2) }
        if arguments[1] == "denied" { return DeniedUse(folder: arguments[2]).run() }
        if arguments[1] == "completions" { return try MainQueueUse(kind: arguments[2]).run() }
        let reading = ReadingUse(path: arguments[2])
        switch arguments[1] {
        case "watch": return try reading.watch()
        case "keep": return try reading.keep()
        case "follow": try reading.follow()
        case "migrate": return try MigrateUse(path: arguments[2]).migrate()
        case "tell": return try MigrateUse(path: arguments[2]).tell()
        default: break
        }
        let stack = try stack(path: arguments[2])
        switch arguments[1] {
        case "read":
            try read(stack)
            if let excess = PeakMemory.excess(over: 160) {
                say(excess)
                exit(4)
            }
        case "hold": hold(stack)
        case "fork": try ForkedUse(stack: stack).run()
        case "busy": try MainThreadUse(stack: stack).run()
        case "churn":
            Thread.detachNewThread { checkpoint(stack) }
            try write(stack)
        default: try write(stack)
        }
    }

    private static func checkpoint(_ stack: DataStack) {
        while true {
            do {
                try stack.checkpoint()
            } catch {
                say("a checkpoint failed: \(error)")
                exit(3)
            }
            usleep(5000)
        }
    }

    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    private static func hold(_ stack: DataStack) {
        say("open")
        _ = FileHandle.standardInput.readDataToEndOfFile()
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    private static func write(_ stack: DataStack) throws {
        var batch = (try stack.queryValue(From<Entry>().select(Int.self, .maximum(\.$batch)))) ?? 0
        while true {
            batch += 1
            let number = batch
            try stack.perform(synchronous: { transaction in
                var previous: Entry?
                for position in 0..<(1 + number % 40) {
                    let entry = transaction.create(Into<Entry>())
                    entry.batch = number
                    entry.position = position
                    entry.text = "batch \(number), entry \(position)"
                    entry.previous = previous
                    previous = entry
                }
                // Old batches are deleted, so that space is reused.
                if number > 60 {
                    try transaction.deleteAll(From<Entry>().where(\.$batch == number - 60))
                }
            })
            say("\(number)")
        }
    }

    private static func read(_ stack: DataStack) throws {
        let rows = try stack.queryAttributes(
            From<Entry>().select(.attribute(\.$batch), .count(\.$position, as: "count"))
                .groupBy(\.$batch))
        for row in rows {
            let batch = row["batch"] as? Int64 ?? -1
            let links = try stack.fetchCount(
                From<Entry>().where(format: "batch == %d AND previous != nil", Int(batch)))
            print("\(batch) \(row["count"] as? Int64 ?? -1) \(links)")
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }
}
