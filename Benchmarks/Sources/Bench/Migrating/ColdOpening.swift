import Foundation
import ObjectGraph

/// M9: a migrated store and one that was made by the same model are opened cold in turn, with one
/// lookup each, as in W12.
struct ColdOpening {
    private static let turnCount = 41

    let directory: String
    let persons: Int
    /// A store of the first model.
    let source: String

    func figures() throws -> [MigrationFigure] {
        let (migrated, made) = (directory + "/migrated.store", directory + "/made.store")
        defer {
            for path in [migrated, made] {
                for suffix in ["", "-wal"] {
                    try? FileManager.default.removeItem(atPath: path + suffix)
                }
            }
        }
        try FileManager.default.copyItem(atPath: source, toPath: migrated)
        let stack = try MigrationRow.migrate(.widened, migrated)
        try stack.checkpoint()
        stack.unsafeRemoveAllPersistentStoresAndWait()
        try fill(made)
        let paths = [migrated, made]
        var (walls, processors): ([[Double]], [[Double]]) = ([[], []], [[], []])
        for turn in 0..<Self.turnCount {
            for store in turn.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                let stopwatch = try open(paths[store])
                walls[store].append(stopwatch.wall)
                processors[store].append(stopwatch.cpu)
            }
        }
        func ratio(_ figures: [[Double]]) -> Double {
            (Stage.median(figures[0]) ?? .nan) / (Stage.median(figures[1]) ?? .nan)
        }
        let what = "a migrated store (M4) opened cold with one lookup, against one made so"
        return [
            MigrationFigure(row: "M9", what: what, value: ratio(walls), unit: "× wall", goal: 1.05),
            MigrationFigure(
                row: "M9", what: what, value: ratio(processors), unit: "× CPU", goal: 1.05),
        ]
    }

    private func open(_ path: String) throws -> Stopwatch {
        if let file = FileHandle(forReadingAtPath: path) {
            fsync(file.fileDescriptor)
            posix_fadvise(file.fileDescriptor, 0, 0, POSIX_FADV_DONTNEED)
            try? file.close()
        }
        let email = PersonSource(number: persons / 2).email
        let stopwatch = Stopwatch()
        stopwatch.resume()
        let stack = DataStack(
            LaterModel.widened.schema, viewContext: .queue(MigrationRow.queue))
        try stack.addStorageAndWait(LocalStore(fileURL: URL(fileURLWithPath: path)))
        let age = try MigrationRow.queue.sync {
            try stack.fetchOne(From<Widened.Person>().where(\.$email == email))?.age ?? 0
        }
        stopwatch.pause()
        stack.unsafeRemoveAllPersistentStoresAndWait()
        guard age > 0 else { throw Options.Failure(message: "\(path) lacks \(email)") }
        return stopwatch
    }

    /// Fills a store of the later model as the migrated one was filled: with another cache, trees
    /// of other shapes would come of the same objects.
    private func fill(_ path: String) throws {
        let stack = DataStack(
            LaterModel.widened.schema, viewContext: .queue(MigrationRow.queue))
        var options = EngineOptions()
        options.cacheSizeInBytes = MigrationBench.filledCacheSizeInBytes
        try stack.addStorageAndWait(
            LocalStore(fileURL: URL(fileURLWithPath: path), engineOptions: options))
        let supply = PersonSupply(count: persons, stopwatch: Stopwatch()) { $0 }
        let ids = try stack.perform(synchronous: { transaction in
            supply.map { source in
                let person = transaction.create(Into<Widened.Person>())
                person.name = source.name
                person.email = source.email
                person.age = Double(source.age)
                person.balance = source.balance
                person.createdAt = source.createdAt
                person.bio = source.bio
                return person.objectID()
            }
        })
        let dogs = DogSupply(count: 2 * persons, owners: ids, stopwatch: Stopwatch())
        try stack.perform(synchronous: { transaction in
            for (source, owner) in dogs {
                let dog = transaction.create(Into<Widened.Dog>())
                dog.nickname = source.nickname
                dog.age = source.age
                dog.owner = transaction.edit(Into<Widened.Person>(), owner)
            }
        })
        try stack.checkpoint()
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }
}
