import Foundation
import ObjectGraph
import Testing

/// A property that moves within its line with the earlier name that it has stated for long.
@Suite struct MovedStatementTests {
    enum V1 {
        class Device: CoreStoreObject {
            @Field.Stored("mark", previousVersionKeyPath: "sign") var mark: Int = 0
        }
        final class Phone: Device {
            /// Has nothing to do with the one that "mark" once was.
            @Field.Stored("sign") var sign: Int = 0
        }
    }

    /// The superclass is gone, and with it the other property of the earlier name.
    enum V2 {
        final class Phone: CoreStoreObject {
            @Field.Stored("mark", previousVersionKeyPath: "sign") var mark: Int = 0
        }
    }

    /// From the subclass up to the class that has the other property.
    enum V3 {
        class Device: CoreStoreObject {
            @Field.Stored("sign") var sign: Int = 0
        }
        final class Phone: Device {
            @Field.Stored("mark", previousVersionKeyPath: "sign") var mark: Int = 0
        }
    }

    enum V4 {
        class Device: CoreStoreObject {
            @Field.Stored("mark", previousVersionKeyPath: "sign") var mark: Int = 0
        }
        final class Phone: Device {
        }
    }

    private let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("moved-\(UUID().uuidString).trellis")
    private let queue = DispatchQueue(label: "view")

    private func stack(_ version: String, _ entities: [DynamicEntity]) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: version, entities: entities),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(
            LocalStore(
                fileURL: url,
                localStorageOptions: [.allowSynchronousLightweightMigration, .allowDataLoss]))
        return stack
    }

    @Test func `a statement that moved down took the values of another property`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try stack(
            "V1", [Entity<V1.Device>("Device"), Entity<V1.Phone>("Phone")])
        try first.perform(synchronous: { transaction in
            let phone = transaction.create(Into<V1.Phone>())
            (phone.mark, phone.sign) = (1, 2)
        })
        try first.close()
        let second = try stack("V2", [Entity<V2.Phone>("Phone")])
        let marks = try queue.sync { try second.fetchAll(From<V2.Phone>()).map(\.mark) }
        #expect(marks == [1])
        try second.close()
    }

    @Test func `a statement that moved up took the values of another property`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try stack(
            "V3", [Entity<V3.Device>("Device"), Entity<V3.Phone>("Phone")])
        try first.perform(synchronous: { transaction in
            let phone = transaction.create(Into<V3.Phone>())
            (phone.mark, phone.sign) = (1, 2)
        })
        try first.close()
        let second = try stack("V4", [Entity<V4.Device>("Device"), Entity<V4.Phone>("Phone")])
        let marks = try queue.sync { try second.fetchAll(From<V4.Phone>()).map(\.mark) }
        #expect(marks == [1])
        try second.close()
    }
}
