import ObjectGraph
import Testing

/// The bytes that small commits write.
@Suite struct CommitSizeTests {
    final class Reading: CoreStoreObject {
        @Field.Stored("sensor") var sensor: String = ""
        @Field.Stored("minute") var minute: Int = 0
        @Field.Stored("place") var place: String = ""
        @Field.Stored("value") var value: Double = 0
        @Field.Stored("note") var note: String = ""
    }

    private func stack(_ url: URL) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Reading>(
                        "Reading", indexes: [[\.$sensor], [\.$minute], [\.$place]])
                ]), viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        return stack
    }

    private func fill(_ reading: Reading, _ number: Int) {
        reading.sensor = "sensor \(number &* 7919 % 10_007)"
        reading.minute = number &* 104_729 % 100_003
        reading.place = "place \(number &* 31 % 1009)"
        reading.value = Double(number) / 7
        reading.note = "a note on reading number \(number)"
    }

    @Test func `one object with three indexes takes under two KiB of log`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = try stack(url)
        try stack.perform(synchronous: { transaction in
            for number in 0..<20_000 { fill(transaction.create(Into<Reading>()), number) }
        })
        func median(_ body: (Int) throws -> Void) throws -> UInt64 {
            var sizes: [UInt64] = []
            for round in 0..<41 {
                let before = stack.statistics.bytesWritten
                try body(round)
                sizes.append(stack.statistics.bytesWritten - before)
            }
            return sizes.sorted()[20]
        }
        let created = try median { round in
            try stack.perform(synchronous: {
                fill($0.create(Into<Reading>()), 1_000_000 + round * 37)
            })
        }
        #expect(created < 2 << 10, "\(created) bytes an object")
        let changed = try median { round in
            try stack.perform(synchronous: { transaction in
                let reading = try #require(
                    try transaction.fetchOne(
                        From<Reading>().where(\.$note == "a note on reading number \(round)")))
                reading.minute += 50_000
            })
        }
        #expect(changed < 2 << 10, "\(changed) bytes a changed attribute")
        print("bytes of log: \(created) an object, \(changed) a changed indexed attribute")
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }
}
