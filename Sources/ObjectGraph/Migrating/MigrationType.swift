/// What one step of a migration takes.
public enum MigrationType: Hashable, Sendable {
    /// Nothing: the file is of the version.
    case none(version: String)
    /// A step that is inferred from the two models.
    case lightweight(sourceVersion: String, destinationVersion: String)
    /// A step in which the program's own mapping makes the objects.
    case heavyweight(sourceVersion: String, destinationVersion: String)

    /// The model version that the file has before.
    public var sourceVersion: String {
        switch self {
        case .none(let version): version
        case .lightweight(let source, _), .heavyweight(let source, _): source
        }
    }

    /// The model version that the file has afterwards.
    public var destinationVersion: String {
        switch self {
        case .none(let version): version
        case .lightweight(_, let destination), .heavyweight(_, let destination): destination
        }
    }

    public var isLightweightMigration: Bool {
        if case .lightweight = self { true } else { false }
    }

    public var isHeavyweightMigration: Bool {
        if case .heavyweight = self { true } else { false }
    }

    /// Whether anything is to be done.
    public var hasMigration: Bool { isLightweightMigration || isHeavyweightMigration }
}

/// The steps that a file has taken, or why it did not.
public typealias MigrationResult = Result<[MigrationType], CoreStoreError>
