import ObjectGraph

/// A country, with how many of its subdivisions have been imported so far.
final class Country: CoreStoreObject {
    @Field.Stored("code") var code: String = ""
    @Field.Stored("name") var name: String = ""
    @Field.Stored("count") var count: Int = 0
    /// Which section of the list the count belongs to.
    @Field.Stored("band") var band: String = Bands.name(0)
    @Field.Relationship("places", inverse: \.$country) var places: Set<Place>
}

/// A subdivision of a country.
final class Place: CoreStoreObject {
    @Field.Stored("code") var code: String = ""
    @Field.Stored("name") var name: String = ""
    @Field.Relationship("country") var country: Country?
}

/// A transaction of the import.
final class Batch: CoreStoreObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Stored("isLast") var isLast: Bool = false
}

enum Bands {
    private static let lowerBounds = [100, 50, 25, 10, 5, 1]

    static func name(_ count: Int) -> String {
        guard let bound = lowerBounds.first(where: { count >= $0 }) else { return "none" }
        return bound == 1 ? "fewer than 5" : "\(bound) and more"
    }
}

enum World {
    static func schema() -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<Country>("Country", indexes: [[\.$count], [\.$code]]),
                Entity<Place>("Place"),
                Entity<Batch>("Batch"),
            ])
    }

    /// The countries with the most subdivisions, in sections: the list that is followed.
    static func largest() -> SectionMonitorChainBuilder<Country> {
        From<Country>()
            .sectionBy(\.$band)
            .where(\.$count > 0)
            .orderBy(.descending(\.$count), .ascending(\.$name))
            .tweak { $0.fetchLimit = 20 }
    }

    /// The list as lines of text.
    static func lines(_ countries: [Country]) -> [String] {
        var lines: [String] = []
        var band: String?
        for country in countries {
            if country.band != band { lines.append(country.band) }
            band = country.band
            let count = String(country.count)
            let space = String(repeating: " ", count: max(0, 5 - count.count))
            lines.append("\(space)\(count)  \(country.name)")
        }
        return lines
    }
}

struct Failure: Error, CustomStringConvertible {
    var description: String
}
