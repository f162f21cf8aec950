import Dispatch
import ObjectGraph
import Testing

/// Stores that other processes use.
@Suite struct ProcessTests {
    /// The child program, with its output, and an input that holds it until it is closed.
    private struct Child {
        let process = Process()
        let input = Pipe()
        let output = Pipe()

        init(_ arguments: String..., errors: Pipe? = nil) throws {
            let own = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            process.executableURL = own.deletingLastPathComponent()
                .appendingPathComponent("KillChild")
            process.arguments = arguments
            process.standardInput = input
            process.standardOutput = output
            if let errors { process.standardError = errors }
            try process.run()
        }

        /// All its output until it ends.
        func end() throws -> String {
            try input.fileHandleForWriting.close()
            let said = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: said, as: UTF8.self)
        }
    }

    private func openingError(_ url: URL) -> StoreError? {
        let stack = DataStack(Zoo.schema(), viewContext: .queue(DispatchQueue(label: "view")))
        do throws(CoreStoreError) {
            try stack.addStorageAndWait(LocalStore(fileURL: url))
            stack.unsafeRemoveAllPersistentStoresAndWait()
            return nil
        } catch {
            return error.storeError
        }
    }

    @Test func `a store that another process holds is refused with a sentence`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let child = try Child("hold", url.path)
        let said = child.output.fileHandleForReading.availableData
        try #require(String(decoding: said, as: UTF8.self) == "open\n")
        let error = openingError(url)
        #expect(error?.code == .lockedByOther)
        #expect(error?.message.contains("another process") == true)
        #expect(error?.path == url.path)
        _ = try child.end()
        #expect(child.process.terminationStatus == 0)
        // Now it is an empty store with another model, which is migrated to this one.
        #expect(openingError(url) == nil)
    }

    @Test func `a forked child is refused and leaves its parent's store alone`() throws {
        let url = Zoo.temporaryURL()
        defer { try? FileManager.default.removeItem(at: url) }
        let child = try Child("fork", url.path)
        let lines = try child.end().split(separator: "\n").map(String.init)
        try #require(lines.count == 4, "\(lines)")
        #expect(lines[0].hasPrefix("child write: ") && lines[0].contains("forked"))
        #expect(lines[1].hasPrefix("child fetch: ") && lines[1].contains("forked"))
        #expect(lines[2] == "child ended 0")
        #expect(lines[3] == "parent committed")
        let said = try Child("read", url.path).end()
        let batches = said.split(separator: "\n").map { String($0.prefix(5)) }
        #expect(batches == ["1 100", "2 100"])
    }

    @Test(arguments: [
        ("none", ["completed 0", "warned 1"]), ("late", ["completed 2", "warned 0"]),
        ("queue", ["completed 4", "warned 0"]),
    ])
    func `a main queue that nothing serves is logged once`(
        _ kind: String, _ expected: [String]
    ) throws {
        let child = try Child("completions", kind)
        let lines = try child.end().split(separator: "\n").map(String.init)
        #expect(child.process.terminationStatus == 0)
        #expect(lines == expected)
    }

    @Test func `the default logger prints that nothing serves the main queue`() throws {
        let errors = Pipe()
        let child = try Child("completions", "default", errors: errors)
        _ = try child.end()
        #expect(child.process.terminationStatus == 0)
        let said = errors.fileHandleForReading.readDataToEndOfFile()
        let lines = String(decoding: said, as: UTF8.self).split(separator: "\n")
            .filter { $0.contains("nothing serves the main queue") }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("Trellis [fatal] ") == true)
    }

    @Test func `many transactions on the main thread run beside background ones`() throws {
        let child = try Child("busy", "memory")
        let lines = try child.end().split(separator: "\n").map(String.init)
        #expect(child.process.terminationStatus == 0)
        #expect(lines == ["done 10000", "positions 10000 batches 2000", "in order true"])
    }

    @Test func `files and folders without permission are named`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("locked-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            chmod(folder.path, 0o755)
            try? FileManager.default.removeItem(at: folder)
        }
        for (name, mode) in [("secret", 0o000), ("fixed", 0o444)] {
            let url = folder.appendingPathComponent(name)
            try Data("no store, but nobody may see it".utf8).write(to: url)
            chmod(url.path, mode_t(mode))
        }
        chmod(folder.path, 0o555)
        let lines = try Child("denied", folder.path).end().split(separator: "\n")
        #expect(
            lines == [
                "secret permissionDenied true", "fixed permissionDenied true",
                "new permissionDenied true", "deep/er/new permissionDenied true",
            ])
    }
}
