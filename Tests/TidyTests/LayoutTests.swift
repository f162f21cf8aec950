import Foundation
import Testing

/// Where files lie and what they may import.
@Suite struct LayoutTests {
    /// Without this each test of a list of files would hold where the list is empty: a binary that
    /// was moved, or another checkout.
    @Test func `the sources that the tidy tests read are found`() {
        let rooms = [
            "Primitives", "PageStore", "RecordStore", "Query", "ObjectGraph", "XcodeModels",
            "TrellisLogging", "trellis",
        ]
        for room in rooms {
            #expect(SourceFile.rooms.contains { $0.room == room }, "no source of \(room)")
        }
        for folder in ["Tests/", "FuzzTests/", "Examples/", "Benchmarks/"] {
            #expect(SourceFile.all.contains { $0.path.hasPrefix(folder) }, "no file in \(folder)")
        }
    }

    @Test func `every path in the architecture is in its room, or in the one named last`() throws {
        let text = try String(
            contentsOf: SourceFile.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        let paths = Paths.named(in: text)
        #expect(paths.count > 100)
        let missing = Paths.missing(paths)
        #expect(missing.isEmpty, "\(missing.joined(separator: "\n"))")
    }

    @Test func `every type in the architecture is declared in the sources`() throws {
        let text = try String(
            contentsOf: SourceFile.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        let named = Set(text.matches(of: /`([A-Z]\w+)`/).map { String($0.1) })
        #expect(named.count > 20)
        let declaration = /\b(?:class|struct|enum|actor|protocol|typealias) ([A-Z]\w+)/
        // Rooms and folders are the other capitalised names that it has.
        var declared = Set(SourceFile.all.flatMap(\.parts))
        for file in SourceFile.rooms {
            for (_, text) in file.code {
                declared.formUnion(text.matches(of: declaration).map { String($0.1) })
            }
        }
        let missing = named.subtracting(declared).filter { !Paths.exists("Sources/\($0)") }
        #expect(missing.isEmpty, "\(missing.joined(separator: ", "))")
    }

    @Test func `every decision is in the index, once and in its order`() throws {
        let folder = SourceFile.root.appending(path: "decisions")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.wholeMatch(of: /\d{3}-.*\.md/) != nil }.sorted()
        let index = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
        let listed = index.matches(of: /\((\d{3}-[^)]*\.md)\)/).map { String($0.1) }
        #expect(files.count > 20)
        #expect(listed == files)
        let numbers = files.map { $0.prefix(3) }
        #expect(Set(numbers).count == numbers.count, "two decisions have one number")
    }

    @Test func `a path is looked for in the room named last alone`() {
        let text = "`PageStore/Engine.swift`, `Tree/Cursor.swift`: `a / b`, `Nowhere/File.swift`"
        let named = ["PageStore/Engine.swift", "Tree/Cursor.swift", "Nowhere/File.swift"]
        #expect(Paths.named(in: text) == named)
        #expect(Paths.missing(named) == ["Nowhere/File.swift"])
        #expect(Paths.missing(["Query/Plan/Planner.swift", named[1]]) == [named[1]])
    }

    /// The names differ, and so do what they export: CTrellis and swift-system stand for them.
    @Test func `no file names a platform's own C library`() {
        var verdict = Verdict("platforms")
        for file in SourceFile.all where !file.path.hasPrefix("Tests/TidyTests/") {
            for (number, text) in file.code
            where text.contains(/\b(?:Glibc|Musl|Darwin|Bionic|WinSDK)\b/) {
                verdict.note(file.path, "line \(number): \(text)")
            }
        }
        verdict.expectNothing()
    }

    /// ThreadSanitizer sees the mutex of Primitives alone.
    @Test func `a file that uses a mutex imports that of Primitives`() {
        var verdict = Verdict("mutexes")
        // Code written as a program's may use the system's mutex.
        let users = ["Tests/GuideTests/", "Tests/KillChild/", "Tests/TidyTests/"]
        let tests = SourceFile.all.filter { file in
            isOurTest(file) && !users.contains(where: file.path.hasPrefix)
        }
        for file in SourceFile.rooms + tests where !file.path.hasPrefix("Sources/Primitives/") {
            guard file.code.contains(where: { $0.text.contains(/\bMutex\b/) }) else { continue }
            if !file.lines.contains("import Primitives") {
                verdict.note(file.path, "does not import Primitives")
            }
            if file.lines.contains("import Synchronization") {
                verdict.note(file.path, "imports all of Synchronization")
            }
        }
        verdict.expectNothing()
    }

    @Test func `no file lies deeper than room and folder`() {
        var verdict = Verdict("depth")
        for file in SourceFile.all where file.path.hasPrefix("Sources/") || isOurTest(file) {
            // Sources/Room/Folder/File.swift
            if file.parts.count > 4 { verdict.note(file.path, "lies too deep") }
        }
        verdict.expectNothing()
    }

    private func isOurTest(_ file: SourceFile) -> Bool { file.path.hasPrefix("Tests/") }

    @Test func `folders hold two to twenty files`() {
        var verdict = Verdict("folder size")
        let folders = Dictionary(
            grouping: SourceFile.rooms, by: { $0.parts.dropLast().joined(separator: "/") })
        for (folder, files) in folders where folder.split(separator: "/").count > 2 {
            if !(2...20).contains(files.count) {
                verdict.note(folder, "holds \(files.count) files")
            }
        }
        verdict.expectNothing()
    }

