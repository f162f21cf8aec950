/// Writes JSON piece by piece: keys in the order of the calls, numbers with the digits given. The
/// caller must name each member of an object and no element of a list.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    /// Written after commas and colons, for readability.
    private let space: [UInt8]
    /// Whether each member and element starts a new line.
    private let isIndented: Bool
    private var depth = 0

    package init(isSpaced: Bool = false, isIndented: Bool = false) {
        space = isSpaced || isIndented ? [UInt8(ascii: " ")] : []
        self.isIndented = isIndented
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func reserve(_ byteCount: Int) { bytes.reserveCapacity(byteCount) }

    // MARK: Values

    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        members(&self)
        close(UInt8(ascii: "}"))
    }

    package mutating func list<Elements: Sequence>(
        _ elements: Elements, _ body: (inout JSONWriter, Elements.Element) -> Void
    ) {
        open(UInt8(ascii: "["))
        for element in elements {
            separate()
            body(&self, element)
        }
        close(UInt8(ascii: "]"))
    }

    package mutating func null() { bytes += "null".utf8 }
    package mutating func bool(_ flag: Bool) { bytes += (flag ? "true" : "false").utf8 }
    /// Writes the digits unchanged.
    package mutating func number(_ digits: String) { bytes += digits.utf8 }

    package mutating func string(_ content: String) {
        bytes.append(UInt8(ascii: "\""))
        if Self.hasEscapes(content.utf8.span) {
            for byte in content.utf8 { append(byte) }
        } else {
            bytes += content.utf8
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether a byte needs an escape. Fast, because every opening of a store writes its schema.
    private static func hasEscapes(_ text: Span<UInt8>) -> Bool {
        for index in text.indices {
            let byte = text[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                return true
            }
        }
        return false
    }

    private mutating func append(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x09: bytes += "\\t".utf8
        case 0x0A: bytes += "\\n".utf8
        case 0x0D: bytes += "\\r".utf8
        case 0..<0x20:
            bytes += (byte < 0x10 ? "\\u000" : "\\u00").utf8
            bytes += String(byte, radix: 16).utf8
        default: bytes.append(byte)
        }
    }

    // MARK: Members

    /// Begins a member of an object; its value comes next.
    package mutating func name(_ name: String) {
        separate()
        string(name)
        bytes.append(UInt8(ascii: ":"))
        bytes += space
    }

    /// Writes a comma before all but the first member or element. A string that ends in a bracket
    /// does not count as an opening bracket, because its quote follows.
    private mutating func separate() {
        if !isEmpty {
            bytes.append(UInt8(ascii: ","))
            if !isIndented { bytes += space }
        }
        if isIndented { beginLine() }
    }

    /// Whether nothing was written since the last opening bracket.
    private var isEmpty: Bool {
        guard let last = bytes.last else { return true }
        return last == UInt8(ascii: "{") || last == UInt8(ascii: "[")
    }

    private mutating func open(_ bracket: UInt8) {
        bytes.append(bracket)
        depth += 1
    }

    private mutating func close(_ bracket: UInt8) {
        depth -= 1
        if isIndented, !isEmpty { beginLine() }
        bytes.append(bracket)
    }

    private mutating func beginLine() {
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: 2 * depth)
    }
}
