import Primitives
import RecordStore

/// A migration that runs while a program goes on: any step may be taken, the program sees how far
/// it is, and may cancel it.
struct MigrationTask: Sendable {
    /// Nil where nothing is migrated, as far as is known.
    let progress: Progress?
    /// The plan that the progress was made by.
    let planned: PlannedMigration?
    let control: MigrationControl
    /// The file into which the store is written first; nil for that of its storage.
    let backup: URL?
    /// Whether the file is opened to be used, for which a reader need not migrate it.
    let isForUse: Bool

    init(
        _ progress: Progress?, _ planned: PlannedMigration? = nil, backup: URL? = nil,
        isForUse: Bool = true
    ) {
        self.progress = progress
        self.planned = planned
        self.backup = backup
        self.isForUse = isForUse
        let report = ProgressReport(progress)
        control = MigrationControl { step, doneCount, totalCount in
            report.advance(step, doneCount, totalCount)
        }
    }
}

/// Units of a migration's progress, a hundred for each step.
private final class ProgressReport: Sendable {
    private let progress: Progress?
    private let last = Mutex(Int64(0))

    init(_ progress: Progress?) { self.progress = progress }

    /// Whether the migration goes on.
    func advance(_ step: Int, _ doneCount: Int, _ totalCount: Int) -> Bool {
        guard let progress else { return true }
        guard !progress.isCancelled else { return false }
        let share = totalCount > 0 ? 100 * doneCount / totalCount : 0
        let count = min(Int64(100 * step + share), progress.totalUnitCount)
        let isNew = last.withLock { last in
            defer { last = count }
            return last != count
        }
        if isNew { MigrationProgressTable.report(count, of: progress) }
        return true
    }
}

extension SchemaModel {
    /// What the closures of properties without a default make, of either required or optional
    /// properties.
    func initialValues(ofOptional isOptional: Bool) -> [PropertyPath: any InitialValue] {
        var values: [PropertyPath: any InitialValue] = [:]
        for entity in description.entities {
            guard let type = classes[entity.name] else { continue }
            for declaration in ClassMeta.of(type).declarations {
                guard let attribute = declaration.kind.attribute,
                    attribute.isOptional == isOptional, attribute.initialValue != nil,
                    entity.attributes.contains(where: { $0.name == declaration.keyPath })
                else { continue }
                values[PropertyPath(entity.name, declaration.keyPath)] =
                    DeclaredInitialValue(declaration: declaration)
            }
        }
        return values
    }
}

/// The initial value that a property's declaration makes for each new object.
private struct DeclaredInitialValue: InitialValue {
    let declaration: FieldDeclaration

    func value() throws(StoreError) -> Value {
        guard let make = declaration.kind.attribute?.initialValue else { return .null }
        return try make()
    }
}
