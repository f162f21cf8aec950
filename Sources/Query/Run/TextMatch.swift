import Foundation
import RecordStore

/// Text operations, with what the options overlook folded away first.
package enum TextMatch {
    static func folds(_ options: TextOptions) -> Bool {
        !options.contains(.normalized)
            && !options.isDisjoint(with: [
                .caseInsensitive, .diacriticInsensitive, .widthInsensitive, .localized,
            ])
    }

    /// The text without the differences that the options overlook.
    package static func fold(_ text: String, _ options: TextOptions) -> String {
        guard folds(options) else { return text }
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return options.contains(.caseInsensitive) ? text.lowercased() : text
        }
        var folding: String.CompareOptions = []
        if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
        if options.contains(.widthInsensitive) { folding.insert(.widthInsensitive) }
        // Composed and decomposed spellings of one text are equal once anything is overlooked.
        var folded = text.decomposedStringWithCanonicalMapping
        folded = folded.folding(options: folding, locale: nil)
        if options.contains(.caseInsensitive) {
            // Foundation keeps the final sigma and the sharp s apart from their other forms.
            folded = folded.replacing("ς", with: "σ").replacing("ß", with: "ss")
        }
        return folded.decomposedStringWithCanonicalMapping
    }

    static func holds(
        _ operation: Comparison.Operation, _ text: String, _ part: String,
        _ options: TextOptions
    ) -> Bool {
        let text = Array(fold(text, options).utf8)
        let part = Array(fold(part, options).utf8)
        switch operation {
        case .beginsWith: return text.starts(with: part)
        case .endsWith: return text.reversed().starts(with: part.reversed())
        default: return contains(text.span, part.span)
        }
    }

    static func contains(_ text: Span<UInt8>, _ part: Span<UInt8>) -> Bool {
        guard part.count > 0 else { return true }
        guard part.count <= text.count else { return false }
        let first = part[0]
        for start in 0...(text.count - part.count) where text[start] == first {
            var index = 1
            while index < part.count && text[start + index] == part[index] { index += 1 }
            if index == part.count { return true }
        }
        return false
    }

    /// `*` stands for any text, `?` for one character, `\` makes the next one literal.
    static func isLike(_ text: String, _ pattern: String, _ options: TextOptions) -> Bool {
        enum Piece: Equatable {
            case any, one
            case literal(Unicode.Scalar)
        }
        var pieces: [Piece] = []
        var isEscaped = false
        for scalar in fold(pattern, options).unicodeScalars {
            if isEscaped {
                pieces.append(.literal(scalar))
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                pieces.append(scalar == "*" ? .any : scalar == "?" ? .one : .literal(scalar))
            }
        }
        let scalars = Array(fold(text, options).unicodeScalars)
        var (position, piece) = (0, 0)
        var retry: (position: Int, piece: Int)?
        while position < scalars.count {
            if piece < pieces.count, pieces[piece] == .any {
                retry = (position, piece)
                piece += 1
            } else if piece < pieces.count,
                pieces[piece] == .one || pieces[piece] == .literal(scalars[position])
            {
                position += 1
                piece += 1
            } else if let last = retry {
                retry = (last.position + 1, last.piece)
                position = last.position + 1
                piece = last.piece + 1
            } else {
                return false
            }
        }
        return pieces[piece...].allSatisfy { $0 == .any }
    }

    /// The whole text matches an ICU regular expression.
    static func matches(_ text: String, _ pattern: String, _ options: TextOptions) throws -> Bool {
        let isFolded = folds(options)
        var flags: NSRegularExpression.Options = []
        if isFolded && options.contains(.caseInsensitive) { flags.insert(.caseInsensitive) }
        let expression: NSRegularExpression
        do {
            expression = try NSRegularExpression(pattern: "(?:\(pattern))\\z", options: flags)
        } catch {
            throw QueryError("MATCHES was given “\(pattern)”, which is no regular expression")
        }
        let text = isFolded && options.contains(.diacriticInsensitive) ? fold(text, options) : text
        let range = NSRange(text.startIndex..., in: text)
        let match = expression.firstMatch(in: text, options: [.anchored], range: range)
        return match?.range == range
    }
}
