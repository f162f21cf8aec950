/// One step of a migration.
public enum MigrationType: Hashable, Sendable {
    /// No step: the file has this version.
    case none(version: String)
    /// A step that is inferred from the two models.
    case lightweight(sourceVersion: String, destinationVersion: String)
    /// A step in which the program's own mapping makes the objects.
    case heavyweight(sourceVersion: String, destinationVersion: String)

    /// The model version of the file before the step.
    public var sourceVersion: String {
        switch self {
        case .none(let version): version
        case .lightweight(let source, _), .heavyweight(let source, _): source
        }
    }

    /// The model version of the file after the step.
    public var destinationVersion: String {
        switch self {
        case .none(let version): version
        case .lightweight(_, let destination), .heavyweight(_, let destination): destination
        }
    }

    /// Whether the step is inferred.
    public var isLightweightMigration: Bool {
        if case .lightweight = self { true } else { false }
    }

    /// Whether a mapping of the program's makes the objects.
    public var isHeavyweightMigration: Bool {
        if case .heavyweight = self { true } else { false }
    }

    /// Whether there is anything to do.
    public var hasMigration: Bool { isLightweightMigration || isHeavyweightMigration }
}

/// The steps that a file has taken, or the error that stopped them.
public typealias MigrationResult = Result<[MigrationType], CoreStoreError>
