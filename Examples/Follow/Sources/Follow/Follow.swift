import ObjectGraph

/// `Follow import|show [--store FILE] [--data FOLDER] [--seconds N] [--answers FILE]`: two
/// processes with one store. The first imports the world's subdivisions in batches, the second
/// shows the largest countries so far, live. Both write the list that they end with to a file.
@main
struct Follow {
    private var store = URL(fileURLWithPath: "follow.trellis")
    private var folder = URL(fileURLWithPath: "/usr/share/iso-codes/json")
    private var seconds = 10.0
    private var answers: URL?

    private init(_ options: ArraySlice<String>) throws {
        var rest = options
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else {
                throw Failure(description: "\(flag) needs a value")
            }
            switch flag {
            case "--store": store = URL(fileURLWithPath: value)
            case "--data": folder = URL(fileURLWithPath: value)
            case "--answers": answers = URL(fileURLWithPath: value)
            case "--seconds":
                guard let number = Double(value), (0.1...86_400).contains(number) else {
                    throw Failure(description: "\(value) is no number of seconds from 0.1 to 86400")
                }
                seconds = number
            default: throw Failure(description: "\(flag) is no option")
            }
        }
    }

    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            let follow = try Follow(arguments.dropFirst())
            let lines: [String]
            switch arguments.first {
            case "import":
                lines = try Import(
                    store: follow.store, folder: follow.folder, seconds: follow.seconds
                ).run()
            case "show": lines = try await follow.show()
            default: throw Failure(description: "say import or show")
            }
            if let file = follow.answers {
                try (lines.joined(separator: "\n") + "\n")
                    .write(to: file, atomically: true, encoding: .utf8)
            }
        } catch {
            FileHandle.standardError.write(Data("Follow: \(error)\n".utf8))
            exit(1)
        }
    }

    // MARK: Showing

    /// Returns the list as it was shown last.
    @MainActor private func show() async throws -> [String] {
        let stack = DataStack(World.schema())
        try await open(stack)
        let screen = Screen()
        let monitor = stack.monitorSectionedList(World.largest())
        let changes = monitor.changes
        let showing = Task { @MainActor in
            for await change in changes { screen.show(change) }
        }
        // A machine that does other work too may take far longer than the import's own time.
        let limit = seconds + 120
        let deadline = Task {
            try await Task.sleep(for: .seconds(limit))
            FileHandle.standardError.write(Data("Follow: the import does not end\n".utf8))
            exit(1)
        }
        let ends = stack.publishList(
            From<Batch>().where(\.$isLast == true).orderBy(.ascending(\.$number)))
        for await end in ends.snapshots() where end.hasItems() { break }
        deadline.cancel()
        showing.cancel()
        screen.end()
        return World.lines(monitor.objectsInAllSections())
    }

    /// Waits for the importing process to make the store.
    @MainActor private func open(_ stack: DataStack) async throws {
        var options = EngineOptions()
        options.isReadOnly = true
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            do {
                if FileManager.default.fileExists(atPath: store.path) {
                    try stack.addStorageAndWait(LocalStore(fileURL: store, engineOptions: options))
                    return
                }
                guard ContinuousClock.now < deadline else {
                    throw Failure(description: "there is no store at \(store.path)")
                }
            } catch let error as CoreStoreError {
                // The store may be in the making.
                if ContinuousClock.now >= deadline { throw error }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
