import ArgumentParser
import PageStore
import RecordStore

/// `trellis dump`: the objects of an entity.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Prints the objects of an entity and those below it.",
        discussion: """
            With --json one array: decimals as strings, data as base64, dates as ISO 8601, links \
            as object numbers. Objects that cannot be read are named on the error output.
            """)

    @OptionGroup var store: StoreOptions
    @Argument(help: "The entity's name.")
    var entity: String

    func run() throws {
        try store.withEngine { engine in
            let database = try RecordDatabase.openReadOnly(engine)
            guard let layout = database.schema.entity(named: entity) else {
                let names = database.schema.entities.map(\.name).joined(separator: ", ")
                throw StoreError(
                    .notFound, "the file declares no entity \(entity); it has \(names)",
                    path: store.file)
            }
            let reader = try database.snapshot()
            if store.json { print("[", terminator: "") }
            let isWhole = dump(layout, of: reader)
            if store.json { print("\n]") }
            if !isWhole { throw ExitCode(1) }
        }
    }

    /// False when something could not be read.
    private func dump(_ entity: EntityLayout, of reader: RecordReader) -> Bool {
        let cursor = reader.recordCursor(entity.hierarchy)
        var isWhole = true
        var isFirst = true
        do throws(StoreError) {
            while try cursor.next() {
                do throws(StoreError) {
                    let row = try cursor.row()
                    guard entity.tags.contains(row.entityTag) else { continue }
                    let members = try members(of: row, cursor.number, in: reader)
                    printObject(members, isFirst: isFirst)
                    isFirst = false
                } catch {
                    Console.warn(error)
                    isWhole = false
                }
            }
        } catch {
            Console.warn(error)
            Console.warn(
                StoreError(
                    .corrupt, "objects behind number \(cursor.number.rawValue) cannot be read"))
            isWhole = false
        }
        return isWhole
    }

    private func members(
        of row: RowView, _ number: ObjectNumber, in reader: RecordReader
    ) throws(StoreError) -> [(name: String, value: JSONText)] {
        let entity = reader.schema.knownEntity(tag: row.entityTag)
        var members: [(name: String, value: JSONText)] = [
            (name: "$entity", value: .string(entity.name)),
            (name: "$number", value: .integer(number.rawValue)),
        ]
        for field in entity.fields where field.type != nil {
            members.append(
                (name: field.name, value: ValueText.json(try reader.value(field, of: row))))
        }
        for relationship in entity.relationships {
            if let field = relationship.field {
                let target = row.link(at: field.byteOffset)
                members.append(
                    (name: relationship.name, value: .optional(target?.rawValue)))
                continue
            }
            let targets = try reader.linkedNumbers(relationship, of: number)
            members.append(
                (name: relationship.name, value: .array(targets.map { .integer($0.rawValue) })))
        }
        return members
    }

    private func printObject(_ members: [(name: String, value: JSONText)], isFirst: Bool) {
        if store.json {
            print(isFirst ? "\n" : ",\n", terminator: "")
            print(JSONText.object(members).text, terminator: "")
            return
        }
        if !isFirst { print() }
        Console.print(members.map { (name: $0.name, value: $0.value.text) })
    }
}
