import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads a file to a tree of elements, within bounds.
final class MarkupReader: NSObject, XMLParserDelegate {
    static let fileSizeInBytesMax = 4 * 1024 * 1024
    static let depthMax = 16
    static let elementCountMax = 20_000

    private let fileURL: URL
    private var open: [MarkupElement] = []
    private var root: MarkupElement?
    private var elementCount = 0
    private var failure: XcodeModelError?

    /// Whether elements keep their text: what a model says is in attributes.
    private let keepsText: Bool

    private init(_ fileURL: URL, keepsText: Bool) {
        self.fileURL = fileURL
        self.keepsText = keepsText
    }

    /// The outermost element of a file.
    static func read(_ fileURL: URL) throws(XcodeModelError) -> MarkupElement {
        let contents = try BoundedFile.read(fileURL, sizeInBytesMax: fileSizeInBytesMax)
        return try parse(contents, of: fileURL)
    }

    /// - Parameter documentType: the only document type that the text may have, of a format in
    ///   which elements have text; nil for none.
    static func parse(
        _ contents: [UInt8], of fileURL: URL, documentType: String? = nil
    ) throws(XcodeModelError) -> MarkupElement {
        let text = try MarkupCheck.checked(contents, of: fileURL, documentType: documentType)
        let reader = MarkupReader(fileURL, keepsText: documentType != nil)
        let parser = XMLParser(data: Data(text))
        parser.delegate = reader
        parser.shouldResolveExternalEntities = false
        parser.externalEntityResolvingPolicy = .never
        // True also for texts that end too early.
        let isParsed = parser.parse()
        if let failure = reader.failure { throw failure }
        guard isParsed, let root = reader.root, reader.open.isEmpty else {
            throw XcodeModelError(
                .invalidMarkup, fileURL, line: max(1, parser.lineNumber),
                "the file is no well-formed XML")
        }
        return root
    }

    // MARK: XMLParserDelegate

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        guard failure == nil else { return }
        elementCount += 1
        guard open.count < Self.depthMax else {
            stop(parser, .tooLarge, "more than \(Self.depthMax) elements lie in one another")
            return
        }
        guard elementCount <= Self.elementCountMax else {
            stop(parser, .tooLarge, "the file has more than \(Self.elementCountMax) elements")
            return
        }
        let element = MarkupElement(
            name: name, line: max(1, parser.lineNumber), attributes: attributes)
        open.last?.append(element)
        open.append(element)
        if root == nil { root = element }
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        _ = open.popLast()
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if keepsText { open.last?.append(string) }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        if keepsText { open.last?.append(String(decoding: block, as: UTF8.self)) }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        let code = (parseError as NSError).code
        let words = Self.words[code] ?? "the parser's error \(code)"
        stop(parser, .invalidMarkup, "the file is no well-formed XML: \(words)")
    }

    /// The faults of XML that one meets, by the parser's codes.
    private static let words = [
        4: "it has no element", 5: "it ends too early, or goes on after its end",
        26: "an entity is not declared", 39: "a value has no quotes",
        42: "an attribute is given twice", 73: "a tag is not closed",
        76: "a tag closes another element than the one that is open",
    ]

    /// Keeps the first failure.
    private func stop(_ parser: XMLParser, _ code: XcodeModelError.Code, _ message: String) {
        guard failure == nil else { return }
        failure = XcodeModelError(code, fileURL, line: max(1, parser.lineNumber), message)
        parser.abortParsing()
    }
}

/// Reads whole files that are not larger than they should be.
enum BoundedFile {
    static func read(
        _ fileURL: URL, sizeInBytesMax: Int
    ) throws(XcodeModelError) -> [UInt8] {
        let path = fileURL.resolvingSymlinksInPath().path
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            // Anything else than a file may block, or never end.
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw XcodeModelError(.unreadable, fileURL, "this is no file")
            }
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? file.close() }
            var contents: [UInt8] = []
            while contents.count <= sizeInBytesMax {
                let part = try file.read(upToCount: sizeInBytesMax + 1 - contents.count)
                guard let part, !part.isEmpty else { return contents }
                contents += part
            }
        } catch let error as XcodeModelError {
            throw error
        } catch {
            let isMissing = !FileManager.default.fileExists(atPath: path)
            throw XcodeModelError(
                isMissing ? .notFound : .unreadable, fileURL,
                isMissing ? "there is no such file" : "\((error as NSError).localizedDescription)")
        }
        throw XcodeModelError(
            .tooLarge, fileURL, "the file has more than \(sizeInBytesMax) bytes")
    }
}
