import RecordStore

/// The tokens of a format string.
enum FormatToken: Hashable {
    case word(String)
    /// A name after `#`, which is never a keyword.
    case escapedName(String)
    case text(String)
    /// A number without sign.
    case number(Value)
    case variable(String)
    /// `%@`, `%d` and the like.
    case argument(Character)
    case keyPathArgument
    case symbol(String)
    case end
}

/// Splits a format string into tokens. Every error has the position of a character.
///
/// Works on scalars: a quote followed by a combining mark is one `Character`, and still a quote.
struct FormatLexer {
    let scalars: [Unicode.Scalar]
    var position = 0
    /// The start of the last token.
    private(set) var tokenStart = 0
    /// The position of the first apparent placeholder within quotes.
    var quotedMark: Int?

    init(_ format: String) { scalars = Array(format.unicodeScalars) }

    func failure(_ message: String, at place: Int? = nil) -> QueryError {
        var before = String.UnicodeScalarView()
        before.append(contentsOf: scalars.prefix(place ?? position))
        return QueryError("\(message), at character \(String(before).count + 1)")
    }

    var current: Unicode.Scalar? { following(0) }

    func following(_ distance: Int) -> Unicode.Scalar? {
        position + distance < scalars.count ? scalars[position + distance] : nil
    }

    /// Longer symbols precede their prefixes.
    private static let symbols: [[Unicode.Scalar]] = [
        "&&", "||", "==", "!=", "<>", "<=", "=<", ">=", "=>", "<<", ">>", "**", ":=", "(", ")",
        "{", "}", "[", "]", ",", ".", "=", "<", ">", "+", "-", "*", "/", "!", "&", "|", "^", "~",
    ].map { Array($0.unicodeScalars) }

    mutating func next() throws(QueryError) -> FormatToken {
        while let scalar = current, scalar.properties.isWhitespace { position += 1 }
        tokenStart = position
        guard let scalar = current else { return .end }
        switch scalar {
        case "\"", "'": return .text(try text(until: scalar))
        case "0"..."9": return .number(try number())
        case "." where following(1).map(Self.isDigit) == true: return .number(try number())
        case "%": return try argument()
        case "$":
            position += 1
            return .variable(try name())
        case "#":
            position += 1
            return .escapedName(try name())
        default: break
        }
        if Self.beginsName(scalar) { return .word(try name()) }
        let rest = scalars[position...]
        guard let symbol = Self.symbols.first(where: { rest.starts(with: $0) }) else {
            throw failure("“\(scalar)” has no meaning here")
        }
        position += symbol.count
        return .symbol(String(String.UnicodeScalarView(symbol)))
    }

    // MARK: Names

    static func isDigit(_ scalar: Unicode.Scalar) -> Bool { "0"..."9" ~= scalar }

    static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == "@" || scalar == "\\" || scalar.properties.isXIDStart
    }

    static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
        beginsName(scalar) || scalar.properties.isXIDContinue
    }

    private mutating func name() throws(QueryError) -> String {
        var name = String.UnicodeScalarView()
        while let scalar = current {
            if scalar == "\\" {
                name.append(try escape())
            } else if Self.continuesName(scalar) || joins(scalar, String(name)) {
                name.append(scalar)
                position += 1
            } else {
                break
            }
        }
        guard !name.isEmpty else { throw failure("a name is missing") }
        return String(name)
    }

    /// `modulus:by:` and `UTI-EQUALS` are single words of the language.
    private func joins(_ scalar: Unicode.Scalar, _ name: String) -> Bool {
        switch scalar {
        case ":": following(1) != "="
        case "-": ["UTI", "UTI-CONFORMS"].contains(name.uppercased())
        default: false
        }
    }

    // MARK: Arguments

    private mutating func argument() throws(QueryError) -> FormatToken {
        let start = position
        position += 1
        while let scalar = current, "lqh".unicodeScalars.contains(scalar) { position += 1 }
        guard let scalar = current else { throw failure("“%” stands alone", at: start) }
        let isBare = position == start + 1
        switch scalar {
        case "@" where isBare, "K" where isBare:
            position += 1
            return scalar == "@" ? .argument("@") : .keyPathArgument
        case "%" where isBare:
            throw failure("a percent sign must be in quotes, and is not doubled there", at: start)
        default: break
        }
        let name = scalars[(start + 1)...].prefix(while: Self.continuesName)
        let known = "diuxofegcsDUXOEG".unicodeScalars
        guard known.contains(scalar), name.last == scalar, name.count == position - start else {
            let mark = String(String.UnicodeScalarView(name.isEmpty ? [scalar] : Array(name)))
            throw failure(
                "“%\(mark)” stands for no argument: say %@ for a value, %K for the name of a "
                    + "property; arguments are taken in their order", at: start)
        }
        position += 1
        return .argument(Character(scalar))
    }
}
