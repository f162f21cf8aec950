import Foundation
import Testing

/// Where files lie and what they may import.
@Suite struct LayoutTests {
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

    @Test func `no two files of a target share a name`() {
        var verdict = Verdict("names of files")
        for (target, files) in Dictionary(grouping: SourceFile.rooms, by: \.room) {
            for (name, same) in Dictionary(grouping: files, by: \.name) where same.count > 1 {
                verdict.note("\(target)/\(name)", "there are \(same.count)")
            }
        }
        verdict.expectNothing()
    }

    private static let system: Set = ["Glibc", "Musl", "Darwin"]
    private static let language: Set = ["Foundation", "Synchronization", "Dispatch"]
    private static let allowed: [String: Set<String>] = [
        "PageStore": [
            "CFileIdentity", "CLZ4", "CPrefetch", "CXXHash", "Synchronization", "Dispatch",
        ],
        "RecordStore": language.union(["PageStore"]),
        "Query": language.union(["RecordStore"]),
        "ObjectGraph": language.union(["Query", "RecordStore", "CFieldPlan"]),
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
                // The system itself only behind a fence.
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

/// The folders that may do what the rest of their room may not.
enum Fences {
    static let unsafe = [
        "Sources/PageStore/Bytes/", "Sources/PageStore/File/", "Sources/RecordStore/Row/",
        "Sources/ObjectGraph/Storage/",
    ]
    /// Bytes and rows are copied and compared by the system's functions; only files call it.
    static let system = [
        "Sources/PageStore/File/", "Sources/PageStore/Bytes/", "Sources/RecordStore/Row/",
    ]
}
