import ObjectGraph

/// Imports the ISO files of a folder: each file in one transaction.
struct AtlasImport {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    let stack: DataStack
    let folder: URL
    /// Told after every thousand records, and at the end of each file.
    let progress: (String) -> Void

    func run() throws {
        try importFile("iso_3166-1.json", key: "3166-1", Country.self)
        try importSubdivisions()
        try importFile("iso_639-3.json", key: "639-3", Language.self)
        try importFile("iso_4217.json", key: "4217", Currency.self)
        try importFile("iso_15924.json", key: "15924", Script.self)
    }

    private func sources(_ file: String, key: String) throws -> [Source] {
        try Self.sources(folder.appendingPathComponent(file), key: key)
    }

    static func sources(_ file: URL, key: String) throws -> [Source] {
        let json = try JSONSerialization.jsonObject(with: try Data(contentsOf: file))
        guard let root = json as? [String: Any], let list = root[key] as? [[String: Any]] else {
            throw Failure(description: "\(file.lastPathComponent) has no list “\(key)”")
        }
        return list.map { $0.compactMapValues { $0 as? String } }
    }

    private func importFile<O: CoreStoreObject & ImportableUniqueObject>(
        _ file: String, key: String, _ type: O.Type
    ) throws where O.ImportSource == Source {
        let sources = try sources(file, key: key)
        try report(file, sources.count) {
            try stack.perform(synchronous: { transaction in
                for start in stride(from: 0, to: sources.count, by: 1000) {
                    try transaction.importUniqueObjects(
                        Into<O>(), sourceArray: sources[start..<min(start + 1000, sources.count)])
                    progress("\(file): \(min(start + 1000, sources.count)) of \(sources.count)")
                }
                return transaction.insertedObjectIDs().count
            })
        }
    }

    /// Countries and parents are linked when all subdivisions are there, because a parent's code
    /// may come after its child's.
    private func importSubdivisions() throws {
        let file = "iso_3166-2.json"
        let sources = try sources(file, key: "3166-2")
        try report(file, sources.count) {
            try stack.perform(synchronous: { transaction in
                let subdivisions = try transaction.importUniqueObjects(
                    Into<Subdivision>(), sourceArray: sources)
                progress("\(file): \(subdivisions.count) of \(sources.count), linking")
                let countries = try transaction.fetchAll(From<Country>())
                let countryByCode = Dictionary(
                    uniqueKeysWithValues: countries.map { ($0.alpha2, $0) })
                let byCode = Dictionary(
                    uniqueKeysWithValues: subdivisions.map { ($0.code, $0) })
                for source in sources {
                    guard let code = source["code"], let subdivision = byCode[code] else {
                        continue
                    }
                    guard let country = countryByCode[Self.countryCode(of: code)] else {
                        throw Failure(description: "\(code) belongs to no country")
                    }
                    subdivision.country = country
                    if let parent = try Self.parent(of: source, in: byCode) {
                        subdivision.parent = parent
                    }
                }
                return transaction.insertedObjectIDs(Subdivision.self).count
            })
        }
    }

    static func countryCode(of code: String) -> String { String(code.prefix { $0 != "-" }) }

    /// The parent that a subdivision names, with or without the country's prefix.
    static func parent<O>(of source: Source, in byCode: [String: O]) throws -> O? {
        guard let code = source["code"], let parentCode = source["parent"] else { return nil }
        guard let parent = byCode[parentCode] ?? byCode["\(countryCode(of: code))-\(parentCode)"]
        else {
            throw Failure(description: "\(code) names the parent \(parentCode)")
        }
        return parent
    }

    private func report(_ file: String, _ count: Int, _ body: () throws -> Int) throws {
        let clock = ContinuousClock()
        var inserted = 0
        let duration = try clock.measure { inserted = try body() }
        let seconds =
            Double(duration.components.seconds)
            + Double(duration.components.attoseconds) / 1e18
        let rate = Int(Double(count) / max(seconds, 1e-9))
        progress("")
        print(
            "\(file): \(count) records, \(inserted) new, \(count - inserted) updated, "
                + String(format: "%.3f s, ", seconds) + "\(rate) records/s")
    }
}
