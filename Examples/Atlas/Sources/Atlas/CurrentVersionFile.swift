import ObjectGraph

/// A store of the current version: how it is written for later versions, and what it is checked
/// for.
struct CurrentVersionFile {
    let file: URL

    // MARK: Writing

    /// Imports a share of the records from a folder, as the program imports all of them.
    ///
    /// - Parameter countryCount: how many countries; the same share of everything else.
    @MainActor func write(from folder: URL, countryCount: Int) throws {
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw AtlasImport.Failure(description: "\(file.path) is there already")
        }
        let records = try RecordShare(folder: folder, countryCount: countryCount)
        var options = EngineOptions()
        options.pageSizeInBytes = 4096
        let stack = atlasStack()
        try stack.addStorageAndWait(LocalStore(fileURL: file, engineOptions: options))
        try stack.perform(synchronous: { transaction in
            try transaction.importRelatedObjects {
                try transaction.importUniqueObjects(
                    Into<Country>(), sourceArray: records.countries)
                try transaction.importUniqueObjects(
                    Into<Subdivision>(), sourceArray: records.subdivisions)
                try transaction.importUniqueObjects(
                    Into<Language>(), sourceArray: records.languages)
                try transaction.importUniqueObjects(
                    Into<Currency>(), sourceArray: records.currencies)
                try transaction.importUniqueObjects(Into<Script>(), sourceArray: records.scripts)
            }
        })
        let content = try Content.ofVersion2(in: stack)
        stack.unsafeRemoveAllPersistentStoresAndWait()
        print("Version 2 wrote \(content.count) objects to \(file.path)")
    }

    // MARK: Checking

    /// The current version opens the file without a migration; version 1 refuses it.
    @MainActor func check() throws {
        let stack = atlasStack()
        let steps = try stack.requiredMigrationsForStorage(atlasStore(file))
        try expect(steps.isEmpty, "version 2 would take the steps \(steps)")
        var options = EngineOptions()
        options.isReadOnly = true
        try stack.addStorageAndWait(LocalStore(fileURL: file, engineOptions: options))
        let content = try Content.ofVersion2(in: stack)
        let split = try stack.fetchCount(From<Language>().where(\.$qualifier != nil))
        stack.unsafeRemoveAllPersistentStoresAndWait()
        try expect(split > 0, "no language has a qualifier")
        print("Version 2 reads \(content.count) objects")
        try checkRefusal()
    }

    /// A program of version 1 gets a typed error, also where it may recreate the store.
    private func checkRefusal() throws {
        for options in [LocalStorageOptions.none, [.recreateStoreOnModelMismatch, .allowDataLoss]] {
            let storage = LocalStore(fileURL: file, localStorageOptions: options)
            do throws(CoreStoreError) {
                try DataStack(V1.schema()).addStorageAndWait(storage)
            } catch {
                try expect(error.storeError?.code == .newerModel, "version 1 gets \(error)")
                continue
            }
            throw AtlasImport.Failure(description: "version 1 opened the file of version 2")
        }
        print("Version 1 refuses it: the file has a newer model")
    }

    private func expect(_ isTrue: Bool, _ failure: @autoclosure () -> String) throws {
        guard isTrue else { throw AtlasImport.Failure(description: failure()) }
    }
}

/// A share of the records of a folder, evenly spread, with all subdivisions of its countries.
struct RecordShare {
    let countries: [Source]
    let subdivisions: [Source]
    let languages: [Source]
    let currencies: [Source]
    let scripts: [Source]

    init(folder: URL, countryCount: Int) throws {
        func sources(_ file: String, _ key: String) throws -> [Source] {
            try AtlasImport.sources(folder.appendingPathComponent(file), key: key)
        }
        let all = try sources("iso_3166-1.json", "3166-1")
        guard !all.isEmpty else {
            throw AtlasImport.Failure(description: "iso_3166-1.json has no country")
        }
        func share(_ list: [Source]) -> [Source] {
            let count = list.count * min(countryCount, all.count) / all.count
            return (0..<count).map { list[$0 * list.count / count] }
        }
        countries = share(all)
        languages = share(try sources("iso_639-3.json", "639-3"))
        currencies = share(try sources("iso_4217.json", "4217"))
        scripts = share(try sources("iso_15924.json", "15924"))
        let codes = Set(countries.compactMap { $0["alpha_2"] })
        subdivisions = try sources("iso_3166-2.json", "3166-2").filter {
            codes.contains(AtlasImport.countryCode(of: $0["code"] ?? ""))
        }
    }
}
