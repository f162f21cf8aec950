import Foundation
import RecordStore

/// Text operations, which first fold away the differences that the options ignore.
///
/// Without options texts are compared by UTF-8 bytes, as in an index. With options they are
/// compared after folding, and only whole characters match: no `e` in `é`, no woman in a family.
package enum TextMatch {
    static func folds(_ options: TextOptions) -> Bool {
        !options.contains(.normalized)
            && !options.isDisjoint(with: [
                .caseInsensitive, .diacriticInsensitive, .widthInsensitive, .localized,
            ])
    }

    /// The text without the differences that the options ignore.
    package static func fold(_ text: String, _ options: TextOptions) -> String {
        guard folds(options) else { return text }
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return options.contains(.caseInsensitive) ? text.lowercased() : text
        }
        return foldedByUnicode(text, options)
    }

    /// Folds any text; ``fold(_:_:)`` has a fast path for ASCII.
    static func foldedByUnicode(_ text: String, _ options: TextOptions) -> String {
        var folding: String.CompareOptions = []
        if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
        if options.contains(.widthInsensitive) { folding.insert(.widthInsensitive) }
        // With any option, composed and decomposed spellings of a text are equal.
        var folded = text.decomposedStringWithCanonicalMapping
        folded = folded.folding(options: folding, locale: nil)
        if options.contains(.caseInsensitive) {
            // Foundation does not fold the final sigma and the sharp s to their other forms.
            folded = folded.replacing("ς", with: "σ").replacing("ß", with: "ss")
        }
        return folded.precomposedStringWithCanonicalMapping
    }

    static func holds(
        _ operation: Comparison.Operation, _ text: String, _ part: String,
        _ options: TextOptions
    ) -> Bool {
        let isWhole = folds(options)
        let text = fold(text, options).utf8.span
        let part = fold(part, options).utf8.span
        guard part.count <= text.count else { return false }
        switch operation {
        case .beginsWith: return occurs(part, at: 0, in: text, isWhole)
        case .endsWith: return occurs(part, at: text.count - part.count, in: text, isWhole)
        default: return contains(text, part, wholeCharacters: isWhole)
        }
    }

    /// Whether a text contains another; both must be folded.
    static func contains(
        _ text: Span<UInt8>, _ part: Span<UInt8>, wholeCharacters: Bool
    ) -> Bool {
        guard part.count > 0 else { return true }
        guard part.count <= text.count else { return false }
        let first = part[0]
        for start in 0...(text.count - part.count) where text[start] == first {
            if occurs(part, at: start, in: text, wholeCharacters) { return true }
        }
        return false
    }

    @inline(__always)
    private static func occurs(
        _ part: Span<UInt8>, at start: Int, in text: Span<UInt8>, _ wholeCharacters: Bool
    ) -> Bool {
        for index in part.indices where text[start + index] != part[index] { return false }
        guard wholeCharacters, part.count > 0 else { return true }
        return !joins(text, start) && !joins(text, start + part.count)
    }

    /// Whether the scalar at an offset belongs to the character before it.
    private static func joins(_ text: Span<UInt8>, _ offset: Int) -> Bool {
        guard offset > 0, offset < text.count else { return false }
        // The scalars below U+0300 join nothing; their first byte is smaller than 0xCC.
        let isJoined =
            offset >= 3 && text[offset - 3] == 0xE2 && text[offset - 2] == 0x80
            && text[offset - 1] == 0x8D
        guard text[offset] >= 0xCC else { return false }
        guard !isJoined else { return true }
        var bytes: [UInt8] = []
        for index in offset..<min(offset + 4, text.count) { bytes.append(text[index]) }
        guard let scalar = String(decoding: bytes, as: UTF8.self).unicodeScalars.first else {
            return false
        }
        return scalar.properties.isGraphemeExtend || scalar.properties.isEmojiModifier
            || scalar == "\u{200D}"
    }
}
