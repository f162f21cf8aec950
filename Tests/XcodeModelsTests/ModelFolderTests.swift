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

    /// A binary list whose objects and trailer are given.
    private static func binaryList(_ objects: [UInt8], offsets: [UInt8]) -> [UInt8] {
        func place(_ number: Int) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, UInt8(number)] }
        return Array("bplist00".utf8) + objects + offsets + [0, 0, 0, 0, 0, 0, 1, 1]
            + place(offsets.count) + place(0) + place(8 + objects.count)
    }

    @Test func `a binary list of the current version ended the process or named it`() throws {
        let key: [UInt8] = [0x5F, 0x10, 21] + Array("_XCCurrentVersionName".utf8)
        let name: [UInt8] = [0x5F, 0x10, 15] + Array("Two.xcdatamodel".utf8)
        let valid = Self.binaryList(
            [0xD1, 1, 2] + key + name, offsets: [8, 11, 11 + UInt8(key.count)])
        // A dictionary of 2⁶² entries, a text that is longer than the file, and a cut list.
        let huge = Self.binaryList([0xDF, 0x13, 0x40, 0, 0, 0, 0, 0, 0, 0], offsets: [8])
        let longText = Self.binaryList([0x6F, 0x10, 60, 0x00], offsets: [8])
        for (bytes, expected) in [
            (valid, nil), (huge, XcodeModelError.Code.invalidModel), (longText, .invalidModel),
            (Array(valid.dropLast(9)), .invalidModel), (Array("bplist00".utf8), .invalidModel),
        ] {
            try withFolder([
                "M.xcdatamodeld/One.xcdatamodel/contents": Self.model,
                "M.xcdatamodeld/Two.xcdatamodel/contents": Self.model,
            ]) { folder in
                let model = folder.appending(path: "M.xcdatamodeld")
                try Data(bytes).write(to: model.appending(path: ".xccurrentversion"))
                #expect(code(folder, "M.xcdatamodeld") == expected)
                guard expected == nil else { return }
                let models = try XcodeDataModelSchema.from(modelURL: model)
                #expect(models.currentModelVersion == "Two")
            }
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
