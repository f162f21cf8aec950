import Foundation
import Testing

/// `scripts/test` builds some suites a second and a third time, without some of their folders.
@Suite struct LeftOutTests {
    @Test func `no file of a build uses what only folders without it declare`() throws {
        let builds = try Self.builds()
        #expect(builds.count == 2)
        let declaration =
            #/
            ^(?:(?:package|final|indirect|@\w+)\ )*
            (?:func|let|var|struct|enum|class|actor|protocol|typealias)\ `?(\w+)
            /#
        var found: [String] = []
        for leftOut in builds {
            #expect(leftOut.count > 10)
            var missing: [String: Set<String>] = [:]
            for file in SourceFile.all where leftOut.contains(Self.folder(of: file)) {
                for (_, text) in file.code {
                    guard let match = text.firstMatch(of: declaration) else { continue }
                    missing[file.room, default: []].insert(String(match.1))
                }
            }
            for file in SourceFile.all where !leftOut.contains(Self.folder(of: file)) {
                guard file.path.hasPrefix("Tests/"), let names = missing[file.room] else {
                    continue
                }
                for (number, text) in file.code {
                    for name in text.matches(of: /\w+/).map({ String($0.0) })
                    where names.contains(name) {
                        found.append("\(file.path):\(number) uses \(name)")
                    }
                }
            }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test func `every folder that is left out is there`() throws {
        let folders = Set(SourceFile.all.map(Self.folder))
        for folder in try Self.builds().joined() {
            #expect(folders.contains(folder), "there is no Tests/\(folder)")
        }
    }

    /// The suite and the folder in it, as in `RecordStoreTests/Codec`.
    private static func folder(of file: SourceFile) -> String {
        file.parts.dropFirst().dropLast().joined(separator: "/")
    }

    /// The folders that each build leaves out.
    private static func builds() throws -> [Set<String>] {
        let script = try SourceFile.text(at: "scripts/test").lines.joined(separator: "\n")
        return script.matches(of: /(?i)left_out="([^"]*)"/).compactMap { list in
            let calls = list.1.matches(of: /\$\(left_out (\w+) ([\w ]+)\)/)
            let folders = calls.flatMap { call in
                call.2.split(separator: " ").map { "\(call.1)/\($0)" }
            }
            return folders.isEmpty ? nil : Set(folders)
        }
    }
}
