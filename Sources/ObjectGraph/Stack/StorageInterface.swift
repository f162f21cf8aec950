import RecordStore

/// A store of objects that a stack can add: a ``LocalStore`` or an ``InMemoryStore``.
public protocol StorageInterface: AnyObject, Sendable {
    /// The name of the kind of storage.
    static var storeType: String { get }
    /// The configuration whose entities the storage keeps; nil for all of them.
    var configuration: ModelConfiguration { get }
}

/// A storage that is a file.
public protocol LocalStorage: StorageInterface {
    /// The file's location.
    var fileURL: URL { get }
    /// The options that apply when the file does not fit the model.
    var localStorageOptions: LocalStorageOptions { get }
    /// Mappings of the program's own between versions of the model, asked in this order; see
    /// ``SchemaMappingProvider``.
    var migrationMappingProviders: [any SchemaMappingProvider] { get }
}

extension LocalStorage {
    /// None: every step is inferred.
    public var migrationMappingProviders: [any SchemaMappingProvider] { [] }
}

/// The options that apply when a file does not fit the model. Without any option
/// `addStorageAndWait` throws where all objects of an entity would have to be read and written; the
/// forms that run in the background migrate the file.
public struct LocalStorageOptions: OptionSet, ExpressibleByNilLiteral, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    public init(nilLiteral: ()) { self.init(rawValue: 0) }

    /// No option: `addStorageAndWait` throws where all objects of an entity would have to be read
    /// and written.
    public static let none = LocalStorageOptions([])
    /// A file that cannot be migrated to the program's model is erased and created anew: no
    /// migration leads to the model, or one that does would drop stored values without
    /// ``allowDataLoss``. The old file keeps its name until the new one is complete.
    ///
    /// Nothing is erased when the file has a later model than the program, or may have one because
    /// the program's model only lacks what the file has; when the migration needs another option,
    /// is cancelled, or fails because of a mapping, of objects without a required value, with
    /// duplicates of a unique one or with several links of a to-one; when the file is opened for
    /// reading, is damaged or of a later format; or when the model contradicts itself.
    public static let recreateStoreOnModelMismatch = LocalStorageOptions(rawValue: 1 << 0)
    /// At most one migration step is taken; a file that needs several is refused with
    /// `.progressiveMigrationRequired`.
    public static let preventProgressiveMigration = LocalStorageOptions(rawValue: 1 << 1)
    /// An inferred migration that writes objects may run while the caller waits. It takes about as
    /// long as reading and writing these objects.
    public static let allowSynchronousLightweightMigration = LocalStorageOptions(rawValue: 1 << 2)
    /// Values and objects may be dropped that the model has no property or entity for any more.
    /// Without this option such a file is refused, unless a migration chain names the versions.
    public static let allowDataLoss = LocalStorageOptions(rawValue: 1 << 3)
}

/// The result of setting up a storage.
public typealias SetupResult<T> = Result<T, CoreStoreError>

/// A storage in memory, by the engine that files have too. It is gone with the stack.
public final class InMemoryStore: StorageInterface {
    /// The name of this kind of storage: `InMemory`.
    public static let storeType = "InMemory"

    /// The configuration whose entities the storage keeps; nil for all of them.
    public let configuration: ModelConfiguration

    /// A storage for the entities of a configuration.
    ///
    /// - Parameter configuration: the configuration; nil for all entities.
    public init(configuration: ModelConfiguration) { self.configuration = configuration }

    /// A storage for all entities.
    public convenience init() { self.init(configuration: nil) }
}

/// A storage in one file, which contains its log too.
public final class LocalStore: LocalStorage {
    /// The name of this kind of storage: `Trellis`.
    public static let storeType = "Trellis"

