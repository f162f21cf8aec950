import Dispatch
import Foundation
import Primitives
import Proof

/// Compiles the shim, once for a process.
enum DiskShim {
    /// The library, or the error of compiling it.
    static let library = Result { try compile() }
    /// Its path, until this process ends.
    private static let kept = Mutex("")

    private static func compile() throws -> URL {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("DiskShim/shim.c")
        // Not among files in memory, of which some systems load no library.
        let library = FileManager.default.temporaryDirectory
            .appendingPathComponent("trellis-disk-shim-\(UUID()).so")
        kept.withLock { $0 = library.path }
        atexit { _ = DiskShim.kept.withLock { unlink($0) } }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // Without a system compiler that of the Swift toolchain is used.
        process.arguments = [
            "sh", "-c",
            "exec $(command -v cc || echo clang) -std=gnu11 -shared -fPIC -o \"$0\" \"$1\" -ldl",
            library.path, source.path,
        ]
        do {
            try process.run()
        } catch {
            throw ProofObstacle("nothing compiles the shim: \(error)")
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ProofObstacle("the shim could not be compiled: is there a cc?")
        }
        return library
    }
}

/// Temporary folders, in memory if the system has such a file system.
enum DiskFolder {
    static let root: URL = {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        return isThere ? memory : FileManager.default.temporaryDirectory
    }()

    /// A new folder; the caller may remove it.
    static func make(_ name: String) throws -> URL {
        let folder = root.appendingPathComponent("trellis-disk-\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.resolvingSymlinksInPath()
    }

    /// The files of a folder by their names.
    static func image(of folder: URL) throws -> DiskMedium.Image {
        var image: DiskMedium.Image = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            image[name] = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
        }
        return image
    }

    static func write(_ image: DiskMedium.Image, to folder: URL) throws {
        for (name, bytes) in image {
            try Data(bytes).write(to: folder.appendingPathComponent(name))
        }
    }
}

/// The effect of a call in place of the normal one: see `Tests/DiskShim/shim.c`.
struct DiskFault {
    var kind: String
    var call: Int
    var effect: String
    /// The number of calls, 0 for all from then on.
    var count: Int
    /// Whether the reader's calls fail.
    var isOfReader = false

    var text: String { "\(kind) \(call) \(effect) \(count)" }
}

/// A folder in which the traced program runs, any number of times, with one trace.
final class DiskRun {
    let base: URL
    let folder: URL
    private let notes: URL
    private let traceFile: URL
    private let output: URL
    /// The longest time that a program may take.
    private let limitInSeconds: Double

    init(_ image: DiskMedium.Image = [:], limitInSeconds: Double = 30) throws {
        self.limitInSeconds = limitInSeconds
        base = try DiskFolder.make("run")
        folder = base.appendingPathComponent("folder")
        notes = base.appendingPathComponent("notes")
        traceFile = base.appendingPathComponent("trace")
        output = base.appendingPathComponent("output")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data().write(to: notes)
        try Data().write(to: output)
        try DiskFolder.write(image, to: folder)
    }

    func remove() { try? FileManager.default.removeItem(at: base) }

    /// The trace that the shim wrote.
    func trace() throws -> DiskTrace { try DiskTrace(contentsOf: traceFile) }

    /// Runs the program to its end. Throws unless it ends by itself and successfully.
    func run(
        _ steps: [DiskWorkload.Step], seed: UInt64, closes: Bool, fault: DiskFault? = nil,
        isPreloaded: Bool = true
    ) throws {
        let process = Process()
        process.executableURL = Self.program
        process.arguments =
            ["run", folder.path, notes.path, "\(seed)", closes ? "close" : "die"]
            + steps.map(\.rawValue)
        var environment = ProcessInfo.processInfo.environment
        if isPreloaded { environment["LD_PRELOAD"] = try DiskShim.library.get().path }
        environment["TRELLIS_DISK_FOLDER"] = folder.path
        environment["TRELLIS_DISK_NOTES"] = notes.path
        environment["TRELLIS_DISK_TRACE"] = traceFile.path
        let name = fault?.isOfReader == true ? "TRELLIS_DISK_READER_FAULT" : "TRELLIS_DISK_FAULT"
        environment[name] = fault?.text
        process.environment = environment
        let log = try FileHandle(forWritingTo: output)
        process.standardOutput = log
        process.standardError = log
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        if ended.wait(timeout: .now() + limitInSeconds) == .timedOut {
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
            throw ProofFailure("the program does not end within \(Int(limitInSeconds)) s")
        }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            let said = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
            throw ProofFailure(
                "the program ended with \(process.terminationStatus): \(said.suffix(600))")
        }
    }

    /// Throws a `ProofObstacle` when there is no program or no shim.
    static func requireTools() throws {
        _ = try DiskShim.library.get()
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw ProofObstacle("there is no program at \(program.path)")
        }
    }

    private static var program: URL {
        let named = ProcessInfo.processInfo.environment["TRELLIS_DISK_PROGRAM"]
        if let named { return URL(fileURLWithPath: named) }
        let own = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return own.deletingLastPathComponent().appendingPathComponent("DiskProgram")
    }
}
