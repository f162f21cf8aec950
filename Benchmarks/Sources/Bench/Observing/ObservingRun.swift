import Foundation

/// `--observing PERSONS`: every contender in a process of its own, then the page.
struct ObservingRun {
    let options: Options
    let persons: Int

    func run() throws {
        if let name = options.child { return try runChild(name) }
        var figures: [ObservingFigure] = []
        let names = [
            "trellis", "by-hand", "grdb", "trellis-large", "trellis-versions", "trellis-reader",
        ]
        for name in names {
            figures += try JSONDecoder().decode([ObservingFigure].self, from: output(name))
        }
        if FileManager.default.isExecutableFile(atPath: "/usr/bin/valgrind") {
            figures += try ObservingCounts(directory: options.directory).figures()
        }
        figures.sort { left, right in
            (Int(left.row.dropFirst()) ?? 0, left.contender)
                < (Int(right.row.dropFirst()) ?? 0, right.contender)
        }
        let report = ObservingReport(figures: figures, persons: persons, commit: options.commit)
        print(report.markdown())
        if let folder = options.results {
            try Data(report.markdown().utf8)
                .write(to: URL(fileURLWithPath: folder + "/OBSERVING.md"))
        }
    }

    private func output(_ name: String) throws -> Data {
        FileHandle.standardError.write(Data("\(persons) persons, observed: \(name)\n".utf8))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        // Its list is of ten times as many.
        let persons = name == "trellis-reader" ? self.persons * 10 : self.persons
        process.arguments = [
            "--child", name, "--observing", "\(persons)", "--directory", options.directory,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Options.Failure(message: "\(name) ended with \(process.terminationStatus)")
        }
        return output
    }

    // MARK: A contender's process

    private func runChild(_ name: String) throws {
        let path = options.directory + "/\(name).store"
        defer {
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        let other = OtherProcess(
            path: options.directory + "/followed.store", directory: options.directory,
            persons: persons)
        let figures: [ObservingFigure]
        switch name {
        case "trellis":
            figures = try measure(name, ObservedTrellis.self, path) { work in
                try work.runSmall(commitCount: 200)
            }
        case "trellis-large":
            figures = try measure("trellis", ObservedTrellis.self, path, times: 10) { work in
                try work.runLarge(commitCount: 200)
            }
        case "trellis-versions":
            figures = try measure(
                "trellis", ObservedTrellis.self, path, times: 10
            ) { try $0.runVersions() }
        case "by-hand":
            figures = try measure(name, ObservedSQLite.self, path) { try $0.run(commitCount: 20) }
        case "grdb":
            figures = try measure(name, ObservedGRDB.self, path) { try $0.run(commitCount: 10) }
        case "trellis-reader":
            figures = [
                ObservingFigure(
                    row: "O11", contender: "trellis", what: "a commit of another process, told",
                    value: try other.measure(commitCount: 15), unit: "wall ms")
            ]
        case "trellis-writer": return try other.write()
        case "trellis-counted":
            try ObservingCounts(directory: options.directory).runChild()
            figures = []
        default: throw Options.Failure(message: "no store observes by the name of \(name)")
        }
        FileHandle.standardOutput.write(try JSONEncoder().encode(figures))
    }

    private func measure<Store: ObservedStore>(
        _ name: String, _ type: Store.Type, _ path: String, times: Int = 1,
        _ body: (inout ObservingWork<Store>) throws -> Void
    ) throws -> [ObservingFigure] {
        let store = try Store(path: path, cacheSizeInBytes: 1024 << 20)
        var work = try ObservingWork(name, store, personCount: persons * times)
        try body(&work)
        try store.close()
        return work.figures
    }
}
