import ObjectGraph

/// One record of the ISO files: names and texts.
typealias Source = [String: String]

final class Country: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("alpha2") var alpha2: String = ""
    @Field.Stored("alpha3") var alpha3: String = ""
    @Field.Stored("numeric") var numeric: Int = 0
    @Field.Stored("name") var name: String = ""
    @Field.Stored("officialName") var officialName: String?
    @Field.Stored("commonName") var commonName: String?
    @Field.Stored("flag") var flag: String?
    @Field.Relationship("subdivisions", inverse: \.$country, deleteRule: .cascade)
    var subdivisions: Set<Subdivision>

    static let uniqueIDKeyPath = "alpha2"
    typealias ImportSource = Source
    typealias UniqueIDType = String

    static func uniqueID(
        from source: Source, in transaction: BaseDataTransaction
    ) throws -> String? {
        source["alpha_2"]
    }

    func update(from source: Source, in transaction: BaseDataTransaction) throws {
        alpha3 = source["alpha_3"] ?? ""
        numeric = Int(source["numeric"] ?? "") ?? 0
        name = source["name"] ?? ""
        officialName = source["official_name"]
        commonName = source["common_name"]
        flag = source["flag"]
    }
}

final class Subdivision: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("code") var code: String = ""
    @Field.Stored("name") var name: String = ""
    @Field.Stored("category", previousVersionKeyPath: "type") var category: String = ""
    @Field.Relationship("country") var country: Country?
    @Field.Relationship("children", inverse: \.$parent) var children: Set<Subdivision>
    @Field.Relationship("parent") var parent: Subdivision?

    static let uniqueIDKeyPath = "code"
    typealias ImportSource = Source
    typealias UniqueIDType = String

    static var importableRelationships: [ImportableRelationship<Source>] {
        [
            ImportableRelationship(\Subdivision.$country) { source in
                source["code"].map { [.uniqueID(AtlasImport.countryCode(of: $0))] }
            },
            ImportableRelationship(\Subdivision.$parent) { source in
                AtlasImport.parentCode(of: source).map { [.uniqueID($0)] } ?? []
            },
        ]
    }

    static func uniqueID(
        from source: Source, in transaction: BaseDataTransaction
    ) throws -> String? {
        source["code"]
    }

    func update(from source: Source, in transaction: BaseDataTransaction) throws {
        name = source["name"] ?? ""
        category = source["type"] ?? ""
    }
}

final class Language: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("alpha3") var alpha3: String = ""
    @Field.Stored("alpha2") var alpha2: String?
    @Field.Stored("baseName") var baseName: String = ""
    /// What tells languages of one name apart.
    @Field.Stored("qualifier") var qualifier: String?
    @Field.Stored("scope") var scope: String = ""
    @Field.Stored("type") var type: String = ""

    static let uniqueIDKeyPath = "alpha3"
    typealias ImportSource = Source
    typealias UniqueIDType = String

    static func uniqueID(
        from source: Source, in transaction: BaseDataTransaction
    ) throws -> String? {
        source["alpha_3"]
    }

    func update(from source: Source, in transaction: BaseDataTransaction) throws {
        alpha2 = source["alpha_2"]
        let parts = LanguageName(source["name"] ?? "")
        (baseName, qualifier) = (parts.base, parts.qualifier)
        scope = source["scope"] ?? ""
        type = source["type"] ?? ""
    }
}

final class Currency: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("alpha3") var alpha3: String = ""
    @Field.Stored("numeric") var numeric: Int = 0
    @Field.Stored("name") var name: String = ""

    static let uniqueIDKeyPath = "alpha3"
    typealias ImportSource = Source
    typealias UniqueIDType = String

    static func uniqueID(
        from source: Source, in transaction: BaseDataTransaction
    ) throws -> String? {
        source["alpha_3"]
    }

    func update(from source: Source, in transaction: BaseDataTransaction) throws {
        numeric = Int(source["numeric"] ?? "") ?? 0
        name = source["name"] ?? ""
    }
}

final class Script: CoreStoreObject, ImportableUniqueObject {
    @Field.Stored("alpha4") var alpha4: String = ""
    @Field.Stored("numeric") var numeric: Int = 0
    @Field.Stored("name") var name: String = ""

    static let uniqueIDKeyPath = "alpha4"
    typealias ImportSource = Source
    typealias UniqueIDType = String

    static func uniqueID(
        from source: Source, in transaction: BaseDataTransaction
    ) throws -> String? {
        source["alpha_4"]
    }

    func update(from source: Source, in transaction: BaseDataTransaction) throws {
        numeric = Int(source["numeric"] ?? "") ?? 0
        name = source["name"] ?? ""
    }
}

func atlasSchema() -> CoreStoreSchema {
    CoreStoreSchema(
        modelVersion: "V2",
        entities: [
            Entity<Country>("Country", indexes: [[\.$name]], uniqueConstraints: [[\.$alpha2]]),
            Entity<Subdivision>(
                "Subdivision", indexes: [[\.$category], [\.$name]],
                uniqueConstraints: [[\.$code]]),
            Entity<Language>(
                "Language", indexes: [[\.$type, \.$scope], [\.$baseName]],
                uniqueConstraints: [[\.$alpha3]]),
            Entity<Currency>(
                "Currency", indexes: [[\.$numeric]], uniqueConstraints: [[\.$alpha3]]),
            Entity<Script>("Script", uniqueConstraints: [[\.$alpha4]]),
        ])
}
