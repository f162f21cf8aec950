/// What the project wants to reach: a figure of ours beside a figure of a peer's.
struct Target {
    /// The row of the table.
    var name: String
    var work: String
    var workload: String
    var figure: Figure
    var peer: String
    var ratioMax: Double
    /// The workload of the peer's figure, when it is another one.
    var peerWorkload: String?

    static let all: [Target] = [
        of(.insertPersons, "lmdb", 1), of(.insertDogs, "lmdb", 1),
        of(.smallTransactions, "sqlite-full", 0.3, .wall),
        of(.singleCommits, "sqlite-full", 0.6, .wall),
        of(.lookUp, "lmdb", 1), of(.lookUpEach, "lmdb", 1), of(.fetchByID, "lmdb", 1.3),
        of(.fetchSorted, "lmdb", 1), of(.scan, "lmdb", 0.5), of(.aggregate, "lmdb", 0.3),
        of(.group, "lmdb", 0.5), of(.relationships, "lmdb", 1), of(.update, "lmdb", 1),
        of(.importUnique, "lmdb", 1), of(.delete, "lmdb", 1),
        of(.openCold, "sqlite-full", 1, .wall),
        Target(
            name: "W13", work: "lookups beside a writer, 0.8 × as many as LMDB",
            workload: "W13 reader", figure: .wall, peer: "lmdb", ratioMax: 1.25),
        Target(
            name: "W13", work: "commits of 100 updates beside a reader, against alone",
            workload: "W13 writer", figure: .wall, peer: "trellis", ratioMax: 1.25,
            peerWorkload: "W13 writer alone"),
        Target(
            name: "size", work: "the file after W1 and W1b", workload: "W1b", figure: .file,
            peer: "sqlite-full", ratioMax: 0.6),
        Target(
            name: "size", work: "the file after W11", workload: "W11", figure: .file,
            peer: "sqlite-full", ratioMax: 0.6),
    ]

    private static func of(
        _ workload: Workload, _ peer: String, _ ratioMax: Double, _ figure: Figure = .cpu
    ) -> Target {
        Target(
            name: workload.rawValue, work: workload.title, workload: workload.rawValue,
            figure: figure, peer: peer, ratioMax: ratioMax)
    }

    func ratio(in stage: Stage) -> Double? {
        stage.ratio(
            (workload, "trellis"), to: (peerWorkload ?? workload, peer), figure.value)
    }

    var text: String { "≤ \(Figure.text(ratioMax)) × \(peer)" }
}
