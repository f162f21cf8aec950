import ArgumentParser
import PageStore
import RecordStore

/// `trellis salvage`: writes the remains of a damaged store into a new one.
struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Writes what is left of a damaged store into a new one.",
        discussion: """
            Needs neither superblock, map nor catalog: pages are found by their own headers. \
            Objects keep their numbers; indexes are made anew. What is lost is listed by tree and \
            key, and exit code 1 says that something is. Writes nothing into the damaged file.
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: "The new store.")
    var to: String

    @Option(help: "A store with the same schema, such as a backup, for when the file's is lost.")
    var schemaOf: String?

    func run() throws {
        let report: SalvageReport
        do throws(StoreError) {
            report = try Salvage.run(path: store.file, to: to, lent: lentSchema())
        } catch {
            throw Console.failure(error.at(path: store.file))
        }
        if store.json { Console.print(json(report)) } else { show(report) }
        if !report.losses.isEmpty { throw ExitCode(1) }
    }

    private func lentSchema() throws(StoreError) -> Schema? {
        guard let schemaOf else { return nil }
        let database = try RecordDatabase.openReadOnly(path: schemaOf)
        defer { try? database.close() }
        return database.schema
    }

    private func show(_ report: SalvageReport) {
        var lines: [(name: String, value: String)] = [
            (name: "extents", value: "\(report.extentCount)"),
            (name: "pages", value: "\(report.pageCount)"),
            (name: "newest commit", value: "\(report.commitNumber)"),
        ]
        if report.unreadableBytes > 0 {
            lines.append((name: "unreadable bytes", value: "\(report.unreadableBytes)"))
        }
        lines += report.objects.map { (name: $0.entity, value: "\($0.count) objects") }
        lines += report.links.map { (name: $0.relationship, value: "\($0.count) links") }
        Console.print(lines)
        if !report.isVerified {
            print("No checksum could be compared: the file's UUID is lost.")
        }
        if !report.isComplete {
            print("Map or log are damaged: objects that were deleted may be there again.")
        }
        for loss in report.losses { print("lost: \(loss.tree): \(loss.what)") }
        if report.hasMoreLosses { print("lost: more than is listed") }
        if report.losses.isEmpty { print("nothing is lost") }
    }

    private func json(_ report: SalvageReport) -> JSONText {
        func counts(_ pairs: [(String, Int)]) -> JSONText {
            .object(pairs.map { (name: $0.0, value: .integer($0.1)) })
        }
        let losses = report.losses.map { loss in
            JSONText.object([
                (name: "tree", value: .string(loss.tree)),
                (name: "what", value: .string(loss.what)),
                (name: "first", value: .optional(loss.numbers?.lowerBound)),
                (name: "last", value: .optional(loss.numbers?.upperBound)),
            ])
        }
        return .object([
            (name: "extents", value: .integer(report.extentCount)),
            (name: "pages", value: .integer(report.pageCount)),
            (name: "commitNumber", value: .integer(report.commitNumber)),
            (name: "unreadableBytes", value: .integer(report.unreadableBytes)),
            (name: "isVerified", value: .bool(report.isVerified)),
            (name: "isComplete", value: .bool(report.isComplete)),
            (name: "objects", value: counts(report.objects.map { ($0.entity, $0.count) })),
            (name: "links", value: counts(report.links.map { ($0.relationship, $0.count) })),
            (name: "lost", value: .array(losses)),
            (name: "hasMoreLosses", value: .bool(report.hasMoreLosses)),
        ])
    }
}
