/// The name of a store in a file in programs that come from CoreStore, so that a port compiles
/// first. It is removed in version 2.
@available(*, deprecated, renamed: "LocalStore")
public typealias SQLiteStore = LocalStore

extension LocalStore {
    /// A store in the folder of all programs' data itself, as stores were named before version 2 of
    /// CoreStore.
    @available(*, deprecated, message: "name a file with init(fileName:) or init(fileURL:)")
    public static func legacy(
        fileName: String, configuration: ModelConfiguration = nil,
        migrationMappingProviders: [any SchemaMappingProvider] = [],
        localStorageOptions: LocalStorageOptions = nil
    ) -> LocalStore {
        LocalStore(
            fileURL: defaultFolder.deletingLastPathComponent()
                .appendingPathComponent(fileName, isDirectory: false),
            configuration: configuration, migrationMappingProviders: migrationMappingProviders,
            localStorageOptions: localStorageOptions)
    }

    /// A store with the name of the program's own, right in the folder of all programs' data.
    @available(*, deprecated, message: "name a file with init(fileName:) or init(fileURL:)")
    public static func legacy() -> LocalStore {
        legacy(fileName: "\(DataStack.applicationName).trellis")
    }
}
