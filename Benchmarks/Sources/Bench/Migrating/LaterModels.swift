import ObjectGraph

/// A later version of the benchmark's model: what a store of persons and dogs is migrated to.
struct LaterModel {
    var schema: CoreStoreSchema
    var mappings: [any SchemaMappingProvider] = []

    private init(
        _ entities: [DynamicEntity], _ mappings: [any SchemaMappingProvider] = [],
        version: String = "V2"
    ) {
        schema = CoreStoreSchema(modelVersion: version, entities: entities)
        self.mappings = mappings
    }

    /// The model that the store has at first.
    static var first: LaterModel {
        LaterModel(
            [
                Entity<Person>(
                    "Person", indexes: [[\Person.$name], [\Person.$age]],
                    uniqueConstraints: [[\Person.$email]]),
                Entity<Dog>("Dog"),
            ], version: "V1")
    }

    /// A property with a default, a renamed one, and one that may be nil.
    static var added: LaterModel {
        LaterModel([
            Entity<Added.Person>(
                "Person", indexes: [[\Added.Person.$name], [\Added.Person.$age]],
                uniqueConstraints: [[\Added.Person.$email]]),
            Entity<Added.Dog>("Dog"),
        ])
    }

    /// A further index.
    static var indexed: LaterModel {
        LaterModel([
            Entity<Person>(
                "Person", indexes: [[\Person.$name], [\Person.$age], [\Person.$createdAt]],
                uniqueConstraints: [[\Person.$email]]),
            Entity<Dog>("Dog"),
        ])
    }

    /// An age that is a `Double`.
    static var widened: LaterModel {
        LaterModel([
            Entity<Widened.Person>(
                "Person", indexes: [[\Widened.Person.$name], [\Widened.Person.$age]],
                uniqueConstraints: [[\Widened.Person.$email]]),
            Entity<Widened.Dog>("Dog"),
        ])
    }

    /// Two names of one, by a closure.
    static var split: LaterModel {
        LaterModel(
            [
                Entity<Split.Person>(
                    "Person", indexes: [[\Split.Person.$familyName], [\Split.Person.$age]],
                    uniqueConstraints: [[\Split.Person.$email]]),
                Entity<Split.Dog>("Dog"),
            ],
            [
                CustomSchemaMappingProvider(
                    from: "V1", to: "V2",
                    entityMappings: [
                        .transformEntity(
                            sourceEntity: "Person", destinationEntity: "Person",
                            transformer: { source, createDestination in
                                let person = createDestination()
                                person.enumerateAttributes { attribute, sourceAttribute in
                                    if let sourceAttribute {
                                        person[attribute] = source[sourceAttribute]
                                    }
                                }
                                let names = Self.names(of: source["name"] as? String ?? "")
                                person["givenName"] = names.given
                                person["familyName"] = names.family
                            })
                    ])
            ])
    }

    /// What both contenders make of a name.
    static func names(of name: String) -> (given: String, family: String) {
        let parts = name.split(separator: " ", maxSplits: 1)
        return (String(parts.first ?? ""), String(parts.count > 1 ? parts[1] : ""))
    }

    /// One entity above both.
    static var raised: LaterModel {
        LaterModel([
            Entity<Raised.Being>("Being", isAbstract: true),
            Entity<Raised.Person>(
                "Person", indexes: [[\Raised.Person.$name], [\Raised.Person.$age]],
                uniqueConstraints: [[\Raised.Person.$email]]),
            Entity<Raised.Dog>("Dog"),
        ])
    }

    /// Dogs of several owners.
    static var shared: LaterModel {
        LaterModel([
            Entity<SharedDogs.Person>(
                "Person", indexes: [[\SharedDogs.Person.$name], [\SharedDogs.Person.$age]],
                uniqueConstraints: [[\SharedDogs.Person.$email]]),
            Entity<SharedDogs.Dog>("Dog"),
        ])
    }
}

enum Added {
    final class Person: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("email") var email: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Stored("credit", previousVersionKeyPath: "balance") var credit: Double = 0
        @Field.Stored("createdAt") var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
        @Field.Stored("bio") var bio: String?
        @Field.Stored("score") var score: Int = 7
        @Field.Relationship("dogs", inverse: \.$owner, deleteRule: .cascade) var dogs: Set<Dog>
    }

    final class Dog: CoreStoreObject {
        @Field.Stored("nickname") var nickname: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Relationship("owner") var owner: Person?
    }
}

enum Widened {
    final class Person: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("email") var email: String = ""
        @Field.Stored("age") var age: Double = 0
        @Field.Stored("balance") var balance: Double = 0
        @Field.Stored("createdAt") var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
        @Field.Stored("bio") var bio: String = ""
        @Field.Relationship("dogs", inverse: \.$owner, deleteRule: .cascade) var dogs: Set<Dog>
    }

    final class Dog: CoreStoreObject {
        @Field.Stored("nickname") var nickname: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Relationship("owner") var owner: Person?
    }
}

enum Split {
    final class Person: CoreStoreObject {
        @Field.Stored("givenName") var givenName: String = ""
        @Field.Stored("familyName") var familyName: String = ""
        @Field.Stored("email") var email: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Stored("balance") var balance: Double = 0
        @Field.Stored("createdAt") var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
        @Field.Stored("bio") var bio: String = ""
        @Field.Relationship("dogs", inverse: \.$owner, deleteRule: .cascade) var dogs: Set<Dog>
    }

    final class Dog: CoreStoreObject {
        @Field.Stored("nickname") var nickname: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Relationship("owner") var owner: Person?
    }
}

enum Raised {
    class Being: CoreStoreObject {}

    final class Person: Being {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("email") var email: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Stored("balance") var balance: Double = 0
        @Field.Stored("createdAt") var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
        @Field.Stored("bio") var bio: String = ""
        @Field.Relationship("dogs", inverse: \.$owner, deleteRule: .cascade) var dogs: Set<Dog>
    }

    final class Dog: Being {
        @Field.Stored("nickname") var nickname: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Relationship("owner") var owner: Person?
    }
}

enum SharedDogs {
    final class Person: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("email") var email: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Stored("balance") var balance: Double = 0
        @Field.Stored("createdAt") var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
        @Field.Stored("bio") var bio: String = ""
        @Field.Relationship("dogs", inverse: \.$owner) var dogs: Set<Dog>
    }

    final class Dog: CoreStoreObject {
        @Field.Stored("nickname") var nickname: String = ""
        @Field.Stored("age") var age: Int = 0
        @Field.Relationship("owner") var owner: Set<Person>
    }
}
