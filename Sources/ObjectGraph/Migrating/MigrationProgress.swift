/// The progress of adding a storage; see ``DataStack/AsyncNamespace/addStorage(_:)``.
public enum MigrationProgress<T: LocalStorage>: Sendable {
    /// The storage's file is being migrated.
    case migrating(storage: T, progressObject: Progress)
    /// The storage has been added, with or without a migration.
    case finished(storage: T, migrationRequired: Bool)

    /// The progress from 0 to 1. It is 1 when the storage has been added.
    public var fractionCompleted: Double {
        switch self {
        case .migrating(_, let progress): progress.fractionCompleted
        case .finished: 1
        }
    }

    /// Whether the storage has been added.
    public var isCompleted: Bool {
        if case .finished = self { true } else { false }
    }
}
