import ObjectGraph

/// The model of the samples.
class Person: CoreStoreObject {
    @Field.Stored("lastName")
    var lastName: String = ""

    @Field.Stored("age")
    var age: Int = 0

    @Field.Stored("isMember")
    var isMember: Bool = false

    @Field.Stored("avatarURL")
    var avatarURL: URL?

    @Field.Virtual(
        "fullName",
        customGetter: { object, _ in "Ms \(object.$lastName.value)" })
    var fullName: String
}
