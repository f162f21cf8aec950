import ObjectGraph

/// The classes of version 1: for files that it wrote.
enum V1 {
    final class Country: CoreStoreObject {
        @Field.Stored("alpha2") var alpha2: String = ""
        @Field.Stored("alpha3") var alpha3: String = ""
        @Field.Stored("numeric") var numeric: Int = 0
        @Field.Stored("name") var name: String = ""
        @Field.Stored("officialName") var officialName: String?
        @Field.Stored("commonName") var commonName: String?
        @Field.Stored("flag") var flag: String?
        @Field.Relationship("subdivisions", inverse: \.$country, deleteRule: .cascade)
        var subdivisions: Set<Subdivision>
    }

    final class Subdivision: CoreStoreObject {
        @Field.Stored("code") var code: String = ""
        @Field.Stored("name") var name: String = ""
        @Field.Stored("type") var type: String = ""
        @Field.Relationship("country") var country: Country?
        @Field.Relationship("children", inverse: \.$parent) var children: Set<Subdivision>
        @Field.Relationship("parent") var parent: Subdivision?
    }

    final class Language: CoreStoreObject {
        @Field.Stored("alpha3") var alpha3: String = ""
        @Field.Stored("alpha2") var alpha2: String?
        @Field.Stored("name") var name: String = ""
        @Field.Stored("scope") var scope: String = ""
        @Field.Stored("type") var type: String = ""
    }

    final class Currency: CoreStoreObject {
        @Field.Stored("alpha3") var alpha3: String = ""
        @Field.Stored("numeric") var numeric: Int = 0
        @Field.Stored("name") var name: String = ""
    }

    final class Script: CoreStoreObject {
        @Field.Stored("alpha4") var alpha4: String = ""
        @Field.Stored("numeric") var numeric: Int = 0
        @Field.Stored("name") var name: String = ""
    }

    static func schema() -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<Country>("Country", indexes: [[\.$name]], uniqueConstraints: [[\.$alpha2]]),
                Entity<Subdivision>(
                    "Subdivision", indexes: [[\.$type], [\.$name]], uniqueConstraints: [[\.$code]]),
                Entity<Language>(
                    "Language", indexes: [[\.$type, \.$scope], [\.$name]],
                    uniqueConstraints: [[\.$alpha3]]),
                Entity<Currency>("Currency", uniqueConstraints: [[\.$alpha3]]),
                Entity<Script>("Script", uniqueConstraints: [[\.$alpha4]]),
            ])
    }
}
