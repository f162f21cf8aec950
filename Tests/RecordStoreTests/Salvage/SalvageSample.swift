import Foundation
import SampleSchemas
import TestSupport
import Testing

@testable import PageStore
@testable import RecordStore

/// A store with a past: records that were changed and deleted since, values of all sizes, links of
/// every kind, and a log behind the last checkpoint.
struct SalvageSample {
    static let schema = SampleSchema.players(optional: ["notes": .string], indexes: [["name"]])

    /// The bytes of the file as a process that dies now would leave them.
    let bytes: [UInt8]
    let content: [String: [ObjectNumber: [String]]]

    init(_ random: inout SeededRandom, rounds: Int = 6, endsWithLog: Bool = true) throws {
        let files = MemoryFileSystem()
        let database = try RecordDatabase.open(
            .file("store"), schema: Self.schema, options: .small, files: files)
        var maker = Maker(database: database)
        for round in 0..<rounds {
            try maker.change(&random)
            if round % 2 == 1 || !endsWithLog { try database.checkpoint() }
        }
        content = try Self.content(database)
        bytes = try files.bytes(of: "store")
    }

    /// Every object as lines of text, by entity and number.
    static func content(_ database: RecordDatabase) throws -> [String: [ObjectNumber: [String]]] {
        let reader = try database.snapshot()
        var content: [String: [ObjectNumber: [String]]] = [:]
        for entity in database.schema.entities {
            let cursor = reader.recordCursor(entity.hierarchy)
            while try cursor.next() {
                let row = try cursor.row()
                var lines: [String] = []
                for field in entity.fields {
                    lines.append("\(field.name) \(try reader.value(field, of: row))")
                }
                for relationship in entity.relationships {
                    let linked = try reader.linkedNumbers(relationship, of: cursor.number)
                    lines.append("\(relationship.name) \(linked.map(\.rawValue))")
                }
                content[entity.name, default: [:]][cursor.number] = lines
            }
        }
        return content
    }
}

/// Makes and unmakes objects.
private struct Maker {
    let database: RecordDatabase
    var players: [ObjectNumber] = []
    var groups: [String: [ObjectNumber]] = [:]

    private func entity(_ name: String) throws -> EntityLayout {
        try #require(database.schema.entity(named: name))
    }

    mutating func change(_ random: inout SeededRandom) throws {
        let transaction = try database.beginWrite()
        try makeGroups(transaction)
        for _ in 0..<60 { try makePlayer(transaction, &random) }
        let player = try entity("Player")
        for _ in 0..<15 {
            let number = players.remove(at: random.below(players.count))
            var batch = RecordBatch()
            batch.delete(number, in: player.hierarchy)
            try transaction.apply(batch)
        }
        for _ in 0..<15 { try changePlayer(transaction, &random) }
        _ = try transaction.commit()
    }

    private mutating func makeGroups(_ transaction: RecordTransaction) throws {
        for name in ["Team", "Club"] {
            let entity = try entity(name)
            let number = try transaction.allocateNumber(in: entity.hierarchy)
            let row = entity.emptyRow()
            defer { row.deallocate() }
            var batch = RecordBatch()
            batch.insert(entity, number, row: row)
            try transaction.apply(batch)
            groups[name, default: []].append(number)
        }
    }

    private func pick(_ name: String, _ random: inout SeededRandom) throws -> ObjectNumber {
        let all = try #require(groups[name])
        return all[random.below(all.count)]
    }

    private mutating func makePlayer(
        _ transaction: RecordTransaction, _ random: inout SeededRandom
    ) throws {
        let player = try entity("Player")
        let number = try transaction.allocateNumber(in: player.hierarchy)
        let team = try pick("Team", &random)
        var row = player.emptyRow()
        defer { row.deallocate() }
        row.setValue(
            .string("player \(number.rawValue)"), try #require(player.field(named: "name")))
        if random.below(4) == 0 {
            let text = String(repeating: "note ", count: random.below(random.below(900) + 1))
            row.setValue(.string(text), try #require(player.field(named: "notes")))
        }
        row.setLink(team, at: try #require(player.field(named: "team")).byteOffset)
        var batch = RecordBatch()
        batch.insert(player, number, row: row)
        let teams = try #require(entity("Team").relationship(named: "players"))
        batch.addLink(teams, owner: team, target: number)
        let clubs = try #require(player.relationship(named: "clubs"))
        for _ in 0..<random.below(3) {
            batch.addLink(clubs, owner: number, target: try pick("Club", &random))
        }
        try transaction.apply(batch)
        players.append(number)
    }

    private func changePlayer(
        _ transaction: RecordTransaction, _ random: inout SeededRandom
    ) throws {
        let player = try entity("Player")
        let number = players[random.below(players.count)]
        guard var row = try transaction.row(number, in: player.hierarchy) else { return }
        defer { row.deallocate() }
        let name = "renamed \(random.below(1000))"
        row.setValue(.string(name), try #require(player.field(named: "name")))
        var batch = RecordBatch()
        batch.update(player, number, row: row)
        try transaction.apply(batch)
    }
}
