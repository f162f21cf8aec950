import Foundation

/// One contender's part of a round, in a process of its own: all workloads, one after the other,
/// on one store. Those that are not asked for run too when later ones need what they store.
final class Round<Store: Contender> {
    let entry: Entry
    let options: Options
    let stage: Stage
    private let path: String
    private var store: Store
    private var handles: [Store.Handle] = []
    /// Who is left after the deletion.
    private var survivors: [Store.Handle] = []
    private var measurements: [Measurement] = []
    private var random = SplitMix64(state: 42)
    private var personCount: Int { stage.persons }
    private var lookupCount: Int { min(personCount, 50_000) }
    /// At most two hundred, fewer where they would change the store's size much.
    private var transactionCount: Int { min(max(personCount / 500, 20), 200) }

    init(_ type: Store.Type, entry: Entry, options: Options, stage: Stage) throws {
        self.stage = stage
        self.entry = entry
        self.options = options
        path = options.directory + "/\(entry.name).store"
        for suffix in Self.suffixes { try? FileManager.default.removeItem(atPath: path + suffix) }
        store = try Store(path: path, cacheSizeInBytes: stage.cacheSizeInBytes)
    }

    private static var suffixes: [String] { ["", "-wal", "-shm", "-lock"] }

    func run() throws -> [Measurement] {
        defer {
            for suffix in Self.suffixes {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        for workload in Workload.allCases
        where entry.isStore || !workload.needsStore || workload.changes {
            let isAsked = options.workloads.contains(workload)
            let isNeeded = workload == .insertPersons || workload == .insertDogs
            guard isAsked || isNeeded else { continue }
            try run(workload)
            if workload.changes { try verify(workload) }
        }
        try store.close()
        return measurements.filter { measurement in
            let name = measurement.workload.split(separator: " ")[0]
            guard let workload = Workload(rawValue: String(name)) else { return false }
            return options.workloads.contains(workload)
                && (entry.isStore || !workload.needsStore)
        }
    }

    private func run(_ workload: Workload) throws {
        switch workload {
        case .insertPersons: try insertPersons()
        case .insertDogs: try insertDogs()
        case .openCold: try openCold()
        case .lookUp, .lookUpEach: try lookUp(workload)
        case .fetchByID: try fetchByID()
        case .fetchSorted: try fetchSorted()
        case .scan: try scan()
        case .aggregate: try aggregate()
        case .group: try group()
        case .relationships: try relationships()
        case .smallTransactions: try commits(workload, personsEach: 100, firstNumber: personCount)
        case .singleCommits:
            try commits(workload, personsEach: 1, firstNumber: 2 * personCount + 20_000)
        case .update: try update()
        case .importUnique: try importUnique()
        case .delete: try delete()
        case .readBesideWriter: try readBesideWriter()
        }
    }

    // MARK: Measuring

    /// Runs a workload with the clocks on. They stop for the wall when the body ends, and for the
    /// processor when what it wrote is where it stays.
    private func measure(
        _ workload: String, operations: Int, settles: Bool = false,
        _ body: (Stopwatch) throws -> UInt64
    ) throws {
        ProcessCounters.resetPeak()
        let bytesBefore = ProcessCounters.bytesWritten()
        let countsBefore = store.counts()
        let stopwatch = Stopwatch()
        var wall = 0.0
        let checksum = try Callgrind.counted {
            stopwatch.resume()
            let checksum = try body(stopwatch)
            stopwatch.pause()
            wall = stopwatch.wall
            if settles {
                stopwatch.resume()
                try store.settle()
                stopwatch.pause()
            }
            return checksum
        }
        let counts = store.counts().merging(countsBefore) { $0 > $1 ? $0 - $1 : 0 }
        measurements.append(
            Measurement(
                contender: entry.name, workload: workload, operations: operations,
                wallSeconds: wall, cpuSeconds: stopwatch.cpu,
                bytesWritten: ProcessCounters.bytesWritten() - bytesBefore,
                peakResidentBytes: ProcessCounters.peakResidentBytes(), fileBytes: fileBytes(),
                checksum: checksum, counts: counts))
    }

    private func measure(
        _ workload: Workload, operations: Int, settles: Bool = false,
        _ body: (Stopwatch) throws -> UInt64
    ) throws {
        try measure(workload.rawValue, operations: operations, settles: settles, body)
    }

    private func fileBytes() -> UInt64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + suffix)
            return sum + ((attributes?[.size] as? NSNumber)?.uint64Value ?? 0)
        }
    }

    /// Adds every column of every object to the checksum of what was just written, off the clock.
    private func verify(_ workload: Workload) throws {
        var checksum = Checksum()
        for age in PersonSource.ages { try store.readSorted(ages: age...age, into: &checksum) }
        checksum.addNext(checksum.count)
        if workload == .insertDogs || workload == .delete {
            for age in 0..<16 { try store.readDogs(age: age, into: &checksum) }
            checksum.addNext(checksum.count)
        }
        measurements[measurements.count - 1].checksum &+= checksum.value
    }

    private func randomNumber(below bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

    private func randomEmails(_ count: Int) -> [String] {
        (0..<count).map { _ in PersonSource(number: randomNumber(below: personCount)).email }
    }

    private func allHandles() throws -> [Store.Handle] {
        let handles = try store.handles(personCount: personCount)
        guard handles.count == personCount else {
            throw Options.Failure(
                message: "\(entry.name) finds \(handles.count) of \(personCount) persons again")
        }
        return handles
    }

    private func randomHandles(_ count: Int) throws -> [Store.Handle] {
        if handles.isEmpty { handles = try allHandles() }
        return (0..<count).map { _ in handles[randomNumber(below: personCount)] }
    }

    // MARK: Writing

    private func insertPersons() throws {
        try measure(.insertPersons, operations: personCount, settles: true) { stopwatch in
            try store.insert(
                persons: PersonSupply(count: personCount, stopwatch: stopwatch) { $0 })
            return 0
        }
    }

    private func insertDogs() throws {
        let owners = try allHandles()
        try measure(.insertDogs, operations: 2 * personCount, settles: true) { stopwatch in
            try store.insert(
                dogs: DogSupply(count: 2 * personCount, owners: owners, stopwatch: stopwatch))
            return 0
        }
    }

    private func commits(_ workload: Workload, personsEach: Int, firstNumber: Int) throws {
        let count = transactionCount
        try measure(workload, operations: count, settles: true) { stopwatch in
            for index in 0..<count {
                let first = firstNumber + index * personsEach
                try store.insert(
                    persons: PersonSupply(count: personsEach, stopwatch: stopwatch) { first + $0 })
            }
            return 0
        }
    }

    private func update() throws {
        let persons = try randomHandles(personCount / 2)
        let updates = persons.map {
            (person: $0, age: PersonSource.ages.lowerBound + randomNumber(below: 73))
        }
        try measure(.update, operations: updates.count, settles: true) { _ in
            try store.update(ages: updates)
            return 0
        }
    }

    /// Every second person is there already; the others are new.
    private func importUnique() throws {
        let firstNew = 3 * personCount + 40_000
        try measure(.importUnique, operations: personCount, settles: true) { stopwatch in
            try store.importUnique(
                persons: PersonSupply(count: personCount, revision: 1, stopwatch: stopwatch) {
                    $0 % 2 == 0 ? $0 : firstNew + $0
                })
            return 0
        }
    }

    private func delete() throws {
        _ = try randomHandles(0)
        var doomed = stride(from: 1, to: personCount, by: 2).map { handles[$0] }
        doomed.shuffle(using: &random)
        survivors = stride(from: 0, to: personCount, by: 2).map { handles[$0] }
        handles = []
        try measure(.delete, operations: doomed.count, settles: true) { _ in
            try store.delete(persons: doomed)
            return 0
        }
    }

    // MARK: Reading

    private func openCold() throws {
        let email = PersonSource(number: personCount / 2).email
        handles = []
        let count = 5
        try store.close()
        try measure(.openCold, operations: count) { stopwatch in
            var checksum = Checksum()
            for _ in 0..<count {
                stopwatch.standing { evict() }
                store = try Store(path: path, cacheSizeInBytes: stage.cacheSizeInBytes)
                try store.read(email: email, into: &checksum)
                var closed = Result<Void, any Error>.success(())
                stopwatch.standing { closed = Result { try store.close() } }
                try closed.get()
            }
            return checksum.value
        }
        store = try Store(path: path, cacheSizeInBytes: stage.cacheSizeInBytes)
    }

    /// Asks the system to forget the file's pages.
    private func evict() {
        guard let file = FileHandle(forReadingAtPath: path) else { return }
        fsync(file.fileDescriptor)
        posix_fadvise(file.fileDescriptor, 0, 0, POSIX_FADV_DONTNEED)
        try? file.close()
    }

    private func lookUp(_ workload: Workload) throws {
        let emails = randomEmails(lookupCount)
        try measure(workload, operations: lookupCount) { _ in
            var checksum = Checksum()
            if workload == .lookUp {
                try store.read(emails: emails, into: &checksum)
            } else {
                for email in emails { try store.read(email: email, into: &checksum) }
            }
            checksum.addNext(checksum.count)
            return checksum.value
        }
    }

    private func fetchByID() throws {
        let persons = try randomHandles(lookupCount)
        try measure(.fetchByID, operations: lookupCount) { _ in
            var checksum = Checksum()
            try store.read(persons: persons, into: &checksum)
            checksum.addNext(checksum.count)
            return checksum.value
        }
    }

    private func fetchSorted() throws {
        try measure(.fetchSorted, operations: personCount * 9 / 73) { _ in
            var checksum = Checksum()
            try store.readSorted(ages: 31...39, into: &checksum)
            return checksum.value
        }
    }

    private func scan() throws {
        try measure(.scan, operations: personCount) { _ in
            UInt64(try store.count(balanceAbove: 50_000, nameContains: "ab"))
        }
    }

    private func aggregate() throws {
        try measure(.aggregate, operations: personCount) { _ in
            let summary = try store.balances()
            var checksum = Checksum()
            checksum.addNext(summary.count)
            for number in [summary.sum, summary.average, summary.minimum, summary.maximum] {
                checksum.addNext(number)
            }
            return checksum.value
        }
    }

    private func group() throws {
        try measure(.group, operations: personCount) { _ in
            var checksum = Checksum()
            for group in try store.ages() {
                checksum.addNext(group.age)
                checksum.addNext(group.count)
                checksum.addNext(group.averageBalance)
            }
            return checksum.value
        }
    }

    private func relationships() throws {
        let owners = try randomHandles(lookupCount)
        try measure(.relationships, operations: lookupCount) { _ in
            var checksum = Checksum()
            try store.readDogs(owners: owners, into: &checksum)
            checksum.addNext(checksum.count)
            return checksum.value
        }
    }

    // MARK: Both

    /// A writer alone, then beside a reader, both for a time: what counts is how much they do.
    /// The reader is on the main thread, where a stack's objects live.
    private func readBesideWriter() throws {
        let writable = survivors.isEmpty ? try allHandles() : survivors
        let writer = WriterThread(store: store, persons: writable)
        let alone = try writer.run(seconds: 1) {}
        note("W13 writer alone", alone)
        // Even numbers are never deleted.
        let emails = (0..<10_000).map { _ in
            PersonSource(number: randomNumber(below: personCount) & ~1).email
        }
        let reader = try store.reader()
        var checksum = Checksum()
        var lookups = Work()
        let beside = try writer.run(seconds: 2) {
            lookups = try Work.measure(seconds: 2) { index in
                try reader.read(email: emails[index % emails.count], into: &checksum)
            }
        }
        guard checksum.count == lookups.operations else {
            throw Options.Failure(message: "\(entry.name) missed persons beside a writer")
        }
        note("W13 writer", beside)
        note("W13 reader", lookups)
        if reader !== store { try reader.close() }
    }

    private func note(_ workload: String, _ work: Work) {
        measurements.append(
            Measurement(
                contender: entry.name, workload: workload, operations: work.operations,
                wallSeconds: work.wall, cpuSeconds: work.cpu, bytesWritten: 0,
                peakResidentBytes: ProcessCounters.peakResidentBytes(), fileBytes: fileBytes(),
                checksum: 0))
    }
}
