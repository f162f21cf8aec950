import ObjectGraph

/// Opens a file of version 1 with version 2, shows some of its objects before and after, and
/// compares all of them.
struct Migration {
    let file: URL

    @MainActor func run() async throws {
        let before = try Content.ofVersion1(in: file)
        print("Version 1 reads \(before.count) objects:")
        try showVersion1()

        let stack = atlasStack()
        let storage = atlasStore(file)
        let steps = try stack.requiredMigrationsForStorage(storage)
        print("Version 2 takes these steps:")
        for step in steps {
            let kind = step.isHeavyweightMigration ? "with the program's mapping" : "inferred"
            print("    \(step.sourceVersion) to \(step.destinationVersion), \(kind)")
        }
        try expect(
            steps == [.heavyweight(sourceVersion: "V1", destinationVersion: "V2")],
            "the steps are \(steps)")
        try await stack.add(storage) { print("    \($0)") }

        let after = try Content.ofVersion2(in: stack)
        print("Version 2 reads \(after.count) objects:")
        try showVersion2(stack)
        let difference = after.difference(from: before)
        try expect(difference == nil, difference ?? "")
        try checkNames(stack)
        try checkIndex(stack)
        stack.unsafeRemoveAllPersistentStoresAndWait()

        let remaining = try atlasStack().requiredMigrationsForStorage(atlasStore(file))
        try expect(remaining.isEmpty, "after the migration \(remaining) remain")
        let again = atlasStack()
        try again.addStorageAndWait(LocalStore(fileURL: file))
        try expect(try Content.ofVersion2(in: again) == after, "the second opening reads others")
        again.unsafeRemoveAllPersistentStoresAndWait()
        print("All objects have the values and links that they had.")
    }

    private func expect(_ isTrue: Bool, _ failure: @autoclosure () -> String) throws {
        guard isTrue else { throw AtlasImport.Failure(description: failure()) }
    }

    // MARK: Showing

    @MainActor private func showVersion1() throws {
        var options = EngineOptions()
        options.isReadOnly = true
        let stack = DataStack(V1.schema())
        try stack.addStorageAndWait(LocalStore(fileURL: file, engineOptions: options))
        defer { stack.unsafeRemoveAllPersistentStoresAndWait() }
        let languages = try stack.fetchAll(
            From<V1.Language>().where(format: "name ENDSWITH %@", ")")
                .orderBy(.ascending(\.$alpha3)).tweak { $0.fetchLimit = 3 })
        for language in languages { print("    \(language.alpha3): name “\(language.name)”") }
        let subdivisions = try stack.fetchAll(
            From<V1.Subdivision>().orderBy(.ascending(\.$code)).tweak { $0.fetchLimit = 2 })
        for subdivision in subdivisions {
            print("    \(subdivision.code): \(subdivision.name), type “\(subdivision.type)”")
        }
    }

    @MainActor private func showVersion2(_ stack: DataStack) throws {
        let languages = try stack.fetchAll(
            From<Language>().where(\.$qualifier != nil)
                .orderBy(.ascending(\.$alpha3)).tweak { $0.fetchLimit = 3 })
        for language in languages {
            print(
                "    \(language.alpha3): base name “\(language.baseName)”, "
                    + "qualifier “\(language.qualifier ?? "")”")
        }
        let subdivisions = try stack.fetchAll(
            From<Subdivision>().orderBy(.ascending(\.$code)).tweak { $0.fetchLimit = 2 })
        for subdivision in subdivisions {
            print(
                "    \(subdivision.code): \(subdivision.name), "
                    + "category “\(subdivision.category)”")
        }
    }

    // MARK: Checking

    @MainActor private func checkNames(_ stack: DataStack) throws {
        let unsplit = try stack.fetchCount(
            From<Language>().where(format: "baseName ENDSWITH %@", ")"))
        try expect(unsplit == 0, "\(unsplit) names of languages were not split")
        let split = try stack.fetchCount(From<Language>().where(\.$qualifier != nil))
        try expect(split > 0, "no name of a language was split")
    }

    /// The index that version 2 adds finds what a scan finds.
    @MainActor private func checkIndex(_ stack: DataStack) throws {
        let high = From<Currency>().where(\.$numeric >= 500)
        let plan = try stack.explain(high)
        print("Currencies numbered 500 and above: \(plan)")
        let scanned = try stack.fetchAll(From<Currency>()).filter { $0.numeric >= 500 }
        try expect(
            Set(try stack.fetchAll(high)) == Set(scanned), "the new index finds other currencies")
    }
}
