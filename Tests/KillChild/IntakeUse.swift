import ObjectGraph

/// An import of a file that is longer than memory should hold, and what the process took.
///
/// Prints a line `name value` for each figure, as ``LoadUse`` does.
struct IntakeUse {
    final class Item: CoreStoreObject, ImportableUniqueObject {
        @Field.Stored("key") var key: String = ""
        @Field.Stored("text") var text: String = ""
        @Field.Relationship("previous", inverse: \.$next) var previous: Item?
        @Field.Relationship("next") var next: Item?

        typealias ImportSource = [String: Any]
        typealias UniqueIDType = String
        static let uniqueIDKeyPath = "key"

        static var importableRelationships: [ImportableRelationship<ImportSource>] {
            [ImportableRelationship(\Item.$previous, key: "previous")]
        }

        static func uniqueID(
            from source: ImportSource, in transaction: BaseDataTransaction
        ) throws -> String? {
            source["key"] as? String
        }

        func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
            text = source["text"] as? String ?? ""
        }
    }

    let path: String
    let mebibytes: Int
    let cacheSizeInBytes: Int
    private var file: URL { URL(fileURLWithPath: path + ".jsonl") }

    func run() throws {
        let count = try writeSources()
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Item>("Item", uniqueConstraints: [[\.$key]])]))
        var options = EngineOptions()
        options.cacheSizeInBytes = cacheSizeInBytes
        try stack.addStorageAndWait(
            LocalStore(fileURL: URL(fileURLWithPath: path), engineOptions: options))
        KillChild.say("before \(LoadUse.memory("VmRSS"))")
        let progress = Progress(totalUnitCount: 0)
        let imported = try stack.perform(synchronous: { transaction in
            try transaction.importUniqueObjects(
                Into<Item>(), file: file, format: .jsonLines, progress: progress)
        })
        KillChild.say("most \(LoadUse.memory("VmHWM"))")
        KillChild.say("written \(count)")
        KillChild.say("imported \(imported)")
        KillChild.say("stored \(try stack.fetchCount(From<Item>()))")
        let linked = try stack.fetchCount(From<Item>().where(format: "previous != nil"))
        KillChild.say("linked \(linked)")
        KillChild.say("completed \(progress.completedUnitCount)")
        KillChild.say("size \(progress.totalUnitCount)")
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// Writes lines of about a third of a KiB, a part at a time. Returns how many.
    private func writeSources() throws -> Int {
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        var (number, size) = (0, 0)
        while size < mebibytes << 20 {
            var lines = ""
            for _ in 0..<1000 {
                let previous = number > 0 ? #", "previous": "\#(key(number - 1))""# : ""
                let text = String(repeating: "\(number) ", count: 40)
                lines += #"{"key": "\#(key(number))", "text": "\#(text)"\#(previous)}"# + "\n"
                number += 1
            }
            let bytes = Data(lines.utf8)
            try handle.write(contentsOf: bytes)
            size += bytes.count
        }
        return number
    }

    /// Unordered keys, as programs have them.
    private func key(_ number: Int) -> String {
        String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
    }
}
