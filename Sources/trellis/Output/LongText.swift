import Foundation
import PageStore
import RecordStore

/// A long value, printed a page at a time as ``ValueText`` prints a short one: a file of a few
/// megabytes can hold values that are larger than memory.
struct LongText {
    /// Values up to this size are read as a whole.
    private static let sizeInBytesMin: UInt64 = 1 << 20

    private let blob: BlobID
    private let isText: Bool
    private let reader: RecordReader

    /// Nil for a value that is not long. Throws when a part of it cannot be read: printed text
    /// cannot be taken back.
    init?(_ field: FieldLayout, of row: RowView, in reader: RecordReader) throws(StoreError) {
        guard let blob = try reader.blob(field, of: row), blob.sizeInBytes > Self.sizeInBytesMin
        else { return nil }
        self.blob = blob
        self.reader = reader
        isText = field.type == .string || field.type == .url
        try reader.forEachPiece(of: blob) { _ in }
    }

    /// Writes the value as a string of JSON.
    func write(_ output: (String) -> Void) throws(StoreError) {
        output("\"")
        var rest: [UInt8] = []
        try reader.forEachPiece(of: blob) { piece in
            rest += piece.array()
            let count = isText ? UTF8Text.wholeCount(rest) : rest.count / 3 * 3
            output(text(rest[..<count]))
            rest.removeFirst(count)
        }
        output(text(rest[...]))
        output("\"")
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        guard isText else { return Data(bytes).base64EncodedString() }
        let quoted = JSONText.string(String(decoding: bytes, as: UTF8.self)).text
        // A mark that the part begins with joins the quote to one character.
        return String(quoted.unicodeScalars.dropFirst().dropLast())
    }
}

/// Where UTF-8 may be cut.
enum UTF8Text {
    /// How many of the bytes come before a last character that is not complete: each part is
    /// decoded by itself then as it is within the whole.
    static func wholeCount(_ bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            let size = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            if size > back { return bytes.count - back }
            if byte & 0xC0 != 0x80 { return bytes.count }
        }
        return bytes.count
    }
}
