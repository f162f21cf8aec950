import ObjectGraph

/// A program that is killed: it commits batches of objects to a store, and writes each batch's
/// number to standard output once the commit has been acknowledged.
@main
struct KillChild {
    final class Entry: CoreStoreObject {
        @Field.Stored("batch") var batch: Int = 0
        @Field.Stored("position") var position: Int = 0
        @Field.Stored("text") var text: String = ""
        @Field.Relationship("previous", inverse: \.$next) var previous: Entry?
        @Field.Relationship("next") var next: Entry?
    }

    static func stack(path: String) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Entry>("Entry", indexes: [[\.$batch], [\.$text]])]))
        try stack.addStorageAndWait(LocalStore(fileURL: URL(fileURLWithPath: path)))
        return stack
    }

    /// `KillChild write PATH` commits until it is killed; `KillChild read PATH` prints the batches
    /// that are there, each with the count of its objects and links.
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { exit(2) }
        let stack = try stack(path: arguments[2])
        if arguments[1] == "read" {
            try read(stack)
        } else {
            try write(stack)
        }
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
                // Old batches go, so that space is used again.
                if number > 60 {
                    try transaction.deleteAll(From<Entry>().where(\.$batch == number - 60))
                }
            })
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
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