    /// The file's location.
    public let fileURL: URL
    /// The configuration whose entities the storage keeps; nil for all of them.
    public let configuration: ModelConfiguration
    /// Mappings of the program's own between versions of the model, asked in this order.
    public let migrationMappingProviders: [any SchemaMappingProvider]
    /// The options that apply when the file does not fit the model.
    public let localStorageOptions: LocalStorageOptions
    /// A new file into which the store is written before an opening changes it to follow the model:
    /// before a migration, before indexes are built or dropped, and before the file is made anew.
    /// Nil, the default, for none.
    ///
    /// The backup is complete and durable before anything is changed, and stays when the opening
    /// then fails. If there is a file already, nothing is changed and the opening fails with
    /// `StoreError.Code.invalidArgument`; so where an earlier attempt failed or was interrupted,
    /// its backup has to be moved or removed first, or another file named. An opening that changes
    /// nothing writes none.
    public let migrationBackupURL: URL?
    /// The settings of the engine for this file.
    public let engineOptions: EngineOptions
    /// The file system: the machine's own, except in tests of its faults.
    let files: any FileSystem
    /// For tests: who continues where threads of the stack and of its store meet.
    let schedule: (any Schedule)?

    /// A store in a file of the program's choice. Nothing is opened before a stack adds the store;
    /// then its folder is made when it is missing.
    ///
    /// - Parameters:
    ///   - fileURL: the file's location, a file URL.
    ///   - configuration: the configuration whose entities the store keeps; nil for all.
    ///   - migrationMappingProviders: mappings between versions of the model that cannot be
    ///     inferred.
    ///   - localStorageOptions: the options that apply when the file does not fit the model.
    ///   - migrationBackupURL: a new file into which the store is written before an opening changes
    ///     it to follow the model; see ``migrationBackupURL``.
    ///   - engineOptions: the settings of the engine.
    public init(
        fileURL: URL, configuration: ModelConfiguration = nil,
        migrationMappingProviders: [any SchemaMappingProvider] = [],
        localStorageOptions: LocalStorageOptions = nil, migrationBackupURL: URL? = nil,
        engineOptions: EngineOptions = EngineOptions()
    ) {
        self.fileURL = fileURL
        self.configuration = configuration
        self.migrationMappingProviders = migrationMappingProviders
        self.localStorageOptions = localStorageOptions
        self.migrationBackupURL = migrationBackupURL
        self.engineOptions = engineOptions
        files = DiskFileSystem.shared
        schedule = nil
    }

    /// A store in a file system of the caller's.
    package init(
        fileURL: URL, files: any FileSystem, configuration: ModelConfiguration = nil,
        migrationMappingProviders: [any SchemaMappingProvider] = [],
        localStorageOptions: LocalStorageOptions = nil, migrationBackupURL: URL? = nil,
        engineOptions: EngineOptions = EngineOptions(), schedule: (any Schedule)? = nil
    ) {
        self.fileURL = fileURL
        self.files = files
        self.schedule = schedule
        self.migrationMappingProviders = migrationMappingProviders
        self.localStorageOptions = localStorageOptions
        self.migrationBackupURL = migrationBackupURL
        self.engineOptions = engineOptions
        self.configuration = configuration
    }

    /// A store with a name in the program's data folder; see ``init()``.
    ///
    /// - Parameters:
    ///   - fileName: the file's name, taken as it is, with its extension.
    ///   - configuration: the configuration whose entities the store keeps; nil for all.
    ///   - migrationMappingProviders: mappings between versions of the model that cannot be
    ///     inferred.
    ///   - localStorageOptions: the options that apply when the file does not fit the model.
    ///   - migrationBackupURL: a new file into which the store is written before an opening changes
    ///     it to follow the model; see ``migrationBackupURL``.
    ///   - engineOptions: the settings of the engine.
    public convenience init(
        fileName: String, configuration: ModelConfiguration = nil,
        migrationMappingProviders: [any SchemaMappingProvider] = [],
        localStorageOptions: LocalStorageOptions = nil, migrationBackupURL: URL? = nil,
        engineOptions: EngineOptions = EngineOptions()
    ) {
        self.init(
            fileURL: Self.defaultFolder.appendingPathComponent(fileName, isDirectory: false),
            configuration: configuration, migrationMappingProviders: migrationMappingProviders,
            localStorageOptions: localStorageOptions, migrationBackupURL: migrationBackupURL,
            engineOptions: engineOptions)
    }

    /// The program's own store: `program.trellis` in the folder `program` of `$XDG_DATA_HOME`, or
    /// of `~/.local/share` where that is not set.
    public convenience init() {
        self.init(fileName: "\(DataStack.applicationName).trellis")
    }

    /// The size of the file in bytes, its log included; nil when there is no file.
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
