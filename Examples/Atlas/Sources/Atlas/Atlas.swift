import ObjectGraph

/// `Atlas [--data FOLDER] [--store FILE] [--answers FILE]`: imports the world's countries,
/// subdivisions, languages, currencies and scripts, and answers questions about them.
///
/// `Atlas --migrate FILE`: brings a file of version 1 to version 2, and shows some of its objects
/// before and after. `Atlas --check-version-1 FILE`: reads a file with the classes of version 1.
/// `Atlas [--data FOLDER] --write-version-1 FILE --countries N`: writes such a file, with N
/// countries and as large a share of everything else.
///
/// `Atlas --check-version-2 FILE`: opens a file of version 2 without a migration, and shows that
/// version 1 refuses it. `Atlas [--data FOLDER] --write-version-2 FILE --countries N`: imports a
/// share of the records to such a file.
@main
struct Atlas {
    private var folder = URL(fileURLWithPath: "/usr/share/iso-codes/json")
    private var store = URL(fileURLWithPath: "atlas.trellis")
    private var answers: URL?
    private var migrated: URL?
    private var checked: URL?
    private var written: URL?
    private var checkedCurrent: URL?
    private var writtenCurrent: URL?
    private var countryCount = 15

    private init(_ options: ArraySlice<String>) throws {
        var rest = options
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else {
                throw AtlasImport.Failure(description: "\(flag) needs a value")
            }
            switch flag {
            case "--data": folder = URL(fileURLWithPath: value)
            case "--store": store = URL(fileURLWithPath: value)
            case "--answers": answers = URL(fileURLWithPath: value)
            case "--migrate": migrated = URL(fileURLWithPath: value)
            case "--check-version-1": checked = URL(fileURLWithPath: value)
            case "--write-version-1": written = URL(fileURLWithPath: value)
            case "--check-version-2": checkedCurrent = URL(fileURLWithPath: value)
            case "--write-version-2": writtenCurrent = URL(fileURLWithPath: value)
            case "--countries":
                guard let number = Int(value), number > 0 else {
                    throw AtlasImport.Failure(description: "\(value) is no number of countries")
                }
                countryCount = number
            default: throw AtlasImport.Failure(description: "\(flag) is no option")
            }
        }
    }

    @MainActor static func main() async {
        do {
            try await Atlas(CommandLine.arguments.dropFirst()).run()
        } catch {
            FileHandle.standardError.write(Data("Atlas: \(error)\n".utf8))
            exit(1)
        }
    }

    @MainActor private func run() async throws {
        if let written {
            try FirstVersionFile(file: written, folder: folder).write(countryCount: countryCount)
        } else if let checked {
            let content = try Content.ofVersion1(in: checked)
            print("Version 1 reads \(content.count) objects")
        } else if let writtenCurrent {
            try CurrentVersionFile(file: writtenCurrent)
                .write(from: folder, countryCount: countryCount)
        } else if let checkedCurrent {
            try CurrentVersionFile(file: checkedCurrent).check()
        } else if let migrated {
            try await Migration(file: migrated).run()
        } else {
            try await importAndAnswer()
        }
    }

    @MainActor private func importAndAnswer() async throws {
        let stack = atlasStack()
        try await stack.add(atlasStore(store)) { Self.showProgress("Migrating, \($0)") }
        print("Importing \(folder.path) into \(store.path)")
        try AtlasImport(stack: stack, folder: folder, progress: Self.showProgress).run()
        let list = try Questions(stack: stack).answers()
        for answer in list { show(answer) }
        if let answers {
            let json = list.map { ["title": $0.title, "lines": $0.lines] as [String: Any] }
            try JSONSerialization.data(withJSONObject: json, options: [.prettyPrinted])
                .write(to: answers)
        }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// One line that is written over, on a terminal only.
    private static func showProgress(_ text: String) {
        guard isatty(1) == 1 else { return }
        print("\r\u{1B}[K\(text)", terminator: "")
    }

    private func show(_ answer: Questions.Answer) {
        print("\n\(answer.title)")
        for line in answer.lines.prefix(12) { print("    \(line)") }
        if answer.lines.count > 12 { print("    … and \(answer.lines.count - 12) more") }
    }
}