    /// Each folder of Query may use those before it.
    private static let queryFolders = [
        "Condition", "Request", "Meaning", "Format", "Plan", "Run", "Lists", "Live",
    ]

    @Test func `the folders of Query use each other in one direction`() {
        var verdict = Verdict("order of folders")
        let files = SourceFile.rooms.filter { $0.room == "Query" }
        #expect(Set(files.map { $0.parts[2] }) == Set(Self.queryFolders))
        let declaration = /(?:struct|enum|class|protocol) (\w+)/
        var folders: [String: Set<Int>] = [:]
        func rank(_ file: SourceFile) -> Int {
            Self.queryFolders.firstIndex(of: file.parts[2]) ?? 0
        }
        for file in files {
            for (_, line) in file.code {
                guard let match = line.firstMatch(of: declaration) else { continue }
                folders[String(match.1), default: []].insert(rank(file))
            }
        }
        #expect(folders.count > 60)
        for file in files {
            for (number, line) in file.code {
                for name in line.matches(of: /\w+/).map({ String($0.0) }) {
                    // A name that several folders declare is each folder's own.
                    guard let first = folders[name]?.min(), first > rank(file) else { continue }
                    verdict.note("\(file.path):\(number)", "uses \(name) of a later folder")
                }
            }
        }
        verdict.expectNothing()
    }

    @Test func `no two files of a target share a name`() {
        var verdict = Verdict("names of files")
        for (target, files) in Dictionary(grouping: SourceFile.rooms, by: \.room) {
            for (name, same) in Dictionary(grouping: files, by: \.name) where same.count > 1 {
                verdict.note("\(target)/\(name)", "there are \(same.count)")
            }
        }
        verdict.expectNothing()
    }

    private static let system: Set = ["CTrellis", "SystemPackage"]
    private static let language: Set = ["Foundation", "Synchronization", "Dispatch"]
    private static let allowed: [String: Set<String>] = [
        "Primitives": ["Synchronization", "Dispatch"],
        "PageStore": ["CLZ4", "CXXHash", "Primitives", "Synchronization", "Dispatch"],
        "RecordStore": language.union(["PageStore", "Primitives"]),
        "Query": language.union(["RecordStore", "Primitives"]),
        "ObjectGraph": language.union([
            "Query", "RecordStore", "Primitives", "CTrellis", "Observation", "Combine",
            "OpenCombine", "SwiftUI", "UIKit", "AppKit",
        ]),
        "XcodeModels": language.union(["ObjectGraph", "RecordStore", "FoundationXML"]),
        "TrellisLogging": ["ObjectGraph", "Logging"],
        "trellis": language.union(["PageStore", "RecordStore", "Query", "ArgumentParser"]),
    ]

    @Test func `each room imports only what it may know`() {
        var verdict = Verdict("imports")
        let pattern = /^\s*(?:public |package |@\w+ )*import (?:\w+ )?(\w+)$/
        for file in SourceFile.rooms {
            for (number, text) in file.code {
                guard let match = text.firstMatch(of: pattern) else { continue }
                let module = String(match.1)
                if Self.allowed[file.room]?.contains(module) == true { continue }
                // The system itself only inside a fence.
                if Self.system.contains(module), Fences.system.contains(where: file.path.hasPrefix)
                {
                    continue
                }
                verdict.note(file.path, "line \(number) imports \(module)")
            }
        }
        verdict.expectNothing()
    }
}

/// Paths as ARCHITECTURE.md writes them: from the root, from `Sources`, or from a room.
enum Paths {
    static func named(in text: String) -> [String] {
        let pattern = /`([\w.+-]+(?:\/[\w.+-]+)+\/?)`/
        return text.matches(of: pattern).map { String($0.1) }
    }

    /// Those that are not in the room which they name, or which the path before them was in.
    static func missing(_ paths: [String]) -> [String] {
        let rooms = Set(SourceFile.rooms.map(\.room))
        var last = ""
        return paths.filter { path in
            let first = String(path.prefix { $0 != "/" })
            let start: String
            if [".", "Sources", "Tests"].contains(first) {
                start = ""
            } else {
                if rooms.contains(first) { last = first + "/" }
                start = "Sources/" + (rooms.contains(first) ? "" : last)
            }
            let file = SourceFile.root.appending(path: start + path)
            return !FileManager.default.fileExists(atPath: file.path)
        }
    }

    static func exists(_ path: String) -> Bool {
        let rooms = Set(SourceFile.rooms.map(\.room)).map { "Sources/\($0)/" }
        return (["", "Sources/"] + rooms).contains { start in
            let file = SourceFile.root.appending(path: start + path)
            return FileManager.default.fileExists(atPath: file.path)
        }
    }
}

/// The folders that may do what the rest of their room may not.
enum Fences {
    static let unsafe = [
        "Sources/Primitives/", "Sources/PageStore/Bytes/", "Sources/PageStore/Node/",
        "Sources/PageStore/Cache/", "Sources/PageStore/File/", "Sources/PageStore/Platform/",
        "Sources/RecordStore/Row/",
        "Sources/ObjectGraph/Unsafe/",
        // Foundation passes a pointer to the closure that tells of a match.
        "Sources/Query/Meaning/WholeMatch.swift",
    ]
    /// Bytes and rows are copied and compared by the system's functions; only files call it.
    static let system = [
        "Sources/PageStore/File/", "Sources/PageStore/Platform/", "Sources/PageStore/Bytes/",
        "Sources/PageStore/Node/", "Sources/PageStore/Cache/", "Sources/RecordStore/Row/",
    ]
}
