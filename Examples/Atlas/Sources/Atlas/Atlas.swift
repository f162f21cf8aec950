import ObjectGraph

/// `Atlas [--data FOLDER] [--store FILE] [--answers FILE]`: imports the world's countries,
/// subdivisions, languages, currencies and scripts, and answers questions about them.
@main
struct Atlas {
    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("Atlas: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) throws {
        var folder = "/usr/share/iso-codes/json"
        var store = "atlas.trellis"
        var answersFile: String?
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else {
                throw AtlasImport.Failure(description: "\(flag) needs a value")
            }
            switch flag {
            case "--data": folder = value
            case "--store": store = value
            case "--answers": answersFile = value
            default: throw AtlasImport.Failure(description: "\(flag) is no option")
            }
        }
        let stack = DataStack(atlasSchema())
        try stack.addStorageAndWait(LocalStore(fileURL: URL(fileURLWithPath: store)))
        print("Importing \(folder) into \(store)")
        try AtlasImport(
            stack: stack, folder: URL(fileURLWithPath: folder), progress: showProgress
        ).run()
        let answers = try Questions(stack: stack).answers()
        for answer in answers { show(answer) }
        if let answersFile {
            let json = answers.map { ["title": $0.title, "lines": $0.lines] as [String: Any] }
            try JSONSerialization.data(withJSONObject: json, options: [.prettyPrinted])
                .write(to: URL(fileURLWithPath: answersFile))
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// One line that is written over, on a terminal only.
    private static func showProgress(_ text: String) {
        guard isatty(1) == 1 else { return }
        print("\r\u{1B}[K\(text)", terminator: "")
    }

    private static func show(_ answer: Questions.Answer) {
        print("\n\(answer.title)")
        for line in answer.lines.prefix(12) { print("    \(line)") }
        if answer.lines.count > 12 { print("    … and \(answer.lines.count - 12) more") }
    }
}
