import ArgumentParser
import PageStore
import RecordStore

/// `trellis migrate`: a file follows a later model without the program.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Brings the store to another model.",
        discussion: """
            The model is JSON, as a program exports it with modelSchema.printModelJSON() or as \
            schema --json prints it, or the model of another store. The command lists the \
            differences and then migrates the file as the program would when it opens it. The \
            migration becomes durable as a whole, and until then the file has the earlier model. \
            No program may have the store open for writing.

            Stored objects take the default that the JSON gives a new attribute; the model of a \
            store has no defaults. Stored values that have no place in the model are dropped \
            only where --allow-loss names their property, as Entity.property, or the entity that \
            is gone; --allow-any-loss allows all that the dry run lists.

            A dry run reads the file, looks for values that would be lost, and says how many \
            objects are written anew and about how many bytes of room that takes. A migration \
            for which there is not enough is refused before anything is written. It does not look \
            for objects that lack a value that the model requires, or that break a new unique \
            constraint: these refuse the migration itself.

            A migration of many objects that was interrupted goes on when it is begun again, by \
            this command or by the program. With --discard the part that is done is dropped \
            instead; the file keeps the model that it has.

            Exit codes: 0 when the store has the model, 1 when a dry run finds that the file \
            would change, 2 when the file cannot follow, or when the file or the model cannot \
            be read; the file then has the model and the content that it had.
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: "The model: JSON, or another store.")
    var to: String?

    @Flag(help: "Drop what an interrupted migration has written, and migrate nothing.")
    var discard = false

    @Flag(help: "Report what would be done, and write nothing.")
    var dryRun = false

    @Option(
        help: """
            Write the store into this new file before it is changed. It stays when the migration \
            fails.
            """)
    var backup: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Drop stored values of these properties and entities.", valueName: "name"))
    var allowLoss: [String] = []

    @Flag(help: "Drop all stored values that the model has no place for.")
    var allowAnyLoss = false

    private var allowedLoss: LossPermission {
        allowAnyLoss ? .all : allowLoss.isEmpty ? .none : .only(Set(allowLoss))
    }

    func validate() throws {
        guard discard != (to != nil) else {
            throw ValidationError("Give either --to with a model, or --discard.")
        }
        guard !discard || (!dryRun && backup == nil && allowedLoss == .none) else {
            throw ValidationError("--discard takes no other option.")
        }
        guard !allowAnyLoss || allowLoss.isEmpty else {
            throw ValidationError("Give either --allow-loss with names, or --allow-any-loss.")
        }
    }

    func run() throws {
        guard let to else { return try discardMigration() }
        let outline: MigrationOutline
        do throws(StoreError) {
            let wanted = try ModelFile.schema(at: to)
            try checkNames(of: wanted)
            let steps = [MigrationStep(wanted, allowedLoss: allowedLoss)]
            outline = try MigrationOutline(of: store.file, to: steps[0].schema) { _ in steps }
            if outline.changesFile, !dryRun { try migrate(by: steps) }
        } catch {
            Console.warn(error)
            throw ExitCode(2)
        }
        show(outline)
        if outline.changesFile, dryRun { throw ExitCode(1) }
    }

    /// Throws `invalidArgument` for a name that neither model has: it allows nothing.
    private func checkNames(of wanted: SchemaDescription) throws(StoreError) {
        guard !allowLoss.isEmpty else { return }
        let stored = try ModelFile.schema(ofStore: store.file).description
        var known: Set<String> = []
        for schema in [stored, wanted] {
            let byName = Dictionary(schema.entities.map { ($0.name, $0) }) { first, _ in first }
            for entity in schema.entities {
                known.insert(entity.name)
                // A refusal names the entity of the object, which may have inherited the property.
                var line: EntityDescription? = entity
                while let ancestor = line {
                    let names = ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name)
                    known.formUnion(names.map { "\(entity.name).\($0)" })
                    line = ancestor.superentityName.flatMap { byName[$0] }
                }
            }
        }
        guard let name = allowLoss.first(where: { !known.contains($0) }) else { return }
        throw StoreError(
            .invalidArgument, "neither model has an entity or a property named \(name)")
    }

    private func discardMigration() throws {
        let isThere: Bool
        do throws(StoreError) {
            isThere = try RecordDatabase.discardMigration(path: store.file)
        } catch {
            Console.warn(error)
            throw ExitCode(2)
        }
        guard !store.json else {
            return Console.print(.object([(name: "isDiscarded", value: .bool(isThere))]))
        }
        print(
            isThere
                ? "what an interrupted migration has left is dropped"
                : "no migration was interrupted")
    }

    private func migrate(by steps: [MigrationStep]) throws(StoreError) {
        let database = try RecordDatabase.open(
            .file(store.file), schema: steps[0].schema, route: { _ in steps }, backup: backup)
        try database.close()
    }

    // MARK: Showing

    private func show(_ outline: MigrationOutline) {
        let backup = outline.changesFile && !dryRun ? backup : nil
        guard !store.json else {
            return Console.print(
                .object([
                    (name: "from", value: .string(outline.sourceVersion)),
                    (name: "to", value: .array(outline.destinationVersions.map { .string($0) })),
                    (name: "edits", value: EditText.json(outline.edits)),
                    (name: "changesFile", value: .bool(outline.changesFile)),
                    (name: "isDryRun", value: .bool(dryRun)),
                    (name: "objects", value: .integer(outline.space?.recordCount ?? 0)),
                    (
                        name: "neededBytes",
                        value: .integer(outline.space?.neededBytes ?? 0)
                    ),
                    (name: "isTooLarge", value: .bool(outline.space?.fits == false)),
                    (name: "backup", value: backup.map { .string($0) } ?? .null),
                ]))
        }
        let versions = [outline.sourceVersion] + outline.destinationVersions
        print("model \(versions.joined(separator: " → "))")
        for edit in outline.edits { print("  \(edit)") }
        if dryRun, let space = outline.space { show(space) }
        if let backup { print("\(backup): the store as it was") }
        if !outline.changesFile {
            print("nothing is to be done")
        } else {
            print(dryRun ? "the file would change" : "the file has the model")
        }
    }

    private func show(_ space: SpaceForecast) {
        guard space.neededBytes > 0 else { return }
        var line = "\(space.recordCount) objects are written anew"
        line += ", for which about \(space.neededBytes) bytes are needed"
        if let bytes = space.freeBytesOnDisk {
            line += "; free are \(space.freeBytesInFile) in the file and \(bytes) beside it"
        }
        print(line)
        if !space.fits { print("the migration would be refused for want of room") }
    }
}

/// The outcome that a migration of a file would have.
private struct MigrationOutline {
    let sourceVersion: String
    /// Empty if nothing differs but indexes.
    let destinationVersions: [String]
    let edits: [SchemaEdit]
    /// False if only classes and the version's name differ: opening rewrites neither alone.
    let changesFile: Bool
    /// Nil for a file that no program has used.
    let space: SpaceForecast?

    /// Throws `schemaMismatch` where the file cannot follow.
    init(
        of path: String, to wanted: SchemaDescription, by route: @escaping MigrationRoute
    ) throws(StoreError) {
        let stored = try ModelFile.schema(ofStore: path)
        let forecast: MigrationForecast?
        do throws(StoreError) {
            forecast = try RecordDatabase.forecast(path: path, schema: wanted, route: route)
        } catch {
            throw error.at(path: path)
        }
        edits = SchemaDifference.edits(from: stored.description, to: wanted)
        sourceVersion = forecast?.sourceVersion ?? stored.description.modelVersion
        destinationVersions = forecast?.destinationVersions ?? []
        space = forecast?.space
        let indexes = Set(stored.indexes.map(\.treeName))
        let hasOtherIndexes = try Set(Schema(wanted).indexes.map(\.treeName)) != indexes
        changesFile = !destinationVersions.isEmpty || hasOtherIndexes
    }
}
