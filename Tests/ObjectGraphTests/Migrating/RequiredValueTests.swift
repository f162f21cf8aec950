import Foundation
import ObjectGraph
import Testing

/// A value that becomes required, of a property without a default: `dynamicInitialValue:` gives it
/// to the objects that have none.
@Suite struct RequiredValueTests {
    enum V1 {
        final class Ticket: CoreStoreObject {
            @Field.Stored("number") var number: Int = 0
            @Field.Stored("token") var token: String?
        }
        final class Seat: CoreStoreObject {
            @Field.Stored("row") var row: Int = 0
        }
    }

    enum V2 {
        final class Ticket: CoreStoreObject {
            @Field.Stored("number") var number: Int = 0
            @Field.Stored("token", dynamicInitialValue: { UUID().uuidString }) var token: String
        }
        final class Seat: CoreStoreObject {
            @Field.Stored("row") var row: Int = 0
        }
    }

    /// The records are rewritten as well: another type, and a superclass.
    enum V3 {
        class Paper: CoreStoreObject {
            @Field.Stored("number") var number: Double = 0
        }
        final class Ticket: Paper {
            @Field.Stored("token", dynamicInitialValue: { UUID().uuidString }) var token: String
        }
        final class Seat: CoreStoreObject {
            @Field.Stored("row") var row: Int = 0
        }
    }

    /// The records are rewritten in their tree.
    enum V4 {
        final class Ticket: CoreStoreObject {
            @Field.Stored("number") var number: Double = 0
            @Field.Stored("token", dynamicInitialValue: { UUID().uuidString }) var token: String
        }
        final class Seat: CoreStoreObject {
            @Field.Stored("row") var row: Int = 0
        }
    }

    private let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("required-\(UUID().uuidString).trellis")
    private let queue = DispatchQueue(label: "view")
    private static let count = 300

    private func stack(_ entities: [DynamicEntity], _ version: String) -> DataStack {
        DataStack(
            CoreStoreSchema(modelVersion: version, entities: entities),
            viewContext: .queue(queue))
    }

    /// Tickets, every third of which has a token.
    private func fill() throws {
        let stack = stack([Entity<V1.Ticket>("Ticket"), Entity<V1.Seat>("Seat")], "V1")
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform { transaction in
            for number in 0..<Self.count {
                let ticket = transaction.create(Into<V1.Ticket>())
                ticket.number = number
                if number % 3 == 0 { ticket.token = "\(number)" }
            }
            for row in 0..<5 { transaction.create(Into<V1.Seat>()).row = row }
        }
        try stack.close()
    }

    private func check(_ tokens: [(number: Int, token: String)]) {
        #expect(tokens.count == Self.count)
        #expect(tokens.allSatisfy { $0.number % 3 > 0 || $0.token == "\($0.number)" })
        #expect(tokens.allSatisfy { $0.number % 3 == 0 || $0.token.count == 36 })
        #expect(Set(tokens.map(\.token)).count == Self.count)
    }

    @Test func `a required value without a default refused objects that had none`() throws {
        try fill()
        defer { try? FileManager.default.removeItem(at: url) }
        var tokens: [[String]] = []
        // The second opening finds what the first has made.
        for _ in 0..<2 {
            let stack = stack(
                [
                    Entity<V2.Ticket>("Ticket", uniqueConstraints: [[\.$token]]),
                    Entity<V2.Seat>("Seat"),
                ], "V2")
            try stack.addStorageAndWait(LocalStore(fileURL: url))
            try queue.sync {
                let tickets = try stack.fetchAll(
                    From<V2.Ticket>().orderBy(.ascending(\.$number)))
                check(tickets.map { ($0.number, $0.token) })
                tokens.append(tickets.map(\.token))
                #expect(
                    try stack.fetchCount(From<V2.Ticket>().where(\.$token == tokens[0][1])) == 1)
            }
            try stack.close()
        }
        #expect(tokens[0] == tokens[1])
    }

    @Test func `values become required while records move to another tree`() throws {
        try fill()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = stack(
            [
                Entity<V3.Paper>("Paper", isAbstract: true), Entity<V3.Ticket>("Ticket"),
                Entity<V3.Seat>("Seat"),
            ], "V3")
        try stack.addStorageAndWait(
            LocalStore(
                fileURL: url, localStorageOptions: .allowSynchronousLightweightMigration))
        try queue.sync {
            let tickets = try stack.fetchAll(From<V3.Ticket>())
            check(tickets.map { (Int($0.number), $0.token) })
        }
        try stack.close()
    }

    @Test func `values become required while records are rewritten`() throws {
        try fill()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = stack([Entity<V4.Ticket>("Ticket"), Entity<V4.Seat>("Seat")], "V4")
        try stack.addStorageAndWait(
            LocalStore(
                fileURL: url, localStorageOptions: .allowSynchronousLightweightMigration))
        try queue.sync {
            let tickets = try stack.fetchAll(From<V4.Ticket>())
            check(tickets.map { (Int($0.number), $0.token) })
        }
        try stack.close()
    }

    @Test func `values become required beside a mapping of another entity`() async throws {
        try fill()
        defer { try? FileManager.default.removeItem(at: url) }
        let stack = stack([Entity<V2.Ticket>("Ticket"), Entity<V2.Seat>("Seat")], "V2")
        let mapping = CustomSchemaMappingProvider(
            from: "V1", to: "V2",
            entityMappings: [
                .transformEntity(
                    sourceEntity: "Seat", destinationEntity: "Seat",
                    transformer: { source, create in
                        let seat = create()
                        seat["row"] = (source["row"] as? Int ?? 0) + 1
                    })
            ])
        for try await _ in stack.async.addStorage(
            LocalStore(fileURL: url, migrationMappingProviders: [mapping]))
        {}
        try queue.sync {
            check(try stack.fetchAll(From<V2.Ticket>()).map { ($0.number, $0.token) })
            #expect(try stack.queryValue(From<V2.Seat>().select(Int.self, .sum(\.$row))) == 15)
        }
        try stack.close()
    }

    enum Sealed {
        final class Ticket: CoreStoreObject {
            @Field.Stored("number") var number: Int = 0
            @Field.Coded(
                "token", coder: (encode: { _ in nil }, decode: { "\($0?.count ?? 0)" }),
                dynamicInitialValue: { "new" })
            var token: String
        }
    }

    enum Unsealed {
        final class Ticket: CoreStoreObject {
            @Field.Stored("number") var number: Int = 0
            @Field.Coded("token", coder: FieldCoders.Json.self) var token: String?
        }
    }

    /// A bug: the file had nil in a required property, and each later change of the object failed.
    @Test func `a first value that cannot be encoded was written as nil`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let before = stack([Entity<Unsealed.Ticket>("Ticket")], "V1")
        try before.addStorageAndWait(LocalStore(fileURL: url))
        try before.perform { $0.create(Into<Unsealed.Ticket>()).number = 7 }
        try before.close()
        let after = stack([Entity<Sealed.Ticket>("Ticket")], "V2")
        #expect(throws: CoreStoreError.self) {
            try after.addStorageAndWait(LocalStore(fileURL: url))
        }
        try after.close()
        let again = stack([Entity<Unsealed.Ticket>("Ticket")], "V1")
        try again.addStorageAndWait(LocalStore(fileURL: url))
        let number = try queue.sync { try again.fetchOne(From<Unsealed.Ticket>())?.number }
        #expect(number == 7)
        try again.close()
    }
}
