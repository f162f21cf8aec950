import ObjectGraph

/// Imports the world's subdivisions in batches, spread over some seconds.
struct Import {
    private static let batchSize = 50

    let store: URL
    let folder: URL
    let seconds: Double

    private struct Source {
        var code: String
        var name: String

        var country: String { String(code.prefix { $0 != "-" }) }
    }

    private func sources(_ file: String, _ key: String, _ code: String) throws -> [Source] {
        let data = try Data(contentsOf: folder.appendingPathComponent(file))
        let json = try JSONSerialization.jsonObject(with: data)
        guard let root = json as? [String: Any], let list = root[key] as? [[String: Any]] else {
            throw Failure(description: "\(file) has no list “\(key)”")
        }
        return try list.map { entry in
            guard let code = entry[code] as? String, let name = entry["name"] as? String else {
                throw Failure(description: "\(file) has an entry without code or name")
            }
            return Source(code: code, name: name)
        }
    }

    /// Returns the list as it is at the end.
    @MainActor func run() throws -> [String] {
        let stack = DataStack(World.schema())
        try stack.addStorageAndWait(LocalStore(fileURL: store))
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        let countries = try sources("iso_3166-1.json", "3166-1", "alpha_2")
        // Always the same order, in which no country's places are together.
        let places = try sources("iso_3166-2.json", "3166-2", "code")
            .sorted { ($0.name, $0.code) < ($1.name, $1.code) }
        try stack.perform(synchronous: { transaction in
            for source in countries {
                let country = transaction.create(Into<Country>())
                (country.code, country.name) = (source.code, source.name)
            }
        })
        let starts = Array(stride(from: 0, to: places.count, by: Self.batchSize))
        let begin = ContinuousClock.now
        for (number, start) in starts.enumerated() {
            let batch = places[start..<min(start + Self.batchSize, places.count)]
            try add(batch, number, isLast: start == starts.last, to: stack)
            let due = begin + .seconds(seconds * Double(number + 1) / Double(starts.count))
            let pause = (due - ContinuousClock.now) / .seconds(1)
            if pause > 0 { Thread.sleep(forTimeInterval: pause) }
        }
        let chain = World.largest()
        return World.lines(try stack.fetchAll(chain.from, chain.fetchClauses))
    }

    private func add(
        _ sources: ArraySlice<Source>, _ number: Int, isLast: Bool, to stack: DataStack
    ) throws {
        try stack.perform(synchronous: { transaction in
            for source in sources {
                let place = transaction.create(Into<Place>())
                (place.code, place.name) = (source.code, source.name)
                let code = source.country
                let country = try transaction.fetchOne(
                    From<Country>().where(\.$code == code))
                guard let country else {
                    throw Failure(description: "\(source.code) belongs to no country")
                }
                place.country = country
                country.count += 1
                country.band = Bands.name(country.count)
            }
            let batch = transaction.create(Into<Batch>())
            (batch.number, batch.isLast) = (number, isLast)
        })
    }
}
