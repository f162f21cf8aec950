import Foundation
import ObjectGraph

/// O11: a list follows what another process commits. That process writes the file and commits once
/// for each byte that it reads; this one has the file open for reading.
struct OtherProcess {
    let path: String
    let directory: String
    let persons: Int

    /// The process that writes.
    func write() throws {
        let store = try ObservedTrellis(path: path, cacheSizeInBytes: 1024 << 20)
        try store.insert(personCount: persons)
        var changes = ObservedChanges(personCount: persons)
        FileHandle.standardOutput.write(Data("+".utf8))
        while try FileHandle.standardInput.read(upToCount: 1)?.isEmpty == false {
            try store.change(names: [changes.rename()])
            FileHandle.standardOutput.write(Data("+".utf8))
        }
        try store.close()
    }

    /// The milliseconds from the other process's word that it has committed to the callback.
    func measure(commitCount: Int) throws -> Double {
        let (process, questions, answers) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "--child", "trellis-writer", "--observing", "\(persons)", "--directory", directory,
        ]
        (process.standardInput, process.standardOutput) = (questions, answers)
        try process.run()
        _ = try answers.fileHandleForReading.read(upToCount: 1)
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(ObservedTrellis.schema, viewContext: .queue(queue))
        var options = EngineOptions()
        (options.cacheSizeInBytes, options.isReadOnly) = (1024 << 20, true)
        try stack.addStorageAndWait(
            LocalStore(fileURL: URL(fileURLWithPath: path), engineOptions: options))
        let (told, observer) = (DispatchSemaphore(value: 0), ObservedTrellis.Observer())
        observer.onTold = { told.signal() }
        let monitor = queue.sync {
            let monitor = stack.monitorSectionedList(ObservedTrellis.sectioned)
            monitor.addObserver(observer)
            return monitor
        }
        var times: [Double] = []
        for _ in 0..<commitCount {
            try questions.fileHandleForWriting.write(contentsOf: Data("?".utf8))
            _ = try answers.fileHandleForReading.read(upToCount: 1)
            let start = ObservingWork<ObservedTrellis>.now()
            told.wait()
            times.append(ObservingWork<ObservedTrellis>.now() - start)
        }
        queue.sync { withExtendedLifetime((monitor, observer)) {} }
        try questions.fileHandleForWriting.close()
        process.waitUntilExit()
        return (Stage.median(times) ?? 0) * 1000
    }
}
