import Foundation
import ObjectGraph

/// M2: instructions of scans and lookups before a property was added, and after it by records that
/// still have the older layout. They do not depend on the machine: run under callgrind, which
/// counts those of the main thread.
struct MigratedReads {
    fileprivate enum Read: CaseIterable {
        case lookUp, scan, aggregate, newLookUp, newScan, newAggregate

        var title: String {
            switch self {
            case .lookUp: "lookups by unique e-mail, older properties read"
            case .scan: "scan of two older columns"
            case .aggregate: "aggregates of an older column"
            case .newLookUp: "lookups, the new property read, against an older one"
            case .newScan: "scan of the new column, against an older one"
            case .newAggregate: "aggregates of the new column, against an older one"
            }
        }

        var goal: Double {
            switch self {
            case .lookUp, .scan, .aggregate: 1.03
            case .newLookUp, .newScan, .newAggregate: 1.3
            }
        }
    }

    static let persons = 2000
    private static let lookUpCount = 500

    let directory: String

    // MARK: The counted process

    /// Does everything twice, on two stores: whatever a process does once is not counted.
    func runChild() throws {
        for round in 0..<2 {
            let path = directory + "/reads-\(round).store"
            defer {
                for suffix in ["", "-wal"] {
                    try? FileManager.default.removeItem(atPath: path + suffix)
                }
            }
            let store = try TrellisContender(path: path, cacheSizeInBytes: 64 << 20)
            try store.insert(
                persons: PersonSupply(count: Self.persons, stopwatch: Stopwatch()) { $0 })
            try store.settle()
            try store.close()
            for read in Read.allCases {
                try counted(LaterModel.first, path) { try read.run($0, EarlierPersons()) }
                // The first opening migrates; nothing writes the records anew.
                try counted(LaterModel.added, path + ".later", copyOf: path) {
                    try read.run($0, LaterPersons())
                }
            }
        }
    }

    private func counted(
        _ model: LaterModel, _ path: String, copyOf source: String? = nil,
        _ body: (DataStack) throws -> Void
    ) throws {
        if let source { try FileManager.default.copyItem(atPath: source, toPath: path) }
        defer {
            if source != nil {
                for suffix in ["", "-wal"] {
                    try? FileManager.default.removeItem(atPath: path + suffix)
                }
            }
        }
        if source != nil {
            let stack = try MigrationRow.migrate(model, path)
            stack.unsafeRemoveAllPersistentStoresAndWait()
        }
        let stack = try MigrationRow.migrate(model, path)
        try MigrationRow.queue.sync { try Callgrind.counted { try body(stack) } }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    // MARK: Counting

    func figures() throws -> [MigrationFigure] {
        let count = 2 * Read.allCases.count
        let counts = try Thresholds(file: "", directory: directory).instructions(
            ofMainThread: [
                "--child", "trellis-migrated", "--migrations", "1", "--directory", directory,
            ], count: 2 * count)
        return Read.allCases.enumerated().map { index, read in
            let (before, after) = (counts[count + 2 * index], counts[count + 2 * index + 1])
            return MigrationFigure(
                row: "M2", what: read.title, value: Double(after) / Double(before),
                unit: "× instructions", goal: read.goal)
        }
    }

    // MARK: Reads

    fileprivate static var emails: [String] {
        (0..<lookUpCount).map { PersonSource(number: $0 * 7 % persons).email }
    }
}

/// The reads, by the classes of one model.
private protocol CountedPersons {
    func lookUp(_ stack: DataStack, _ emails: [String], readsNew: Bool) throws -> Int
    func scan(_ stack: DataStack) throws -> Int
    func scanNew(_ stack: DataStack) throws -> Int
    func aggregate(_ stack: DataStack, ofNew: Bool) throws -> Int
}

extension MigratedReads.Read {
    fileprivate func run(_ stack: DataStack, _ persons: some CountedPersons) throws {
        let emails = MigratedReads.emails
        let count =
            switch self {
            case .lookUp: try persons.lookUp(stack, emails, readsNew: false)
            case .newLookUp: try persons.lookUp(stack, emails, readsNew: true)
            case .scan: try persons.scan(stack)
            case .newScan: try persons.scanNew(stack)
            case .aggregate: try persons.aggregate(stack, ofNew: false)
            case .newAggregate: try persons.aggregate(stack, ofNew: true)
            }
        guard count > 0 else { throw Options.Failure(message: "\(title) found nothing") }
    }
}

private struct EarlierPersons: CountedPersons {
    func lookUp(_ stack: DataStack, _ emails: [String], readsNew: Bool) throws -> Int {
        var sum = 0
        for email in emails {
            guard let person = try stack.fetchOne(From<Person>().where(\.$email == email)) else {
                continue
            }
            sum += person.name.utf8.count + person.age + (person.balance > 0 ? 1 : 0)
            sum += person.age
        }
        return sum
    }

    func scan(_ stack: DataStack) throws -> Int {
        try stack.fetchCount(
            From<Person>().where(
                \.$balance > 50_000 && Where<Person>("name CONTAINS[c] %@", "ab")))
    }

    func scanNew(_ stack: DataStack) throws -> Int {
        try stack.fetchCount(From<Person>().where(\.$age != 7))
    }

    func aggregate(_ stack: DataStack, ofNew: Bool) throws -> Int {
        let rows =
            ofNew
            ? try stack.queryAttributes(
                From<Person>().select(.count(\.$age, as: "count"), .sum(\.$age, as: "sum")))
            : try stack.queryAttributes(
                From<Person>().select(
                    .count(\.$balance, as: "count"), .sum(\.$balance, as: "sum")))
        return rows.first?["count"] as? Int ?? 0
    }
}

private struct LaterPersons: CountedPersons {
    func lookUp(_ stack: DataStack, _ emails: [String], readsNew: Bool) throws -> Int {
        var sum = 0
        for email in emails {
            guard
                let person = try stack.fetchOne(From<Added.Person>().where(\.$email == email))
            else { continue }
            sum += person.name.utf8.count + person.age + (person.credit > 0 ? 1 : 0)
            sum += readsNew ? person.score : person.age
        }
        return sum
    }

    func scan(_ stack: DataStack) throws -> Int {
        try stack.fetchCount(
            From<Added.Person>().where(
                \.$credit > 50_000 && Where<Added.Person>("name CONTAINS[c] %@", "ab")))
    }

    func scanNew(_ stack: DataStack) throws -> Int {
        try stack.fetchCount(From<Added.Person>().where(\.$score != 8))
    }

    func aggregate(_ stack: DataStack, ofNew: Bool) throws -> Int {
        let rows =
            ofNew
            ? try stack.queryAttributes(
                From<Added.Person>().select(
                    .count(\.$score, as: "count"), .sum(\.$score, as: "sum")))
            : try stack.queryAttributes(
                From<Added.Person>().select(
                    .count(\.$credit, as: "count"), .sum(\.$credit, as: "sum")))
        return rows.first?["count"] as? Int ?? 0
    }
}
