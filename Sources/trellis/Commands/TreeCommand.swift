import ArgumentParser
import PageStore
import RecordStore

/// `trellis tree`: a tree's shape and its entries.
struct TreeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tree", abstract: "Shows a tree's pages and entries.",
        discussion: "Without a name it lists the trees.")

    @OptionGroup var store: StoreOptions
    @Argument(help: "The tree's name, such as records/Country, or the number of its root page.")
    var name: String?
    @Option(help: "How many leaf entries to print.")
    var limit = 100

    func run() throws {
        try store.withEngine { engine in
            let snapshot = try engine.snapshot()
            guard let name else { return try list(snapshot) }
            let walk = TreeWalk(snapshot, root: try root(named: name, in: snapshot), limit: limit)
            if store.json {
                Console.print(walk.json(name: name))
            } else {
                walk.print(name: name)
            }
            if !walk.failures.isEmpty { throw ExitCode(1) }
        }
    }

    private func list(_ snapshot: Snapshot) throws {
        let trees = try CatalogView(snapshot)?.trees() ?? []
        if store.json {
            Console.print(
                .array(
                    trees.map { tree in
                        .object([
                            (name: "name", value: .string(tree.name)),
                            (name: "root", value: .integer(tree.tree.root.rawValue)),
                        ])
                    }))
        } else {
            Console.print(trees.map { (name: $0.name, value: "\($0.tree.root)") })
        }
    }

    /// A number works even where the catalog cannot be read.
    private func root(named name: String, in snapshot: Snapshot) throws -> PageID {
        if let number = UInt64(name) { return PageID(number) }
        let trees = try CatalogView(snapshot)?.trees() ?? []
        guard let found = trees.first(where: { $0.name == name }) else {
            throw StoreError(
                .notFound, "the catalog names no tree \(name); `trellis tree` lists them",
                path: store.file)
        }
        return found.tree.root
    }
}
