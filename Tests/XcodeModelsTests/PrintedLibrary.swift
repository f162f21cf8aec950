// swift-format-ignore-file
// The text that `printCoreStoreSchema()` gives for the model “Library 3”, compiled as it is.
import ObjectGraph

class Author: Person {
    @Field.Stored("born")
    var born: Date?

    @Field.Stored("penName")
    var penName: String?

    @Field.Relationship("books", inverse: \.$author, deleteRule: .cascade)
    var books: Set<Book>
}

class Book: CoreStoreObject {
    @Field.Stored("acquired")
    var acquired: Date?

    @Field.Stored("cover")
    var cover: Data?

    @Field.Stored("heading")
    var heading: String = "Untitled"

    @Field.Stored("isbn")
    var isbn: String = ""

    @Field.Stored("pageCount")
    var pageCount: Int32? = 0

    @Field.Relationship("author")
    var author: Author?

    @Field.Relationship("loans", inverse: \.$book, deleteRule: .deny)
    var loans: [Loan]
}

class Loan: CoreStoreObject {
    @Field.Stored("due")
    var due: Date = Date(timeIntervalSinceReferenceDate: 631152000.0)

    @Field.Stored("reader")
    var reader: String = ""

    @Field.Relationship("book")
    var book: Book?
}

class Person: CoreStoreObject {
    @Field.Stored("name")
    var name: String = ""
}

let printedLibrary = CoreStoreSchema(
    modelVersion: "Library 3",
    entityConfigurations: [
        Entity<Author>("Author"): ["Catalog"],
        Entity<Book>(
            "Book",
            versionHashModifier: "3",
            indexes: [[\.$heading]],
            uniqueConstraints: [[\.$isbn]]): ["Catalog"],
        Entity<Loan>("Loan"): ["Desk"],
        Entity<Person>("Person", isAbstract: true): [],
    ],
    versionLock: [
        "Author": [0xee165e9d7c26916f, 0xa5678bf8ca387135, 0xaf75e3746c703075, 0xab869499289688fb],
        "Book": [0x5688f9436b7f6158, 0xb174e73f1ad8bea4, 0x7619183c91f64952, 0xb612d57c265d7f82],
        "Loan": [0xda17f0bc909f64c4, 0x643d569144a47815, 0x10fbb1ce4c8ee5ca, 0xb3d4040c2b9af654],
        "Person": [0x2681060ca8e636de, 0x86fe52d8c9ebaca6, 0xcd5203808eefcb52, 0x2c3f8399a026fcb6]
    ]
)
