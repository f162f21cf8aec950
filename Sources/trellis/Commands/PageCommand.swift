import ArgumentParser
import PageStore

/// `trellis page`: one page taken apart.
struct PageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Takes one page apart.")

    @OptionGroup var store: StoreOptions
    @Argument(help: "The page's number.")
    var number: UInt64

    func run() throws {
        try store.withEngine { engine in
            let page = try engine.snapshot().page(PageID(number))
            let summary = PageSummary(page)
            if store.json {
                Console.print(PageText.json(page.id, summary))
            } else {
                PageText.print(page.id, summary)
            }
        }
    }
}

/// A page's parts for the eye and as JSON.
enum PageText {
    static func print(_ id: PageID, _ summary: PageSummary) {
        var lines = [
            (name: "page", value: "\(id.rawValue)"),
            (name: "kind", value: summary.kind.map { "\($0)" } ?? "unknown"),
        ]
        lines += summary.fields.map { (name: $0.name, value: "\($0.value)") }
        lines.append((name: "lowerFence", value: ByteText.short(summary.lowerFence)))
        lines.append((name: "upperFence", value: ByteText.short(summary.upperFence)))
        Console.print(lines)
        for entry in summary.entries {
            Swift.print("  \(ByteText.short(entry.key)) → \(text(entry.content))")
        }
    }

    static func json(_ id: PageID, _ summary: PageSummary) -> JSONText {
        var members: [(name: String, value: JSONText)] = [
            (name: "page", value: .integer(id.rawValue)),
            (name: "kind", value: .string(summary.kind.map { "\($0)" } ?? "unknown")),
        ]
        members += summary.fields.map { (name: $0.name, value: .integer($0.value)) }
        members += [
            (name: "lowerFence", value: .string(ByteText.hex(summary.lowerFence))),
            (name: "upperFence", value: .string(ByteText.hex(summary.upperFence))),
            (name: "entries", value: .array(summary.entries.map(json))),
        ]
        return .object(members)
    }

    static func json(_ entry: PageSummary.Entry) -> JSONText {
        let key = (name: "key", value: JSONText.string(ByteText.hex(entry.key)))
        switch entry.content {
        case .value(let bytes):
            return .object([key, (name: "value", value: .string(ByteText.hex(bytes)))])
        case .child(let page):
            return .object([key, (name: "child", value: .integer(page.rawValue))])
        case .blob(let blob):
            return .object([
                key, (name: "blob", value: .integer(blob.page.rawValue)),
                (name: "sizeInBytes", value: .integer(blob.sizeInBytes)),
            ])
        }
    }

    static func text(_ content: PageSummary.Content) -> String {
        switch content {
        case .value(let bytes): ByteText.short(bytes)
        case .child(let page): "\(page)"
        case .blob(let blob): "blob at \(blob.page), \(blob.sizeInBytes) bytes"
        }
    }
}
