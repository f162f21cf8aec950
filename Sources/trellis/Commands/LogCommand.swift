import ArgumentParser
import PageStore

/// `trellis wal`: the frames of the log.
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wal", abstract: "Lists the frames of the write-ahead log.")

    @OptionGroup var store: StoreOptions

    func run() throws {
        try store.withEngine { engine in
            let (frames, error) = try engine.readableLogFrames()
            if store.json {
                Console.print(
                    .object([
                        (name: "frames", value: .array(frames.map(json))),
                        (name: "error", value: error.map(Console.json) ?? .null),
                    ]))
            } else {
                for frame in frames { print(text(frame)) }
                print("\(frames.count) frames")
                if let error { print("unreadable: \(error)") }
            }
            if error != nil { throw ExitCode(1) }
        }
    }

    private func text(_ frame: LogFrame) -> String {
        var text = "byte \(frame.byteOffset)\t\(frame.length)\t\(frame.type)"
        text += "\tsegment \(frame.segmentNumber)"
        if let page = frame.pageID { text += "\tpage \(page)" }
        if let commit = frame.commitNumber { text += "\tcommit \(commit)" }
        return text
    }

    private func json(_ frame: LogFrame) -> JSONText {
        .object([
            (name: "byteOffset", value: .integer(frame.byteOffset)),
            (name: "length", value: .integer(frame.length)),
            (name: "type", value: .string("\(frame.type)")),
            (name: "segment", value: .integer(frame.segmentNumber)),
            (name: "page", value: .optional(frame.pageID)),
            (name: "commit", value: .optional(frame.commitNumber)),
        ])
    }
}
