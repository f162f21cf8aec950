import ArgumentParser
import PageStore

/// `trellis pages`: every page with its address and its kind.
struct PagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pages", abstract: "Lists the pages, where each lies and what it is.")

    @OptionGroup var store: StoreOptions

    func run() throws {
        try store.withEngine { engine in
            let snapshot = try engine.snapshot()
            var unreadable = 0
            if store.json { print("[", terminator: "") }
            for (index, place) in try snapshot.pagePlaces().enumerated() {
                let row = describe(place, in: snapshot)
                if row.error != nil { unreadable += 1 }
                if store.json {
                    print((index > 0 ? ", " : "") + json(place, row).text, terminator: "")
                } else {
                    let start = place.byteOffset.map { "byte \($0)" } ?? "in the log"
                    let what = row.error.map { "UNREADABLE: \($0.message)" } ?? row.kind
                    print("\(place.page.rawValue)\t\(start)\t\(place.sizeInBytes)\t\(what)")
                }
            }
            if store.json { print("]") }
            if unreadable > 0 { throw ExitCode(1) }
        }
    }

    private typealias Row = (kind: String, error: StoreError?)

    private func describe(_ place: PagePlace, in snapshot: Snapshot) -> Row {
        do throws(StoreError) {
            let summary = PageSummary(try snapshot.page(place.page))
            return (kind: summary.kind.map { "\($0)" } ?? "unknown", error: nil)
        } catch {
            return (kind: "unreadable", error: error)
        }
    }

    private func json(_ place: PagePlace, _ row: Row) -> JSONText {
        .object([
            (name: "page", value: .integer(place.page.rawValue)),
            (name: "byteOffset", value: .optional(place.byteOffset)),
            (name: "sizeInBytes", value: .integer(place.sizeInBytes)),
            (name: "kind", value: .string(row.kind)),
            (name: "error", value: row.error.map(Console.json) ?? .null),
        ])
    }
}
