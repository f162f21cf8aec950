// swift-format-ignore-file
// The text that `printCoreStoreSchema()` gives for the model “Everything”, compiled as it is.
import ObjectGraph

class Node: CoreStoreObject {
    @Field.Stored("default")
    var `default`: Bool = true

    @Field.Stored("name")
    var name: String = ""

    @Field.Relationship("children", minCount: 1, maxCount: 8, inverse: \.$parent)
    var children: [Node]

    @Field.Relationship("friends")
    var friends: Set<Node>

    @Field.Relationship("parent", versionHashModifier: "up")
    var parent: Node?

    @Field.Relationship("sample")
    var sample: Sample?
}

class Sample: CoreStoreObject {
    @Field.Stored("amount")
    var amount: Decimal = Decimal(string: "12.5")!

    @Field.Stored("amountOrNil")
    var amountOrNil: Decimal?

    @Field.Stored("big")
    var big: Int = -9223372036854775808

    @Field.Stored("bigOrNil")
    var bigOrNil: Int?

    @Field.Stored("bytes")
    var bytes: Data = Data()

    @Field.Stored("bytesOrNil")
    var bytesOrNil: Data?

    @Field.Stored("flag")
    var flag: Bool = false

    @Field.Stored("flagOrNil")
    var flagOrNil: Bool?

    @Field.Stored("half")
    var half: Float = 0.5

    @Field.Stored("halfOrNil")
    var halfOrNil: Float?

    @Field.Stored("id", dynamicInitialValue: { UUID() })
    var id: UUID

    @Field.Stored("idOrNil")
    var idOrNil: UUID?

    @Field.Stored("known")
    var known: UUID = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!

    @Field.Stored("link")
    var link: URL = URL(string: "https://example.org/?a=1&b=2")!

    @Field.Stored("linkOrNil")
    var linkOrNil: URL?

    @Field.Stored("made")
    var made: Date = Date(timeIntervalSinceReferenceDate: -86400.5)

    @Field.Stored("madeOrNil")
    var madeOrNil: Date?

    @Field.Stored("medium", versionHashModifier: "m", previousVersionKeyPath: "middle")
    var medium: Int32 = -70000

    @Field.Stored("mediumOrNil")
    var mediumOrNil: Int32?

    @Field.Coded("place", coder: (encode: { $0 }, decode: { $0 }))
    var place: Data?

    @Field.Stored("ratio")
    var ratio: Double = 0.001

    @Field.Stored("ratioOrNil")
    var ratioOrNil: Double?

    @Field.Coded("shade", coder: (encode: { $0 }, decode: { $0 ?? Data() }))
    var shade: Data = Data()

    @Field.Stored("small")
    var small: Int16 = 0

    @Field.Stored("smallOrNil")
    var smallOrNil: Int16?

    @Field.Stored("text")
    var text: String = "a \"b\" \\(c) <d> ü"

    @Field.Stored("textOrNil")
    var textOrNil: String?
}

let printedEverything = CoreStoreSchema(
    modelVersion: "Everything",
    entities: [
        Entity<Node>("Node"),
        Entity<Sample>(
            "Sample",
            versionHashModifier: "1",
            previousName: "Specimen",
            indexes: [[\.$small], [\.$small, \.$text], [\.$made, \.$id]],
            uniqueConstraints: [[\.$id], [\.$text, \.$small]]),
    ],
    versionLock: [
        "Node": [0x3d83512ca5a28465, 0x66fbbcc22a1870cb, 0xc8f328efcca9861e, 0x12c1c8aff6fe74cb],
        "Sample": [0xd58bc82d2d92b03c, 0x41dc461de58aa5a9, 0xb62c45ba87909d78, 0x698d233fcf0c451]
    ]
)
