import ObjectGraph

/// The two versions of the model, and the way from the first to the second.
func atlasStack() -> DataStack {
    DataStack(V1.schema(), atlasSchema(), migrationChain: ["V1", "V2"])
}

func atlasStore(_ file: URL) -> LocalStore {
    LocalStore(fileURL: file, migrationMappingProviders: [languageNames])
}

/// Version 2 has a language's name in two properties. The renamed property and the new index are
/// inferred.
private let languageNames = CustomSchemaMappingProvider(
    from: "V1", to: "V2",
    entityMappings: [
        .transformEntity(
            sourceEntity: "Language", destinationEntity: "Language",
            transformer: { source, createDestination in
                try CustomSchemaMappingProvider.CustomMapping.inferredTransformation(
                    source, createDestination)
                let language = createDestination()
                let name = LanguageName(source["name"] as? String ?? "")
                language["baseName"] = name.base
                language["qualifier"] = name.qualifier
            })
    ])

/// A language's name in two parts: “Ainu (China)” is “Ainu” with the qualifier “China”.
struct LanguageName {
    let base: String
    let qualifier: String?

    init(_ text: String) {
        guard text.hasSuffix(")"), let opening = text.range(of: " (") else {
            (base, qualifier) = (text, nil)
            return
        }
        base = String(text[..<opening.lowerBound])
        qualifier = String(text[opening.upperBound...].dropLast())
    }
}

extension DataStack {
    /// Adds a storage; its file is migrated if it is of version 1.
    ///
    /// - Parameter progress: told how far the migration is, such as “50 %”.
    func add(
        _ storage: LocalStore, progress: @escaping @Sendable (String) -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let migration = addStorage(storage) { result in
                continuation.resume(with: result.map { _ in })
            }
            migration?.setProgressHandler { migration in
                progress("\(Int(migration.fractionCompleted * 100)) %")
            }
        }
    }
}
