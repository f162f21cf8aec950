import Foundation
import PageStore
import RecordStore
import SampleSchemas
import Testing

/// A store with a relationship of every kind, and the means to lie in it: what is changed passes
/// every checksum.
final class LinkedStore {
    let path: String

    static let schema = SampleSchema.players(
        optional: ["age": .int64], indexes: [["age"]], uniqueConstraints: [["name"]])

    /// Players 1 to 10; teams 1 and 2 have every second one, clubs 1 to 3 have some.
    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("linked-\(UUID().uuidString).trellis").path
        let database = try RecordDatabase.open(.file(path), schema: Self.schema)
        let entities = try ["Player", "Team", "Club"].map {
            try #require(database.schema.entity(named: $0))
        }
        let (player, team, club) = (entities[0], entities[1], entities[2])
        let transaction = try database.beginWrite()
        var batch = RecordBatch()
        for (entity, count) in zip([team, club], [2, 3]) {
            for _ in 1...count {
                let row = entity.emptyRow()
                defer { row.deallocate() }
                batch.insert(entity, try transaction.allocateNumber(in: entity.hierarchy), row: row)
            }
        }
        let players = try #require(team.relationship(named: "players"))
        let members = try #require(club.relationship(named: "members"))
        for index in UInt64(1)...10 {
            let number = try transaction.allocateNumber(in: player.hierarchy)
            var row = player.emptyRow()
            defer { row.deallocate() }
            row.setValue(.string("player \(index)"), try #require(player.field(named: "name")))
            row.setValue(.int(Int64(20 + index)), try #require(player.field(named: "age")))
            let own = ObjectNumber(index % 2 + 1)
            row.setLink(own, at: try #require(player.field(named: "team")).byteOffset)
            batch.insert(player, number, row: row)
            batch.addLink(players, owner: own, target: number)
            batch.addLink(members, owner: ObjectNumber(index % 3 + 1), target: number)
        }
        try transaction.apply(batch)
        _ = try transaction.commit()
        try database.close()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Changes trees without the record layer.
    func lie(_ body: (WriteTransaction, (String) throws -> TreeID) throws -> Void) throws {
        let engine = try Engine.open(path: path)
        let trees = try #require(try CatalogView(try engine.snapshot())).trees()
        let transaction = try engine.beginWrite()
        try body(transaction) { name in
            try #require(trees.first { $0.name == name }, "\(trees.map(\.name))").tree
        }
        _ = try transaction.commit()
        try engine.close()
    }

    static func key(_ numbers: UInt64...) -> [UInt8] {
        numbers.flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        }
    }
}
