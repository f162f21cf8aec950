import ObjectGraph

/// A dozen questions, answered through the public API. Each answer is a list of lines.
struct Questions {
    let stack: DataStack

    struct Answer {
        var title: String
        var lines: [String]
    }

    func answers() throws -> [Answer] {
        [
            Answer(title: "How many records of each kind", lines: try counts()),
            Answer(title: "Countries with the most subdivisions", lines: try mostDivided()),
            Answer(title: "Countries without subdivisions", lines: try undivided()),
            Answer(title: "Subdivisions whose name contains “sao”", lines: try containing("sao")),
            Answer(title: "Languages by type and scope", lines: try languageGroups()),
            Answer(title: "Categories of subdivisions by number", lines: try categories()),
            Answer(title: "The parent with the most children", lines: try largestParent()),
            Answer(title: "Countries with a common name", lines: try commonNames()),
            Answer(title: "Living languages with a two-letter code", lines: try twoLetters()),
            Answer(
                title: "Names that most languages share, with a qualifier",
                lines: try sharedNames()),
            Answer(title: "Currencies numbered 900 and above", lines: try highCurrencies()),
            Answer(title: "Scripts that begin with “Old”", lines: try oldScripts()),
            Answer(title: "Numbers of countries: least, greatest, sum", lines: try numbers()),
            Answer(title: "Provinces of Italy by region", lines: try provincesOfItaly()),
            Answer(title: "Children of a parent in Finland or France", lines: try children()),
        ]
    }

    private func counts() throws -> [String] {
        [
            "Country \(try stack.fetchCount(From<Country>()))",
            "Subdivision \(try stack.fetchCount(From<Subdivision>()))",
            "Language \(try stack.fetchCount(From<Language>()))",
            "Currency \(try stack.fetchCount(From<Currency>()))",
            "Script \(try stack.fetchCount(From<Script>()))",
        ]
    }

    private func mostDivided() throws -> [String] {
        let rows = try stack.queryAttributes(
            From<Country>().select(
                .attribute(\.$alpha2), .count("subdivisions", as: "count")))
        return ranked(rows, "alpha2")
    }

    /// The ten rows with the largest counts.
    private func ranked(_ rows: [[String: Any]], _ name: String) -> [String] {
        let counted = rows.compactMap { row -> (String, Int64)? in
            guard let text = row[name] as? String, let count = row["count"] as? Int64 else {
                return nil
            }
            return (text, count)
        }
        return counted.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.prefix(10).map { "\($0) \($1)" }
    }

    private func undivided() throws -> [String] {
        try stack.fetchAll(
            From<Country>().where(format: "subdivisions.@count == 0")
                .orderBy(.ascending(\.$alpha2))
        ).map(\.alpha2)
    }

    private func containing(_ text: String) throws -> [String] {
        try stack.fetchAll(
            From<Subdivision>().where(format: "name CONTAINS[cd] %@", text)
                .orderBy(.ascending(\.$code))
        ).map { "\($0.code) \($0.name)" }
    }

    private func languageGroups() throws -> [String] {
        try stack.queryAttributes(
            From<Language>()
                .select(.attribute(\.$type), .attribute(\.$scope), .count(\.$alpha3, as: "count"))
                .groupBy("type", "scope")
        ).map { row in
            "\(row["type"] ?? "") \(row["scope"] ?? "") \(row["count"] ?? 0)"
        }
    }

    private func categories() throws -> [String] {
        let rows = try stack.queryAttributes(
            From<Subdivision>()
                .select(.attribute(\.$category), .count(\.$code, as: "count"))
                .groupBy(\.$category))
        return ranked(rows, "category")
    }

    private func largestParent() throws -> [String] {
        let parents = try stack.fetchAll(
            From<Subdivision>().where(format: "children.@count > 0"))
        let sorted = parents.map { ($0.code, $0.children.count) }
            .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
        return sorted.prefix(5).map { "\($0) \($1)" } + ["\(parents.count) parents"]
    }

    private func commonNames() throws -> [String] {
        try stack.fetchAll(
            From<Country>().where(\.$commonName != nil).orderBy(.ascending(\.$alpha2))
        ).map { "\($0.alpha2) \($0.commonName ?? "")" }
    }

    private func twoLetters() throws -> [String] {
        let condition: Where<Language> = \.$type == "L" && \.$alpha2 != nil
        let first = try stack.fetchAll(
            From<Language>().where(condition).orderBy(.descending(\.$alpha2))
                .tweak { $0.fetchLimit = 5 })
        return first.map { "\($0.alpha2 ?? "") \($0.baseName)" }
            + ["\(try stack.fetchCount(From<Language>().where(condition))) languages"]
    }

    private func sharedNames() throws -> [String] {
        let rows = try stack.queryAttributes(
            From<Language>()
                .select(.attribute(\.$baseName), .count(\.$alpha3, as: "count"))
                .where(\.$qualifier != nil).groupBy(\.$baseName))
        return ranked(rows, "baseName")
    }

    private func highCurrencies() throws -> [String] {
        try stack.fetchAll(
            From<Currency>().where(\.$numeric >= 900)
                .orderBy(.ascending(\.$numeric), .ascending(\.$alpha3))
        ).map { "\($0.numeric) \($0.alpha3)" }
    }

    private func oldScripts() throws -> [String] {
        try stack.fetchAll(
            From<Script>().where(format: "name BEGINSWITH %@", "Old")
                .orderBy(.ascending(\.$name))
        ).map { "\($0.alpha4) \($0.name)" }
    }

    private func numbers() throws -> [String] {
        let least = try stack.queryValue(From<Country>().select(Int.self, .minimum(\.$numeric)))
        let greatest = try stack.queryValue(
            From<Country>().select(Int.self, .maximum(\.$numeric)))
        let sum = try stack.queryValue(From<Country>().select(Int.self, .sum(\.$numeric)))
        return ["\(least ?? 0) \(greatest ?? 0) \(sum ?? 0)"]
    }

    private func provincesOfItaly() throws -> [String] {
        guard let italy = try stack.fetchOne(From<Country>().where(\.$alpha2 == "IT")) else {
            return []
        }
        let regions = try stack.fetchAll(
            From<Subdivision>().where(\.$country == italy && \.$parent == nil)
                .orderBy(.ascending(\.$code)))
        return regions.map { "\($0.code) \($0.children.count)" }
    }

    private func children() throws -> [String] {
        let count = try stack.fetchCount(
            From<Subdivision>()
                .where(format: "parent != nil AND country.alpha2 IN %@", ["FI", "FR"]))
        return ["\(count)"]
    }
}
