import ObjectGraph

/// Imports the ISO files of a folder, all of them in one pass.
struct AtlasImport {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    let stack: DataStack
    let folder: URL
    /// Told after every thousand records, and at the end of each file.
    let progress: (String) -> Void

    func run() throws {
        let clock = ContinuousClock()
        let duration = try clock.measure {
            try stack.perform(synchronous: { transaction in
                // Subdivisions name countries, and parents that may come after them.
                try transaction.importRelatedObjects {
                    try importFile("iso_3166-1.json", "3166-1", Country.self, transaction)
                    try importFile("iso_3166-2.json", "3166-2", Subdivision.self, transaction)
                    try importFile("iso_639-3.json", "639-3", Language.self, transaction)
                    try importFile("iso_4217.json", "4217", Currency.self, transaction)
                    try importFile("iso_15924.json", "15924", Script.self, transaction)
                }
            })
        }
        print("all in one transaction: \(Self.seconds(duration)) s")
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
        _ file: String, _ key: String, _ type: O.Type, _ transaction: BaseDataTransaction
    ) throws where O.ImportSource == Source {
        let sources = try sources(file, key: key)
        let clock = ContinuousClock()
        let duration = try clock.measure {
            for start in stride(from: 0, to: sources.count, by: 1000) {
                try transaction.importUniqueObjects(
                    Into<O>(), sourceArray: sources[start..<min(start + 1000, sources.count)])
                progress("\(file): \(min(start + 1000, sources.count)) of \(sources.count)")
            }
        }
        let inserted = transaction.insertedObjectIDs(type).count
        progress("")
        print(
            "\(file): \(sources.count) records, \(inserted) new, "
                + "\(sources.count - inserted) updated, \(Self.seconds(duration)) s")
    }

    static func countryCode(of code: String) -> String { String(code.prefix { $0 != "-" }) }

    /// The code of the parent that a subdivision names, with or without the country's prefix.
    static func parentCode(of source: Source) -> String? {
        guard let code = source["code"], let parent = source["parent"] else { return nil }
        return parent.contains("-") ? parent : "\(countryCode(of: code))-\(parent)"
    }

    private static func seconds(_ duration: Duration) -> String {
        String(format: "%.3f", duration / .seconds(1))
    }
}
