import PageStore

/// The nodes of a tree in key order, past those that cannot be read.
struct TreeWalk {
    private(set) var nodesByLevel: [UInt64: Int] = [:]
    private(set) var entryCount = 0
    /// The first leaf entries.
    private(set) var entries: [PageSummary.Entry] = []
    private(set) var failures: [StoreError] = []
    private let root: PageID

    init(_ snapshot: Snapshot, root: PageID, limit: Int) {
        self.root = root
        var seen: Set<PageID> = []
        var open = [root]
        while let id = open.popLast() {
            guard seen.insert(id).inserted else { continue }
            do throws(StoreError) {
                visit(PageSummary(try snapshot.page(id)), id, limit, &open)
            } catch {
                failures.append(error)
            }
        }
    }

    private mutating func visit(
        _ summary: PageSummary, _ id: PageID, _ limit: Int, _ open: inout [PageID]
    ) {
        guard summary.kind == .treeLeaf || summary.kind == .treeBranch else {
            failures.append(.corrupt(id, "the page is not a node of a tree"))
            return
        }
        let level = summary.fields.first { $0.name == "level" }?.value ?? 0
        nodesByLevel[level, default: 0] += 1
        guard level == 0 else {
            for entry in summary.entries.reversed() {
                if case .child(let child) = entry.content { open.append(child) }
            }
            return
        }
        entryCount += summary.entries.count
        entries += summary.entries.prefix(max(0, limit - entries.count))
    }

    func print(name: String) {
        let nodes = nodesByLevel.sorted { $0.key > $1.key }
            .map { "level \($0.key): \($0.value)" }.joined(separator: ", ")
        Console.print([
            (name: "tree", value: name), (name: "root", value: "\(root)"),
            (name: "nodes", value: nodes), (name: "entries", value: "\(entryCount)"),
        ])
        for entry in entries {
            Swift.print("  \(ByteText.short(entry.key)) → \(PageText.text(entry.content))")
        }
        if entries.count < entryCount {
            Swift.print("  … \(entryCount - entries.count) more (--limit)")
        }
        for failure in failures { Swift.print("unreadable: \(failure)") }
    }

    func json(name: String) -> JSONText {
        .object([
            (name: "tree", value: .string(name)), (name: "root", value: .integer(root.rawValue)),
            (
                name: "nodesByLevel",
                value: .object(
                    nodesByLevel.sorted { $0.key < $1.key }
                        .map { (name: "\($0.key)", value: .integer($0.value)) })
            ),
            (name: "entryCount", value: .integer(entryCount)),
            (name: "entries", value: .array(entries.map(PageText.json))),
            (name: "unreadable", value: .array(failures.map(Console.json))),
        ])
    }
}
