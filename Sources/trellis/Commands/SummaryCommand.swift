import ArgumentParser
import PageStore
import RecordStore

/// `trellis info`: what the file is, from its superblocks, its log and its catalog.
struct SummaryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Shows what the file is and how much it holds.")

    @OptionGroup var store: StoreOptions

    func run() throws {
        let isWhole: Bool
        do throws(StoreError) {
            isWhole = try reportOpened()
        } catch {
            try reportUnopened(error)
            return
        }
        if !isWhole { throw ExitCode(1) }
    }

    private func reportOpened() throws(StoreError) -> Bool {
        let engine = try store.openEngine()
        defer { try? engine.close() }
        var damage = engine.damage
        report(try members(of: engine, &damage), damage)
        return damage.isEmpty
    }

    /// Adds what cannot be read to the damage.
    private func members(
        of engine: Engine, _ damage: inout [StoreError]
    ) throws(StoreError) -> [(name: String, value: JSONText)] {
        let superblock = engine.superblock
        let statistics = engine.statistics
        let snapshot = try engine.snapshot()
        var members = SummaryCommand.members(superblock)
        members += [
            (name: "fileSizeInBytes", value: .integer(statistics.fileSizeInBytes)),
            (name: "logBytes", value: .integer(statistics.logBytes)),
            (name: "commitNumber", value: .integer(snapshot.commitNumber)),
        ]
        members += contents(of: snapshot, in: engine, &damage)
        return members
    }

    /// The model and the counts, as far as the catalog can be read.
    private func contents(
        of snapshot: Snapshot, in engine: Engine, _ damage: inout [StoreError]
    ) -> [(name: String, value: JSONText)] {
        var members: [(name: String, value: JSONText)] = []
        do throws(StoreError) {
            members.append((name: "pages", value: .integer(try snapshot.pagePlaces().count)))
            guard let catalog = try CatalogView(snapshot) else { return members }
            if let schema = try catalog.schema() {
                members.append((name: "modelVersion", value: .string(schema.modelVersion)))
            }
            members.append((name: "trees", value: .integer(try catalog.trees().count)))
            let database = try RecordDatabase.openReadOnly(engine)
            let records = try database.snapshot()
            var counts: [(name: String, value: JSONText)] = []
            for entity in database.schema.entities where !entity.isAbstract {
                let count = try records.recordCount(of: entity, includesSubentities: false)
                counts.append((name: entity.name, value: .integer(count)))
            }
            members.append((name: "objects", value: .object(counts)))
        } catch {
            Console.warn(error)
            damage.append(error)
        }
        return members
    }

    static func members(_ superblock: Superblock) -> [(name: String, value: JSONText)] {
        let uuid = ByteText.hex(
            [superblock.uuid.low, superblock.uuid.high].flatMap { half in
                (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(8 * $0)) }
            })
        return [
            (name: "formatVersion", value: .integer(SuperblockLayout.formatVersionValue)),
            (name: "uuid", value: .string(uuid)),
            (name: "pageSizeInBytes", value: .integer(superblock.pageSizeInBytes)),
            (name: "unitSizeInBytes", value: .integer(superblock.unitSizeInBytes)),
            (name: "generation", value: .integer(superblock.generation)),
            (name: "checkpointCommit", value: .integer(superblock.commitNumber)),
            (
                name: "checkpointTime",
                value: .string(ValueText.date(nanosecondsSince1970: superblock.commitTime))
            ),
            (name: "requiredLength", value: .integer(superblock.requiredLength)),
        ]
    }

    private func report(
        _ members: [(name: String, value: JSONText)], _ damage: [StoreError]
    ) {
        if store.json {
            let list = (name: "damage", value: JSONText.array(damage.map(Console.json)))
            Console.print(.object([(name: "file", value: .string(store.file))] + members + [list]))
            return
        }
        var lines: [(name: String, value: String)] = [(name: "file", value: store.file)]
        for member in members {
            switch member.value {
            case .object(let counts):
                lines += counts.map { (name: "\(member.name) \($0.name)", value: $0.value.text) }
            case .string(let text): lines.append((name: member.name, value: text))
            default: lines.append((name: member.name, value: member.value.text))
            }
        }
        Console.print(lines)
        for error in damage { print("damaged: \(error)") }
    }

    /// Reports that neither superblock opens the store, or that another process has it, with the
    /// content of each copy of the superblock.
    private func reportUnopened(_ error: StoreError) throws {
        guard [.corrupt, .truncated, .newerFormat].contains(error.code),
            let found = try? SuperblockCopy.read(path: store.file)
        else { throw Console.failure(error) }
        var copies: [JSONText] = []
        for copy in found.copies {
            switch copy.outcome {
            case .success(let superblock):
                copies.append(.object(SummaryCommand.members(superblock)))
            case .failure(let failure): copies.append(Console.json(failure))
            }
        }
        if store.json {
            Console.print(
                .object([
                    (name: "file", value: .string(store.file)),
                    (name: "fileSizeInBytes", value: .integer(found.fileSizeInBytes)),
                    (name: "superblocks", value: .array(copies)),
                    (name: "damage", value: .array([Console.json(error)])),
                ]))
        } else {
            print("file size: \(found.fileSizeInBytes)")
            for (copy, text) in zip(found.copies, copies) {
                print("superblock at byte \(copy.byteOffset): \(text.text)")
            }
        }
        throw Console.failure(error)
    }
}
