import RecordStore

/// The pieces of a format string.
enum FormatToken: Hashable {
    case word(String)
    /// A name after `#`, which is never a keyword.
    case escapedName(String)
    case text(String)
    case integer(Int64)
    case number(Double)
    case variable(String)
    /// `%@`, `%d` and their like.
    case argument(Character)
    case keyPathArgument
    case symbol(String)
    case end
}

/// Takes a format string apart. Every error says at which character.
struct FormatLexer {
    private let characters: [Character]
    private(set) var position = 0

    init(_ format: String) { characters = Array(format) }

    func failure(_ message: String) -> QueryError {
        QueryError("\(message), at character \(position + 1)")
    }

    private var current: Character? {
        position < characters.count ? characters[position] : nil
    }

    private static let symbols = [
        "&&", "||", "==", "!=", "<>", "<=", "=<", ">=", "=>", "**", ":=", "(", ")", "{", "}", "[",
        "]", ",", ".", "=", "<", ">", "+", "-", "*", "/", "!", "&", "|", "^", "~",
    ]

    mutating func next() throws(QueryError) -> FormatToken {
        while let character = current, character.isWhitespace { position += 1 }
        guard let character = current else { return .end }
        if character == "\"" || character == "'" { return try text(until: character) }
        if character.isASCII && character.isNumber { return try number() }
        if character == "%" { return try argument() }
        if character == "$" {
            position += 1
            return .variable(try name())
        }
        if character == "#" {
            position += 1
            return .escapedName(try name())
        }
        if Self.beginsName(character) { return .word(try name()) }
        for symbol in Self.symbols where starts(with: symbol) {
            position += symbol.count
            return .symbol(symbol)
        }
        throw failure("“\(character)” has no meaning here")
    }

    private func starts(with symbol: String) -> Bool {
        let end = position + symbol.count
        return end <= characters.count && Array(symbol) == Array(characters[position..<end])
    }

    private static func beginsName(_ character: Character) -> Bool {
        character.isLetter || character == "_" || character == "@"
    }

    private mutating func name() throws(QueryError) -> String {
        var name = ""
        while let character = current,
            Self.beginsName(character) || character.isNumber
                || (character == "-" && name.uppercased().hasPrefix("UTI"))
        {
            name.append(character)
            position += 1
        }
        guard !name.isEmpty else { throw failure("a name is missing") }
        return name
    }

    private mutating func argument() throws(QueryError) -> FormatToken {
        position += 1
        guard let character = current else { throw failure("“%” stands alone at the end") }
        position += 1
        switch character {
        case "@": return .argument("@")
        case "K": return .keyPathArgument
        case "%": throw failure("“%%” stands for a percent sign inside quotes only")
        case "l", "q", "h":
            while let next = current, "lqh".contains(next) { position += 1 }
            guard let kind = current, "diuxXofegE".contains(kind) else {
                throw failure("“%\(character)” is not complete")
            }
            position += 1
            return .argument(kind)
        case "d", "D", "i", "u", "U", "x", "X", "o", "O", "f", "e", "E", "g", "G", "c", "s":
            return .argument(character)
        default: throw failure("“%\(character)” stands for nothing")
        }
    }

    private mutating func text(until quote: Character) throws(QueryError) -> FormatToken {
        position += 1
        var text = ""
        while let character = current {
            position += 1
            if character == quote { return .text(text) }
            guard character == "\\" else {
                text.append(character)
                continue
            }
            text.append(try escape())
        }
        throw failure("a text in quotes does not end")
    }

    private mutating func escape() throws(QueryError) -> Character {
        guard let character = current else { throw failure("an escape does not end") }
        position += 1
        switch character {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "x": return try scalar(digits: 2, radix: 16)
        case "u": return try scalar(digits: 4, radix: 16)
        case "0"..."7":
            position -= 1
            return try scalar(digits: 3, radix: 8)
        default: return character
        }
    }

    private mutating func scalar(digits: Int, radix: Int) throws(QueryError) -> Character {
        var text = ""
        while text.count < digits, let character = current,
            UInt32(String(character), radix: radix) != nil
        {
            text.append(character)
            position += 1
        }
        guard let value = UInt32(text, radix: radix), let scalar = Unicode.Scalar(value) else {
            throw failure("an escape names no character")
        }
        return Character(scalar)
    }

    private mutating func number() throws(QueryError) -> FormatToken {
        let start = position
        if let radix = prefixRadix() {
            position += 2
            var digits = ""
            while let character = current, character.isHexDigit {
                digits.append(character)
                position += 1
            }
            guard let value = Int64(digits, radix: radix) else {
                throw failure("a number cannot be read")
            }
            return .integer(value)
        }
        while let character = current, character.isASCII && character.isNumber { position += 1 }
        var isWhole = true
        if current == ".", position + 1 < characters.count, characters[position + 1].isNumber {
            isWhole = false
            position += 1
            while let character = current, character.isASCII && character.isNumber {
                position += 1
            }
        }
        if let character = current, character == "e" || character == "E" {
            isWhole = false
            position += 1
            if let sign = current, sign == "+" || sign == "-" { position += 1 }
            while let character = current, character.isASCII && character.isNumber {
                position += 1
            }
        }
        let text = String(characters[start..<position])
        if isWhole, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text) else { throw failure("a number cannot be read") }
        return .number(value)
    }

    private func prefixRadix() -> Int? {
        guard current == "0", position + 1 < characters.count else { return nil }
        switch characters[position + 1] {
        case "x", "X": return 16
        case "o": return 8
        case "b": return 2
        default: return nil
        }
    }
}
