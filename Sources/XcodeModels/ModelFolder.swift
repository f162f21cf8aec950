import Foundation

/// Finds the versions of a model in an `.xcdatamodeld`, and which one is current.
struct ModelFolder {
    /// Of `.xccurrentversion`, which has a single key.
    static let currentVersionSizeInBytesMax = 4096
    static let versionCountMax = 1000

    let modelURL: URL
    /// The names of the versions, sorted.
    let versions: [String]

    /// - Parameter modelURL: an `.xcdatamodeld` with versions, or one `.xcdatamodel`.
    init(_ modelURL: URL) throws(XcodeModelError) {
        self.modelURL = modelURL
        try Self.checkKind(of: modelURL)
        if modelURL.pathExtension == "xcdatamodel" {
            versions = [modelURL.deletingPathExtension().lastPathComponent]
            return
        }
        let names = try Self.names(in: modelURL)
        versions = names.filter { $0.hasSuffix(".xcdatamodel") }
            .map { String($0.dropLast(".xcdatamodel".count)) }.sorted()
        guard !versions.isEmpty else {
            throw XcodeModelError(
                names.contains { $0.hasSuffix(".mom") || $0.hasSuffix(".omo") }
                    ? .compiled : .notFound, modelURL, "the folder has no .xcdatamodel")
        }
        guard versions.count <= Self.versionCountMax else {
            throw XcodeModelError(
                .tooLarge, modelURL, "the model has more than \(Self.versionCountMax) versions")
        }
    }

    /// The model of a name in a folder, as a project or a bundle has it.
    static func url(
        of modelName: String, in folder: URL?
    ) throws(XcodeModelError) -> URL {
        guard let folder else {
            throw XcodeModelError(
                .notFound, URL(filePath: modelName), "the bundle has no folder of resources")
        }
        for suffix in ["xcdatamodeld", "xcdatamodel", "momd", "mom"] {
            let url = folder.appending(path: "\(modelName).\(suffix)")
            if FileManager.default.fileExists(atPath: url.path) { return url }
        }
        throw XcodeModelError(
            .notFound, folder, "there is no \(modelName).xcdatamodeld in the folder")
    }

    func versionURL(_ version: String) -> URL {
        modelURL.pathExtension == "xcdatamodel"
            ? modelURL : modelURL.appending(path: "\(version).xcdatamodel")
    }

    /// The version that is current: Xcode's, unless a migration chain ends in another one.
    ///
    /// - Parameter leaves: the last versions of the chain. Those of an app that went on without
    ///   Xcode's models are in no folder.
    func currentVersion(among leaves: Set<String>) throws(XcodeModelError) -> String {
        let named = try namedVersion()
        if let named, leaves.isEmpty || leaves.contains(named) { return named }
        let candidates = versions.filter(leaves.contains)
        if candidates.count == 1 { return candidates[0] }
        if let named { return named }
        guard versions.count == 1 else {
            throw XcodeModelError(
                .noCurrentVersion, modelURL,
                "there are \(versions.count) versions and no .xccurrentversion")
        }
        return versions[0]
    }

    /// The version that `.xccurrentversion` names, nil where there is no such file or it names
    /// none.
    private func namedVersion() throws(XcodeModelError) -> String? {
        let file = modelURL.appending(path: ".xccurrentversion")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let contents = try BoundedFile.read(
            file, sizeInBytesMax: Self.currentVersionSizeInBytesMax)
        let name: String?
        do {
            name = try Self.versionName(Array(contents))
        } catch {
            throw XcodeModelError(
                .invalidModel, file, "the file is no property list of a current version")
        }
        guard let name else { return nil }
        let version = name.hasSuffix(".xcdatamodel") ? String(name.dropLast(12)) : name
        guard versions.contains(version) else {
            throw XcodeModelError(
                .invalidModel, file, "the current version “\(version)” is not in the folder")
        }
        return version
    }

    /// Foundation's reader ends the process over some bytes of a binary list, so that such a list
    /// is read by our own.
    private static func versionName(_ bytes: [UInt8]) throws -> String? {
        guard bytes.starts(with: Array("bplist".utf8)) else {
            return try PropertyListDecoder().decode(CurrentVersion.self, from: Data(bytes)).name
        }
        let list = try BinaryPropertyList(bytes)
        guard case .dictionary(let keys, let values) = try list.top() else {
            throw BinaryPropertyList.Failure(message: "it is no dictionary")
        }
        for (key, value) in zip(keys, values)
        where try list.object(key) == .string(CurrentVersion.CodingKeys.name.rawValue) {
            guard case .string(let name) = try list.object(value) else {
                throw BinaryPropertyList.Failure(message: "the name is no text")
            }
            return name
        }
        return nil
    }

    /// The content of `.xccurrentversion`.
    private struct CurrentVersion: Decodable {
        let name: String?

        enum CodingKeys: String, CodingKey {
            case name = "_XCCurrentVersionName"
        }
    }

    // MARK: Kinds of files

    /// The file with the XML of a version; older and compiled forms are refused by their names.
    static func contents(of versionURL: URL) throws(XcodeModelError) -> URL {
        if versionURL.lastPathComponent == "contents" { return versionURL }
        try checkKind(of: versionURL)
        let names = try names(in: versionURL)
        guard names.contains("contents") else {
            guard names.contains("elements") else {
                throw XcodeModelError(.notFound, versionURL, "the folder has no file “contents”")
            }
            throw XcodeModelError(
                .olderThanXcode4, versionURL,
                "the model has the format from before Xcode 4: save it in a later one")
        }
        return versionURL.appending(path: "contents")
    }

    private static func checkKind(of url: URL) throws(XcodeModelError) {
        guard !["mom", "momd", "omo"].contains(url.pathExtension) else {
            throw XcodeModelError(
                .compiled, url, "this is a compiled model: give the .xcdatamodeld it was made of")
        }
    }

    static func names(in folder: URL) throws(XcodeModelError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            let isMissing = !FileManager.default.fileExists(atPath: folder.path)
            throw XcodeModelError(
                isMissing ? .notFound : .unreadable, folder,
                isMissing ? "there is no such folder" : (error as NSError).localizedDescription)
        }
    }
}
