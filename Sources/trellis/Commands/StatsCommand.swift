import ArgumentParser
import Foundation
import PageStore
import RecordStore

/// `trellis stats`: how the file's bytes are used.
struct StatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Shows how large each tree is and what fills the file.",
        discussion: """
            Reads every page. Fill is the part of a tree's nodes that entries use; the ratio says \
            how many bytes of pages one byte of the file holds. Space that readers of a running \
            program hold is in that program's statistics.
            """)

    @OptionGroup var store: StoreOptions

    func run() throws {
        try store.withEngine { engine in
            let snapshot = try engine.snapshot()
            let trees = try CatalogView(snapshot)?.trees() ?? []
            let size = try StoreSize.measure(snapshot, trees: trees.map(\.tree))
            if store.json {
                Console.print(json(engine, trees, size))
            } else {
                show(engine, trees, size)
            }
        }
    }

    private func sums(_ size: StoreSize) -> [(name: String, sum: PageSizeSum)] {
        [("overflow", size.overflow), ("lists", size.lists), ("chunks", size.chunks)]
    }

    private func figures(_ engine: Engine, _ size: StoreSize) -> [(name: String, value: UInt64)] {
        let statistics = engine.statistics
        return [
            ("fileSizeInBytes", statistics.fileSizeInBytes), ("freeBytes", size.freeBytes),
            ("pendingBytes", size.pendingBytes), ("logBytes", statistics.logBytes),
            ("logSegmentBytes", size.logSegmentBytes), ("freePageIDs", size.freePageIDCount),
            ("generation", statistics.generation), ("commitNumber", statistics.commitNumber),
        ]
    }

    // MARK: Text

    private static let widths = [-32, 9, 7, 7, 6, 12, 12, 6]

    private func show(_ engine: Engine, _ trees: [CatalogView.NamedTree], _ size: StoreSize) {
        printLine(["tree", "entries", "height", "pages", "fill", "raw", "stored", "ratio"])
        for (tree, size) in zip(trees, size.trees) {
            printLine(
                [
                    tree.name, "\(size.entryCount)", "\(size.height)", "\(size.pages.count)",
                    "\(Int((size.fill * 100).rounded()))%",
                ] + columns(size.pages))
        }
        for (name, sum) in sums(size) where sum.count > 0 {
            printLine(["(\(name))", "", "", "\(sum.count)", ""] + columns(sum))
        }
        print()
        Console.print(figures(engine, size).map { (name: $0.name, value: "\($0.value)") })
    }

    private func columns(_ sum: PageSizeSum) -> [String] {
        ["\(sum.rawBytes)", "\(sum.storedBytes)", String(format: "%.2f", sum.compression)]
    }

    /// A negative width stands for a column that begins at its left.
    private func printLine(_ columns: [String]) {
        var line = ""
        for (column, width) in zip(columns, Self.widths) {
            let pad = String(repeating: " ", count: max(0, abs(width) - column.count))
            line += width < 0 ? column + pad : " " + pad + column
        }
        print(line)
    }

    // MARK: JSON

    private func json(
        _ engine: Engine, _ trees: [CatalogView.NamedTree], _ size: StoreSize
    ) -> JSONText {
        var members: [(name: String, value: JSONText)] = [
            (name: "file", value: .string(store.file))
        ]
        members += figures(engine, size).map { (name: $0.name, value: .integer($0.value)) }
        let list = zip(trees, size.trees).map { tree, size in
            JSONText.object(
                [
                    (name: "name", value: .string(tree.name)),
                    (name: "entries", value: .integer(size.entryCount)),
                    (name: "height", value: .integer(size.height)),
                    (name: "fill", value: .float(size.fill)),
                    (name: "blobs", value: .integer(size.blobCount)),
                ] + json(size.pages))
        }
        members.append((name: "trees", value: .array(list)))
        for (name, sum) in sums(size) {
            members.append((name: name, value: .object(json(sum))))
        }
        return .object(members)
    }

    private func json(_ sum: PageSizeSum) -> [(name: String, value: JSONText)] {
        [
            (name: "pages", value: .integer(sum.count)),
            (name: "rawBytes", value: .integer(sum.rawBytes)),
            (name: "storedBytes", value: .integer(sum.storedBytes)),
        ]
    }
}
