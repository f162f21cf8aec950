import ObjectGraph
import Testing

@testable import XcodeModels

/// Folders of models, and folders with other content.
@Suite struct ModelFolderTests {
    /// Passes a folder with these files, each of which is empty or a small model.
    private func withFolder<Result>(
        _ files: [String: String], _ body: (URL) throws -> Result
    ) throws -> Result {
        let folder = try ModelFiles.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        for (path, text) in files {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return try body(folder)
    }

    private func code(_ folder: URL, _ name: String) -> XcodeModelError.Code? {
        do throws(XcodeModelError) {
            _ = try XcodeDataModelSchema.from(modelURL: folder.appending(path: name))
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a missing, compiled or outdated model is refused with its own code`() throws {
        try withFolder([
            "Compiled.momd/Model.mom": "bplist00", "Single.mom": "bplist00",
            "Built.xcdatamodeld/Model.mom": "bplist00",
            "Old.xcdatamodel/elements": "bplist00", "Old.xcdatamodel/layout": "bplist00",
            "Empty.xcdatamodeld/readme": "", "Hollow.xcdatamodel/readme": "",
            "File.xcdatamodeld": "",
        ]) { folder in
            #expect(code(folder, "Compiled.momd") == .compiled)
            #expect(code(folder, "Single.mom") == .compiled)
            #expect(code(folder, "Built.xcdatamodeld") == .compiled)
            #expect(code(folder, "Old.xcdatamodel") == .olderThanXcode4)
            #expect(code(folder, "Empty.xcdatamodeld") == .notFound)
            #expect(code(folder, "Hollow.xcdatamodel") == .notFound)
            #expect(code(folder, "None.xcdatamodeld") == .notFound)
            #expect(code(folder, "File.xcdatamodeld") == .unreadable)
        }
    }

    @Test func `a bundle that has only the compiled model, or none, is refused`() throws {
        try withFolder(["Model.momd/Model.mom": "bplist00"]) { folder in
            let bundle = try #require(Bundle(url: folder))
            let compiled = #expect(throws: XcodeModelError.self) {
                try XcodeDataModelSchema.from(modelName: "Model", bundle: bundle)
            }
            #expect(compiled?.code == .compiled)
            let missing = #expect(throws: XcodeModelError.self) {
                try XcodeDataModelSchema(modelName: "Other", bundle: bundle)
            }
            #expect(missing?.code == .notFound)
        }
    }

    @Test func `a folder as a model's contents is refused, and does not block`() throws {
        try withFolder(["Model.xcdatamodel/contents/file": ""]) { folder in
            #expect(code(folder, "Model.xcdatamodel") == .unreadable)
        }
    }

    private static let model = "<model><entity name='A'/></model>"

    @Test(
        arguments: [
            "{ _XCCurrentVersionName = \"Two.xcdatamodel\"; }",
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>_XCCurrentVersionName</key><string>Two.xcdatamodel</string>
            </dict></plist>
            """,
        ])
    func `the current version is read of any kind of property list`(list: String) throws {
        try withFolder([
            "M.xcdatamodeld/One.xcdatamodel/contents": Self.model,
            "M.xcdatamodeld/Two.xcdatamodel/contents": Self.model,
            "M.xcdatamodeld/.xccurrentversion": list,
        ]) { folder in
            let models = try XcodeDataModelSchema.from(
                modelURL: folder.appending(path: "M.xcdatamodeld"))
            #expect(models.currentModelVersion == "Two")
        }
    }

    @Test(
        arguments: [
            ("", XcodeModelError.Code.invalidModel), ("no list", .invalidModel),
            ("{ Other = \"Two\"; }", .noCurrentVersion),
            ("{ _XCCurrentVersionName = \"Three.xcdatamodel\"; }", .invalidModel),
            (String(repeating: "(", count: 4000), .invalidModel),
            (String(repeating: "<array>", count: 500), .invalidModel),
            (String(repeating: " ", count: 5000), .tooLarge),
        ])
    func `a list without the current version is refused`(
        list: String, code: XcodeModelError.Code
    ) throws {
        try withFolder([
            "M.xcdatamodeld/One.xcdatamodel/contents": Self.model,
            "M.xcdatamodeld/Two.xcdatamodel/contents": Self.model,
            "M.xcdatamodeld/.xccurrentversion": list,
        ]) { folder in
            #expect(self.code(folder, "M.xcdatamodeld") == code)
        }
    }

    @Test func `without a version list the only version or the chain's last is current`() throws {
        let files = [
            "M.xcdatamodeld/One.xcdatamodel/contents": Self.model,
            "N.xcdatamodeld/One.xcdatamodel/contents": Self.model,
            "N.xcdatamodeld/Two.xcdatamodel/contents": Self.model,
        ]
        try withFolder(files) { folder in
            let single = try XcodeDataModelSchema.from(
                modelURL: folder.appending(path: "M.xcdatamodeld"))
            #expect(single.currentModelVersion == "One")
            let several = try XcodeDataModelSchema.from(
                modelURL: folder.appending(path: "N.xcdatamodeld"),
                migrationChain: ["Two", "One"])
            #expect(several.currentModelVersion == "One")
            #expect(code(folder, "N.xcdatamodeld") == .noCurrentVersion)
        }
    }
}
