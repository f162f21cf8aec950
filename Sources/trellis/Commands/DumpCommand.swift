import ArgumentParser
import PageStore
import RecordStore

/// `trellis dump`: the objects of an entity.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Prints the objects of an entity and those below it.",
        discussion: """
            With --json one array: decimals as strings, data as base64, dates as ISO 8601, links \
            as object numbers. What cannot be read is null, or left out, and named on the error \
            output.

            A date has six decimals, or as many more as it takes: rounded to a Double, the \
            seconds since 2001-01-01T00:00:00Z that it says are those that are stored. Before 15 \
            October 1582 days are of the Julian calendar. Dates of 60,000,000,000 seconds or more \
            before or after 2001, and those less than 0.0001 seconds from it, are strings of that \
            number of seconds, such as "6.5e+10", "5e-05", "inf" and "nan".
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

    /// Shows every readable object, and reports the others. False when some could not be read.
    private func dump(_ entity: EntityLayout, of reader: RecordReader) -> Bool {
        let cursor = reader.recordCursor(entity.hierarchy)
        var isWhole = true
        var isFirst = true
        while step(cursor, &isWhole) {
            do throws(StoreError) {
                let row = try cursor.row()
                guard entity.tags.contains(row.entityTag) else { continue }
                let members = members(of: row, cursor.number, in: reader, &isWhole)
                printObject(members, isFirst: isFirst, &isWhole)
                isFirst = false
            } catch {
                Console.warn(error)
                isWhole = false
            }
        }
        return isWhole
    }

    /// Goes to the next object, past nodes that cannot be read. False at the end.
    private func step(_ cursor: RecordCursor, _ isWhole: inout Bool) -> Bool {
        var isBehindDamage = false
        while true {
            do throws(StoreError) {
                return try isBehindDamage ? cursor.skipDamage() : cursor.next()
            } catch {
                let last = cursor.number.rawValue
                Console.warn(
                    StoreError(
                        error.code, "some objects behind number \(last) are lost: \(error.message)",
                        page: error.page, byteOffset: error.byteOffset, path: error.path))
                isWhole = false
                isBehindDamage = true
            }
        }
    }

    private enum Member {
        case short(JSONText)
        case long(LongText)
    }

    private func members(
        of row: RowView, _ number: ObjectNumber, in reader: RecordReader, _ isWhole: inout Bool
    ) -> [(name: String, value: Member)] {
        let entity = reader.schema.knownEntity(tag: row.entityTag)
        var members: [(name: String, value: Member)] = [
            (name: "$entity", value: .short(.string(entity.name))),
            (name: "$number", value: .short(.integer(number.rawValue))),
        ]
        func append(_ name: String, _ value: () throws(StoreError) -> Member) {
            do throws(StoreError) {
                members.append((name: name, value: try value()))
            } catch {
                let place = "\(entity.name) \(number.rawValue).\(name)"
                Console.warn(
                    StoreError(
                        error.code, "\(place) cannot be read: \(error.message)",
                        page: error.page, byteOffset: error.byteOffset, path: error.path))
                isWhole = false
                members.append((name: name, value: .short(.null)))
            }
        }
        for field in entity.fields where field.type != nil {
            append(field.name) { () throws(StoreError) in
                if let long = try LongText(field, of: row, in: reader) { return .long(long) }
                return .short(ValueText.json(try reader.value(field, of: row)))
            }
        }
        for relationship in entity.relationships {
            append(relationship.name) { () throws(StoreError) in
                if let field = relationship.field {
                    return .short(.optional(row.link(at: field.byteOffset)?.rawValue))
                }
                let targets = try reader.linkedNumbers(relationship, of: number)
                return .short(.array(targets.map { .integer($0.rawValue) }))
            }
        }
        return members
    }

    private func printObject(
        _ members: [(name: String, value: Member)], isFirst: Bool, _ isWhole: inout Bool
    ) {
        if store.json {
            print(isFirst ? "\n{" : ",\n{", terminator: "")
            for (index, member) in members.enumerated() {
                let name = JSONText.string(member.name).text
                print(index == 0 ? "\(name): " : ", \(name): ", terminator: "")
                printValue(member.value, &isWhole)
            }
            print("}", terminator: "")
            return
        }
        if !isFirst { print() }
        let width = members.map(\.name.count).max() ?? 0
        for member in members {
            print(Console.padded(member.name, width), terminator: "")
            printValue(member.value, &isWhole)
            print()
        }
    }

    private func printValue(_ value: Member, _ isWhole: inout Bool) {
        do throws(StoreError) {
            switch value {
            case .short(let json): print(json.text, terminator: "")
            case .long(let long): try long.write { print($0, terminator: "") }
            }
        } catch {
            // It was readable a moment before: another program has changed the file.
            Console.warn(error)
            isWhole = false
        }
    }
}
