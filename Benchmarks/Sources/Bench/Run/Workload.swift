/// What is measured, in the order of the run.
enum Workload: String, CaseIterable, Codable {
    case insertPersons = "W1"
    case insertDogs = "W1b"
    case openCold = "W12"
    case lookUp = "W3"
    case lookUpEach = "W3b"
    case fetchByID = "W4"
    case fetchSorted = "W5"
    case scan = "W6"
    case aggregate = "W7a"
    case group = "W7b"
    case relationships = "W8"
    case smallTransactions = "W2"
    case singleCommits = "W2b"
    case update = "W9"
    case importUnique = "W10"
    case delete = "W11"
    case readBesideWriter = "W13"

    /// What it does, for the tables.
    var title: String {
        switch self {
        case .insertPersons: "insert persons, one durable transaction"
        case .insertDogs: "insert twice as many dogs with owner"
        case .openCold: "open a cold file, first lookup"
        case .lookUp: "lookup by unique e-mail, one read"
        case .lookUpEach: "the same, a read each"
        case .fetchByID: "fetch by ID, all columns"
        case .fetchSorted: "age 31…39 sorted by name"
        case .scan: "count: balance > x and name contains 'ab'"
        case .aggregate: "count, sum, average, min, max of balance"
        case .group: "group by age: count and average"
        case .relationships: "persons, their dogs, sum of ages"
        case .smallTransactions: "durable transactions of 100 inserts"
        case .singleCommits: "durable commits of one object"
        case .update: "random updates of an indexed attribute"
        case .importUnique: "unique import, half existing"
        case .delete: "delete half the persons with their dogs"
        case .readBesideWriter: "lookups beside a writer"
        }
    }

    /// Whether it makes no sense without a file.
    var needsStore: Bool {
        switch self {
        case .openCold, .smallTransactions, .singleCommits, .readBesideWriter: true
        default: false
        }
    }

    var changes: Bool {
        switch self {
        case .insertPersons, .insertDogs, .smallTransactions, .singleCommits, .update,
            .importUnique, .delete:
            true
        default: false
        }
    }
}
