import Foundation

/// Why a model file could not be read.
public struct XcodeModelError: Error, Hashable, Sendable {
    public enum Code: Hashable, Sendable {
        /// There is no such model, or no such version in it.
        case notFound
        /// The file system failed; ``XcodeModelError/message`` has its words.
        case unreadable
        /// The file is larger, deeper or has more parts than a model file may have.
        case tooLarge
        /// The file is a compiled model (`.mom`, `.momd`, `.omo`), which only Core Data reads.
        case compiled
        /// The model was last saved before Xcode 4, which had another format.
        case olderThanXcode4
        /// The text is no well-formed XML in UTF-8, or declares entities or a document type.
        case invalidMarkup
        /// The text is well-formed, and not what a model file says.
        case invalidModel
        /// The model has something that no class can declare, such as a composite.
        case unsupported
        /// The folder has several versions and does not say which one is current.
        case noCurrentVersion
    }

    public let code: Code
    /// The file or the folder.
    public let fileURL: URL
    /// The line where the fault is, beginning with 1; nil for a fault of the file as a whole.
    public let line: Int?
    /// The error in words.
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
