import ArgumentParser
import PageStore

/// `trellis wal`: the frames of the log.
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wal", abstract: "Lists the frames of the write-ahead log.")

    @OptionGroup var store: StoreOptions

    func run() throws {
        try store.withEngine { engine in
            // A log can have millions of frames: each is printed as it is read.
            if store.json { print("{\"frames\": [", terminator: "") }
            var count = 0
            let error = try engine.readLogFrames { frame in
                count += 1
                guard store.json else { return print(text(frame)) }
                print((count > 1 ? ", " : "") + json(frame).text, terminator: "")
            }
            if store.json {
                print("], \"error\": \((error.map(Console.json) ?? .null).text)}")
            } else {
                print("\(count) frames")
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
