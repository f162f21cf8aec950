/// The words that names and texts are made of.
enum Words {
    static func name(_ random: inout SplitMix64) -> String {
        "\(pick(firstNames, &random)) \(capital(syllables(2 + Int(random.next() % 2), &random)))"
    }

    static func nickname(_ random: inout SplitMix64) -> String {
        capital(syllables(2, &random))
    }

    /// Words up to about a size.
    static func text(sizeInBytes: Int, _ random: inout SplitMix64) -> String {
        var text = ""
        text.reserveCapacity(sizeInBytes + 12)
        while text.utf8.count < sizeInBytes {
            if !text.isEmpty { text += " " }
            text += pick(common, &random)
            // A word that no other text has, so that compression finds what it finds in prose.
            if random.next() % 4 == 0 { text += syllables(1, &random) }
        }
        return text
    }

    private static func syllables(_ count: Int, _ random: inout SplitMix64) -> String {
        var text = ""
        for _ in 0..<count { text += pick(parts, &random) }
        return text
    }

    private static func capital(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }

    private static func pick(_ words: [String], _ random: inout SplitMix64) -> String {
        words[Int(random.next() % UInt64(words.count))]
    }

    private static let firstNames = [
        "Ada", "Bea", "Carl", "Dora", "Emil", "Fatma", "Goran", "Hana", "Igor", "Jana", "Kofi",
        "Lena", "Mira", "Nils", "Olga", "Paul", "Rosa", "Sven", "Tara", "Uwe", "Vera", "Yara",
        "Abel", "Gabi", "Zoë", "Åsa", "Ines", "Jonas", "Karim", "Luís", "Maja", "Noor",
    ]
    private static let parts = [
        "ab", "ber", "cos", "dal", "er", "fi", "gar", "ha", "iv", "jen", "ka", "lind", "mo",
        "nov", "ok", "pe", "quin", "ros", "sa", "ta", "ul", "ver", "wen", "ya", "zim", "ner",
        "gren", "son", "vic", "ter", "man", "ski",
    ]
    private static let common = [
        "the", "of", "and", "water", "to", "in", "a", "is", "that", "for", "it", "as", "was",
        "with", "be", "by", "on", "not", "he", "she", "his", "but", "at", "are", "this", "have",
        "from", "or", "had", "an", "they", "which", "one", "you", "were", "all", "her", "would",
        "there", "their", "will", "when", "who", "him", "been", "has", "more", "if", "no", "out",
        "garden", "bicycle", "mountain", "language", "teacher", "morning", "evening", "harbour",
        "library", "music", "engineer", "village", "summer", "winter", "travel", "painting",
        "kitchen", "window", "letter", "photograph", "river", "station", "children", "history",
        "question", "answer", "company", "weather", "football", "chess", "coffee", "bread",
    ]
}
