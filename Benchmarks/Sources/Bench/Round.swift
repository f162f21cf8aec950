import Foundation

/// One contender's part of a round, run in a process of its own.
struct Round {
    var contender: any Contender.Type
    var directory: String
    var personCount: Int
    var personsPerTransaction: Int
    var lookupCount: Int

    func run() throws -> [Measurement] {
        let path = directory + "/\(contender.name).store"
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        var measurements: [Measurement] = []
        func measure(_ workload: String, _ operations: Int, _ body: () throws -> UInt64) rethrows {
            let before = Reading.now()
            let checksum = try body()
            let after = Reading.now()
            measurements.append(
                Measurement(
                    contender: contender.name, workload: workload, operations: operations,
                    wallSeconds: after.wall - before.wall, cpuSeconds: after.cpu - before.cpu,
                    bytesWritten: after.bytesWritten - before.bytesWritten,
                    peakResidentBytes: Reading.peakResidentBytes(), fileBytes: fileBytes(path),
                    checksum: checksum))
        }
        var store = try contender.init(path: path)
        try measure("import", personCount) {
            for start in stride(from: 0, to: personCount, by: personsPerTransaction) {
                try store.insert(start..<min(start + personsPerTransaction, personCount))
            }
            try store.close()
            return 0
        }
        var random = SplitMix64(state: 42)
        let emails = (0..<lookupCount).map { _ in
            PersonSource(number: Int(random.next() % UInt64(personCount))).email
        }
        try measure("reopen", 1) {
            store = try contender.init(path: path)
            return try store.lookUp(emails: [emails[0]])
        }
        try measure("point fetch", lookupCount) { try store.lookUp(emails: emails) }
        try measure("range fetch", personCount * 3 / 73) { try store.persons(ages: 31...33) }
        try store.close()
        return measurements
    }

    private func fileBytes(_ path: String) -> UInt64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + suffix)
            return sum + ((attributes?[.size] as? NSNumber)?.uint64Value ?? 0)
        }
    }
}
