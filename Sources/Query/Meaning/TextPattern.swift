import Foundation
import Primitives
import RecordStore

/// LIKE and MATCHES: patterns for a whole text.
enum TextPattern {
    private enum Piece: Equatable {
        case any, one
        case literal(Character)
    }

    /// `*` matches any text, `?` one user-perceived character, and `\` makes the next character
    /// literal.
    static func isLike(_ text: String, _ pattern: String, _ options: TextOptions) -> Bool {
        let pieces = pieces(pattern, options)
        let (characters, widths) = folded(text, options)
        var (position, piece) = (0, 0)
        var retry: (position: Int, piece: Int)?
        while position < characters.count {
            if piece < pieces.count, pieces[piece] == .any {
                retry = (position, piece)
                piece += 1
            } else if piece < pieces.count, pieces[piece] == .one, widths[position] > 0 {
                position += widths[position]
                piece += 1
            } else if piece < pieces.count, stands(pieces[piece], for: characters[position]) {
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

    /// The characters of a folded text. Where a character of the text begins, the count of those
    /// that it folds to (`ß` folds to two), and 0 elsewhere.
    private static func folded(
        _ text: String, _ options: TextOptions
    ) -> (characters: [Character], widths: [Int]) {
        let characters = Array(TextMatch.fold(text, options))
        guard characters.count != text.count else {
            return (characters, [Int](repeating: 1, count: characters.count))
        }
        var (parts, widths): ([Character], [Int]) = ([], [])
        for character in text {
            let part = TextMatch.fold(String(character), options)
            guard !part.isEmpty else { continue }
            parts += part
            widths += [part.count] + [Int](repeating: 0, count: part.count - 1)
        }
        return (parts, widths)
    }

    /// Characters are compared by their bytes, as texts are.
    private static func stands(_ piece: Piece, for character: Character) -> Bool {
        switch piece {
        case .any, .one: false
        case .literal(let literal): literal.utf8.elementsEqual(character.utf8)
        }
    }

    /// Splits the pattern before folding: a full-width asterisk is not a wildcard.
    private static func pieces(_ pattern: String, _ options: TextOptions) -> [Piece] {
        var pieces: [Piece] = []
        var literal = ""
        func flush() {
            pieces += TextMatch.fold(literal, options).map { .literal($0) }
            literal = ""
        }
        var rest = Array(pattern)[...]
        while let character = rest.popFirst() {
            switch character {
            case "*", "?":
                flush()
                pieces.append(character == "*" ? .any : .one)
            case "\\": literal.append(rest.popFirst() ?? "\\")
            default: literal.append(character)
            }
        }
        flush()
        return pieces
    }

    // MARK: Regular expressions

    private struct Key: Hashable {
        var pattern: String
        var isCaseInsensitive: Bool
    }

    /// A scan matches one expression with every record, and compiling it takes longer than a match.
    private static let known = Mutex<[Key: NSRegularExpression]>([:])
    private static let knownCountMax = 32

    /// Whether the whole text matches an ICU regular expression. Throws a `QueryError` if the text
    /// is too long for it.
    static func matches(_ text: String, _ pattern: String, _ options: TextOptions) throws -> Bool {
        try expression(pattern, options).matchesWhole(TextMatch.fold(text, marks(options)))
    }

    /// The options that fold marks in text and pattern, and at least compose their letters. Case is
    /// not folded, because in a pattern `\D` is not `\d`.
    private static func marks(_ options: TextOptions) -> TextOptions {
        TextMatch.folds(options)
            ? options.subtracting(.caseInsensitive).union(.localized) : []
    }

    /// Throws a `QueryError` for an invalid regular expression.
    static func expression(
        _ pattern: String, _ options: TextOptions
    ) throws(QueryError) -> NSRegularExpression {
        let key = Key(
            pattern: folded(pattern, marks(options)),
            isCaseInsensitive: TextMatch.folds(options) && options.contains(.caseInsensitive))
        if let expression = known.withLock({ $0[key] }) { return expression }
        let expression: NSRegularExpression
        do {
            let flags: NSRegularExpression.Options =
                key.isCaseInsensitive ? [.caseInsensitive] : []
            // Compiled alone first: an unbalanced parenthesis must not close the group around the
            // pattern.
            if !pattern.isEmpty {
                _ = try NSRegularExpression(pattern: key.pattern, options: flags)
            }
            expression = try whole(key.pattern, flags)
        } catch {
            throw QueryError("MATCHES was given “\(pattern)”, which is no regular expression")
        }
        known.withLock { known in
            if known.count >= knownCountMax { known.removeAll() }
            known[key] = expression
        }
        return expression
    }

    /// The expression for a whole text. A quotation (`\Q`) or a comment that is open at the end of
    /// a valid pattern ends before the group around it does.
    private static func whole(
        _ pattern: String, _ flags: NSRegularExpression.Options
    ) throws -> NSRegularExpression {
        for end in ["", "\\E", "\n"] {
            let whole = "(?:\(pattern)\(end))\\z"
            if let expression = try? NSRegularExpression(pattern: whole, options: flags) {
                return expression
            }
        }
        return try NSRegularExpression(pattern: "(?:\(pattern)\\E\n)\\z", options: flags)
    }

    /// The pattern with its letters folded. A letter folds to letters; a sign that would fold to
    /// syntax is escaped.
    private static func folded(_ pattern: String, _ options: TextOptions) -> String {
        guard TextMatch.folds(options) else { return pattern }
        var folded = ""
        for character in pattern {
            if character.isASCII {
                folded.append(character)
                continue
            }
            for part in TextMatch.fold(String(character), options) {
                if part.isASCII && !part.isLetter && !part.isNumber { folded.append("\\") }
                folded.append(part)
            }
        }
        return folded
    }
}
