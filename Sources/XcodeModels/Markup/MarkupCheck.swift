import Foundation

/// Looks through the text of a file before the XML parser does, so that the parser gets nothing
/// that makes a small file large: no document type, hence no entities but the five of XML, no tags
/// that are long, and no encoding but UTF-8, in which this check reads.
struct MarkupCheck {
    /// Of a tag with all its attributes: parsers compare each attribute with all before it.
    static let tagSizeInBytesMax = 32 * 1024

    private let bytes: [UInt8]
    private let fileURL: URL
    private let documentType: [UInt8]?
    private var offset = 0
    private var line = 1
    /// The bytes that the parser does not get.
    private var removed: [Range<Int>] = []

    /// The text without its XML declaration, in as many lines.
    ///
    /// - Parameter documentType: the only document type that the text may have. It is removed too.
    static func checked(
        _ contents: [UInt8], of fileURL: URL, documentType: String? = nil
    ) throws(XcodeModelError) -> [UInt8] {
        // The parser would take a text with zeros for one in UTF-16.
        guard String(validating: contents, as: UTF8.self) != nil, !contents.contains(0) else {
            throw XcodeModelError(.invalidMarkup, fileURL, "the file is not a text in UTF-8")
        }
        var check = MarkupCheck(contents, fileURL, documentType.map { Array($0.utf8) })
        check.removed.append(try check.skipDeclaration())
        try check.skipMarkup()
        var text = contents
        // Spaces in its place keep the numbers of the lines.
        for index in check.removed.joined() where text[index] != UInt8(ascii: "\n") {
            text[index] = UInt8(ascii: " ")
        }
        return text
    }

    private init(_ bytes: [UInt8], _ fileURL: URL, _ documentType: [UInt8]?) {
        self.bytes = bytes
        self.fileURL = fileURL
        self.documentType = documentType
    }

    private func failure(_ message: String, line: Int) -> XcodeModelError {
        XcodeModelError(.invalidMarkup, fileURL, line: line, message)
    }

    // MARK: Parts

    private static let declaration = Array("<?xml".utf8)
    private static let comment = Array("<!--".utf8)
    private static let commentEnd = Array("-->".utf8)
    private static let verbatim = Array("<![CDATA[".utf8)
    private static let verbatimEnd = Array("]]>".utf8)
    private static let instruction = Array("<?".utf8)
    private static let instructionEnd = Array("?>".utf8)
    private static let markupDeclaration = Array("<!".utf8)

    private func begins(_ text: [UInt8]) -> Bool { bytes[offset...].starts(with: text) }

    /// Moves to the byte after the next such text, or to the end.
    private mutating func skip(past text: [UInt8]) {
        while offset < bytes.count {
            if begins(text) {
                offset += text.count
                return
            }
            step()
        }
    }

    private mutating func step() {
        if bytes[offset] == UInt8(ascii: "\n") { line += 1 }
        offset += 1
    }

    /// The bytes of a byte-order mark and of the XML declaration; the encoding must be UTF-8.
    private mutating func skipDeclaration() throws(XcodeModelError) -> Range<Int> {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
        guard begins(Self.declaration) else { return 0..<offset }
        let start = offset
        skip(past: Self.instructionEnd)
        let declaration = String(decoding: bytes[start..<offset], as: UTF8.self)
        let pattern = /encoding\s*=\s*["']([^"']*)["']/
        if let encoding = declaration.firstMatch(of: pattern)?.1.lowercased(),
            !["utf-8", "utf8", "us-ascii"].contains(encoding)
        {
            throw failure("the encoding is \(encoding), and model files are in UTF-8", line: 1)
        }
        return 0..<offset
    }

    private mutating func skipMarkup() throws(XcodeModelError) {
        while offset < bytes.count {
            guard bytes[offset] == UInt8(ascii: "<") else {
                step()
                continue
            }
            if begins(Self.comment) {
                offset += 4
                skip(past: Self.commentEnd)
            } else if begins(Self.verbatim) {
                skip(past: Self.verbatimEnd)
            } else if begins(Self.instruction) {
                skip(past: Self.instructionEnd)
            } else if let documentType, removed.count == 1, begins(documentType) {
                removed.append(offset..<offset + documentType.count)
                skip(past: documentType)
            } else if begins(Self.markupDeclaration) {
                throw failure(
                    "a model file declares no document type and no entities", line: line)
            } else {
                try skipTag()
            }
        }
    }

    private mutating func skipTag() throws(XcodeModelError) {
        let (start, startLine) = (offset, line)
        var quote: UInt8?
        while offset < bytes.count {
            let byte = bytes[offset]
            step()
            guard offset - start <= Self.tagSizeInBytesMax else {
                throw XcodeModelError(
                    .tooLarge, fileURL, line: startLine,
                    "a tag has more than \(Self.tagSizeInBytesMax) bytes")
            }
            switch (byte, quote) {
            case (UInt8(ascii: ">"), nil): return
            case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil): quote = byte
            case (_, let open?) where open == byte: quote = nil
            default: break
            }
        }
    }
}
