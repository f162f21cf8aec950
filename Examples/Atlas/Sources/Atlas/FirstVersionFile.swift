import ObjectGraph

/// Writes a store as version 1's program did, with a share of the records: what version 2 has to
/// open. The classes of version 1 have no importers any more.
struct FirstVersionFile {
    let file: URL
    let folder: URL

    /// - Parameter countryCount: how many countries; the same share of the languages, currencies
    ///   and scripts is written, evenly spread, and all subdivisions of these countries.
    @MainActor func write(countryCount: Int) throws {
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw AtlasImport.Failure(description: "\(file.path) is there already")
        }
        let records = try RecordShare(folder: folder, countryCount: countryCount)
        var options = EngineOptions()
        options.pageSizeInBytes = 4096
        let stack = DataStack(V1.schema())
        try stack.addStorageAndWait(LocalStore(fileURL: file, engineOptions: options))
        try stack.perform(synchronous: { transaction in
            try write(records.countries, records.subdivisions, in: transaction)
            for source in records.languages { write(language: source, in: transaction) }
            for source in records.currencies {
                let currency = transaction.create(Into<V1.Currency>())
                currency.alpha3 = source["alpha_3"] ?? ""
                currency.numeric = Int(source["numeric"] ?? "") ?? 0
                currency.name = source["name"] ?? ""
            }
            for source in records.scripts {
                let script = transaction.create(Into<V1.Script>())
                script.alpha4 = source["alpha_4"] ?? ""
                script.numeric = Int(source["numeric"] ?? "") ?? 0
                script.name = source["name"] ?? ""
            }
        })
        stack.unsafeRemoveAllPersistentStoresAndWait()
        print("Version 1 wrote \(try Content.ofVersion1(in: file).count) objects to \(file.path)")
    }

    private func write(
        _ countries: [Source], _ subdivisions: [Source], in transaction: BaseDataTransaction
    ) throws {
        var countryByCode: [String: V1.Country] = [:]
        for source in countries {
            let country = transaction.create(Into<V1.Country>())
            country.alpha2 = source["alpha_2"] ?? ""
            country.alpha3 = source["alpha_3"] ?? ""
            country.numeric = Int(source["numeric"] ?? "") ?? 0
            country.name = source["name"] ?? ""
            country.officialName = source["official_name"]
            country.commonName = source["common_name"]
            country.flag = source["flag"]
            countryByCode[country.alpha2] = country
        }
        var written: [(source: Source, subdivision: V1.Subdivision)] = []
        for source in subdivisions {
            let code = source["code"] ?? ""
            guard let country = countryByCode[AtlasImport.countryCode(of: code)] else { continue }
            let subdivision = transaction.create(Into<V1.Subdivision>())
            subdivision.code = code
            subdivision.name = source["name"] ?? ""
            subdivision.type = source["type"] ?? ""
            subdivision.country = country
            written.append((source, subdivision))
        }
        let byCode = Dictionary(
            written.map { ($0.subdivision.code, $0.subdivision) }, uniquingKeysWith: { $1 })
        for (source, subdivision) in written {
            guard let code = AtlasImport.parentCode(of: source) else { continue }
            guard let parent = byCode[code] else {
                throw AtlasImport.Failure(
                    description: "\(subdivision.code) names the parent \(code)")
            }
            subdivision.parent = parent
        }
    }

    private func write(language source: Source, in transaction: BaseDataTransaction) {
        let language = transaction.create(Into<V1.Language>())
        language.alpha3 = source["alpha_3"] ?? ""
        language.alpha2 = source["alpha_2"]
        language.name = source["name"] ?? ""
        language.scope = source["scope"] ?? ""
        language.type = source["type"] ?? ""
    }
}
