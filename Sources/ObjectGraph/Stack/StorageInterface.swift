import RecordStore

/// A place where objects are kept.
public protocol StorageInterface: AnyObject, Sendable {
    /// The kind of storage.
    static var storeType: String { get }
    /// The configuration whose entities the storage keeps; nil for all of them.
    var configuration: ModelConfiguration { get }
}

/// A storage that is a file.
public protocol LocalStorage: StorageInterface {
    /// Where the file is.
    var fileURL: URL { get }
    /// What may be done when the file does not fit the model.
    var localStorageOptions: LocalStorageOptions { get }
    /// The program's own ways from one model version to another: see ``SchemaMappingProvider``.
    var migrationMappingProviders: [any SchemaMappingProvider] { get }
}

extension LocalStorage {
    /// None: every step is inferred.
    public var migrationMappingProviders: [any SchemaMappingProvider] { [] }
}

/// What may be done when a file does not fit the model.
public struct LocalStorageOptions: OptionSet, ExpressibleByNilLiteral, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }
    public init(nilLiteral: ()) { self.init(rawValue: 0) }

    /// Nothing: opening fails.
    public static let none = LocalStorageOptions([])
    /// A file that cannot follow the program's model is erased and made anew: no migration leads to
    /// the model, or one that does would drop stored values without ``allowDataLoss``. The old file
    /// keeps its name until the new one is whole.
    ///
    /// Nothing is erased when the file is of a later model than the program, or may be one because
    /// the program's model only lacks what the file has; when the migration needs another option,
    /// is cancelled, or fails because of a mapping, of objects without a required value or with
    /// duplicates of a unique one; when the file is opened for reading, is damaged or of a later
    /// format; or when the model contradicts itself.
    public static let recreateStoreOnModelMismatch = LocalStorageOptions(rawValue: 1 << 0)
    /// Only one migration step is taken.
    public static let preventProgressiveMigration = LocalStorageOptions(rawValue: 1 << 1)
    /// An inferred migration may run while the caller waits.
    public static let allowSynchronousLightweightMigration = LocalStorageOptions(rawValue: 1 << 2)
    /// Values and objects may be dropped that the model has no property or entity for any more.
    /// Without it such a file is refused, but where a migration chain names the versions.
    public static let allowDataLoss = LocalStorageOptions(rawValue: 1 << 3)
}

/// What setting a storage up gave.
public typealias SetupResult<T> = Result<T, CoreStoreError>

/// A storage in memory: the same engine as a file's, gone with the stack.
public final class InMemoryStore: StorageInterface {
    public static let storeType = "InMemory"

    public let configuration: ModelConfiguration

    /// - Parameter configuration: the entities that the storage keeps; nil for all.
    public init(configuration: ModelConfiguration) { self.configuration = configuration }

    public convenience init() { self.init(configuration: nil) }
}

/// A storage in one file.
public final class LocalStore: LocalStorage {
    public static let storeType = "Trellis"

    public let fileURL: URL
    public let configuration: ModelConfiguration
    public let migrationMappingProviders: [any SchemaMappingProvider]
    public let localStorageOptions: LocalStorageOptions
    /// How the engine works on the file.
    public let engineOptions: EngineOptions
    /// What the file is reached by: the machine's file system, but in tests of its faults.
    let files: any FileSystem

    /// A store at a place of the program's choice. The folder is made when it is missing.
    public init(
        fileURL: URL, configuration: ModelConfiguration = nil,
        migrationMappingProviders: [any SchemaMappingProvider] = [],
        localStorageOptions: LocalStorageOptions = nil,
        engineOptions: EngineOptions = EngineOptions()
    ) {
        self.fileURL = fileURL
        self.configuration = configuration
        self.migrationMappingProviders = migrationMappingProviders
        self.localStorageOptions = localStorageOptions
        self.engineOptions = engineOptions
        files = DiskFileSystem.shared
    }

    /// A store in a file system of the caller's.
    package init(
        fileURL: URL, files: any FileSystem, configuration: ModelConfiguration = nil,
        localStorageOptions: LocalStorageOptions = nil,
        engineOptions: EngineOptions = EngineOptions()
    ) {
        self.fileURL = fileURL
        self.files = files
        migrationMappingProviders = []
        self.localStorageOptions = localStorageOptions
        self.engineOptions = engineOptions
        self.configuration = configuration
    }

    /// A store of a name in the program's data folder: see ``init()``. The name is taken as it is.
    public convenience init(
        fileName: String, configuration: ModelConfiguration = nil,
        migrationMappingProviders: [any SchemaMappingProvider] = [],
        localStorageOptions: LocalStorageOptions = nil,
        engineOptions: EngineOptions = EngineOptions()
    ) {
        self.init(
            fileURL: Self.defaultFolder.appendingPathComponent(fileName, isDirectory: false),
            configuration: configuration, migrationMappingProviders: migrationMappingProviders,
            localStorageOptions: localStorageOptions, engineOptions: engineOptions)
    }

    /// The program's own store: `program.trellis` in the folder `program` of `$XDG_DATA_HOME`, or
    /// of `~/.local/share` when that is not set.
    public convenience init() {
        self.init(fileName: "\(DataStack.applicationName).trellis")
    }

    /// The size of the file in bytes, nil when there is none.
    public func fileSize() -> UInt64? {
        let values = try? FileManager.default.attributesOfItem(atPath: fileURL.path)
        return (values?[.size] as? NSNumber)?.uint64Value
    }

    static var defaultFolder: URL {
        let name = DataStack.applicationName
        if let path = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            return URL(fileURLWithPath: path).appendingPathComponent(name, isDirectory: true)
        }
        return FileManager.default.homeDirectoryForCurrentUser
            .appendingPathComponent(".local/share/\(name)", isDirectory: true)
    }
}
