import ArgumentParser
import PageStore
import RecordStore

/// `trellis schema`: the model that the file was written with.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Shows the entities that the file declares.",
        discussion: """
            With --diff, lists what makes another schema of the file's: entities and properties \
            are compared by name, in no order, and defaults are the program's. The other schema \
            is a store's, or JSON as --json prints it, and a program as \
            modelSchema.printModelJSON(). Where the history of a store tells which schema is \
            the newer one, a last line says so; with --json only the differences are listed. \
            Exit code 1 says that the schemas differ, 2 that one of them cannot be read.

            With --history, lists the models that the file has had, the last its own, as far as \
            that is known: a program with any of the others is older than the file. Below them \
            it lists the entities that migrations have renamed, or whose objects they have given \
            other numbers: URIs that were saved before lead to the same objects.
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: "A store, or the JSON of a schema, to compare with.")
    var diff: String?

    @Flag(help: "List the models that the file has had.")
    var history = false

    func validate() throws {
        if history, diff != nil {
            throw ValidationError("--history and --diff are two questions")
        }
    }

    func run() throws {
        if history { return try store.withEngine(showHistory) }
        guard let diff else {
            return try store.withEngine { show(try Self.schema(of: $0, at: store.file)) }
        }
        let edits: [SchemaEdit]
        let age: String?
        do throws(StoreError) {
            let own = try ModelFile.schema(ofStore: store.file).description
            let other = try ModelFile.schema(at: diff)
            edits = SchemaDifference.edits(from: own, to: other)
            age = try self.age(of: other, at: diff, comparedWith: own)
        } catch {
            Console.warn(error)
            throw ExitCode(2)
        }
        if store.json {
            Console.print(EditText.json(edits))
        } else if edits.isEmpty {
            print("the schemas are the same")
        } else {
            for edit in edits { print(edit) }
            if let age { print(age) }
        }
        if !edits.isEmpty { throw ExitCode(1) }
    }

    /// Which of two schemas is the newer one; nil where no history tells, or two contradict each
    /// other because the stores went through the same models in another order.
    private func age(
        of other: SchemaDescription, at path: String, comparedWith own: SchemaDescription
    ) throws(StoreError) -> String? {
        let isOlder = try ModelFile.history(at: store.file)?.isEarlier(other) ?? false
        let isNewer = try ModelFile.history(at: path)?.isEarlier(own) ?? false
        return switch (isOlder, isNewer) {
        case (true, false): "the other schema is older: the file has had it before its own"
        case (false, true): "the other schema is newer: its store has had the file's before"
        default: nil
        }
    }

    // MARK: Reading

    private static func schema(
        of engine: Engine, at path: String
    ) throws(StoreError) -> SchemaDescription {
        guard let schema = try CatalogView(try engine.snapshot())?.schema() else {
            throw StoreError(
                .notFound, "the store has no schema, because no program has used it yet",
                path: path)
        }
        return schema
    }

    // MARK: Showing

    private func showHistory(_ engine: Engine) throws(StoreError) {
        let catalog = try CatalogView(try engine.snapshot())
        let models = try catalog?.history()?.models ?? []
        let moves = try catalog?.movedObjects().moves ?? []
        guard !store.json else { return Console.print(Self.json(models, moves)) }
        if models.isEmpty { print("the file has no history") }
        for model in models {
            let time = model.time > 0 ? model.timeText : "?"
            let commit = model.commitNumber > 0 ? "\(model.commitNumber)" : "?"
            print("\(model.fingerprint)  commit \(commit)  \(time)  \(model.version)")
        }
        for move in moves {
            let end = move.laterName.map { "\($0)  +\(move.offset)" } ?? "removed"
            print("moved \(move.generation)  \(move.earlierName)  \(end)")
        }
    }

    private static func json(
        _ models: [ModelHistory.Model], _ moves: [MovedObjects.Move]
    ) -> JSONText {
        .object([
            (
                "models",
                .array(
                    models.map { model in
                        .object([
                            ("modelVersion", .string(model.version)),
                            ("fingerprint", .string(model.fingerprint.description)),
                            ("commitNumber", .integer(model.commitNumber)),
                            ("time", .integer(model.time)),
                        ])
                    })
            ),
            (
                "moved",
                .array(
                    moves.map { move in
                        .object([
                            ("generation", .integer(UInt64(move.generation))),
                            ("earlierName", .string(move.earlierName)),
                            ("laterName", move.laterName.map { .string($0) } ?? .null),
                            ("offset", .integer(move.offset)),
                        ])
                    })
            ),
        ])
    }

    private func show(_ schema: SchemaDescription) {
        if store.json {
            print(SchemaExport.text(schema))
        } else {
            print("model \(schema.modelVersion)")
            for entity in schema.entities { describe(entity) }
        }
    }

    private func describe(_ entity: EntityDescription) {
        var title = entity.isAbstract ? "abstract entity " : "entity "
        title += entity.name
        if let parent = entity.superentityName { title += ": \(parent)" }
        print("\n\(title) (class \(entity.className))")
        for attribute in entity.attributes {
            let mark = attribute.isOptional ? "?" : ""
            let coded = attribute.isCoded ? ", coded" : ""
            print("  \(attribute.name): \(attribute.type.name)\(mark)\(coded)")
        }
        for relationship in entity.relationships {
            let inverse = relationship.inverseName.map { ", inverse \($0)" } ?? ""
            print(
                "  \(relationship.name) → \(relationship.destinationEntityName) "
                    + "(\(relationship.kind.rawValue), \(relationship.deleteRule.rawValue)"
                    + "\(inverse))")
        }
        for names in entity.uniqueConstraints {
            print("  unique \(names.joined(separator: ", "))")
        }
        for names in entity.indexes { print("  index \(names.joined(separator: ", "))") }
    }
}
