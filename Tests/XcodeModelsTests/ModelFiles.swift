import Foundation

@testable import XcodeModels

/// The models beside the tests, and files that tests write.
enum ModelFiles {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Models")
    static let library = folder.appending(path: "Library.xcdatamodeld")
    static let everything = folder.appending(path: "Everything.xcdatamodel")

    static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "xcode-models-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Passes an `.xcdatamodel` whose `contents` are these bytes.
    static func withModel<Result>(
        _ contents: [UInt8], _ body: (URL) throws -> Result
    ) throws -> Result {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = folder.appending(path: "Model.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        try Data(contents).write(to: model.appending(path: "contents"))
        return try body(model)
    }

    /// The error of reading these bytes; nil for a valid model.
    static func error(_ contents: [UInt8]) throws -> XcodeModelError? {
        try withModel(contents) { model in
            do throws(XcodeModelError) {
                _ = try XcodeDataModelSchema(modelName: "Model", modelVersionFileURL: model)
                return nil
            } catch {
                return error
            }
        }
    }

    static func error(_ text: String) throws -> XcodeModelError? { try error(Array(text.utf8)) }

    /// A model of one entity with these elements, which begin on line 3.
    static func model(_ elements: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model><entity name="A">
        \(elements)
        </entity></model>
        """
    }
}
