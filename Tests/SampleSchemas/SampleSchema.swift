import RecordStore

/// Schemas that several tests share. A test whose meaning hangs on a declaration has its own.
package enum SampleSchema {
    /// Players, the teams that have them in order, and the clubs that they are members of: a
    /// relationship of every kind. Players have names and the attributes that are given.
    package static func players(
        optional: KeyValuePairs<String, AttributeType>, indexes: [[String]],
        uniqueConstraints: [[String]] = []
    ) -> SchemaDescription {
        SchemaDescription([
            EntityDescription(
                "Player", required: ["name": .string], optional: optional,
                relationships: [
                    .toOne("team", to: "Team", inverse: "players"),
                    .toManyUnordered("clubs", to: "Club", inverse: "members"),
                ], indexes: indexes, uniqueConstraints: uniqueConstraints),
            EntityDescription("Team", relationships: [.toManyOrdered("players", to: "Player")]),
            EntityDescription("Club", relationships: [.toManyOrdered("members", to: "Player")]),
        ])
    }

    /// Animals, the dogs among them, and their homes.
    package static func animals(
        indexes: [[String]] = [], dogIndexes: [[String]] = []
    ) -> SchemaDescription {
        SchemaDescription([
            EntityDescription(
                "Animal", required: ["species": .string, "age": .int64],
                relationships: [.toOne("home", to: "Home")], indexes: indexes,
                uniqueConstraints: [["species"]]),
            EntityDescription(
                "Dog", below: "Animal", required: ["tricks": .int64], indexes: dogIndexes),
            EntityDescription(
                "Home", relationships: [.toManyUnordered("animals", to: "Animal", inverse: "home")]
            ),
        ])
    }
}
