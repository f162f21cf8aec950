import Foundation

/// The error of reading a model file.
public struct XcodeModelError: Error, Hashable, Sendable {
    /// The cause of the error.
    public enum Code: Hashable, Sendable {
        /// There is no such model, or no such version in it.
        case notFound
        /// The file system failed; ``XcodeModelError/message`` has its description.
        case unreadable
        /// The file is larger, deeper or has more parts than a model file may have.
        case tooLarge
        /// The file is a compiled model (`.mom`, `.momd`, `.omo`), which only Core Data reads.
        case compiled
        /// The model was last saved before Xcode 4, which had another format.
        case olderThanXcode4
        /// The text is not well-formed XML in UTF-8, or declares entities or a document type.
        case invalidMarkup
        /// The text is well-formed, but is no model.
        case invalidModel
        /// The model has something that no class can declare, such as a composite.
        case unsupported
        /// The folder has several versions, and none is marked as current.
        case noCurrentVersion
    }

    /// The cause of the error.
    public let code: Code
    /// The file or the folder.
    public let fileURL: URL
    /// The line of the fault, from 1 on; nil for a fault of the file as a whole.
    public let line: Int?
    /// The description of the fault.
    public let message: String

    init(_ code: Code, _ fileURL: URL, line: Int? = nil, _ message: String) {
        self.code = code
        self.fileURL = fileURL
        self.line = line
        self.message = message
    }
}

extension XcodeModelError: CustomStringConvertible, LocalizedError {
    public var description: String {
        let place = line.map { "\(fileURL.path):\($0)" } ?? fileURL.path
        return "\(place): \(message)"
    }

    public var errorDescription: String? { description }
}
