import PageStore

/// Byte offsets within the state of a migration: spec/07-catalog.md, 7.6.
package enum MigrationStateLayout {
    package static let form = 0
    package static let phase = 2
    package static let passCount = 4
    package static let commitNumber = 8
    package static let plan = 16
    package static let program = 24
    package static let doneCount = 32
    package static let positionSize = 40
    package static let position = 48
}

/// The state of an unfinished migration, as the catalog stores it: spec/07-catalog.md, 7.6.
struct MigrationState {
    enum Phase: UInt16 {
        /// The later model is being written beside the earlier one, which is still the file's.
        case copying = 1
        /// The trees below `old/` are being dropped.
        case dropping = 2
    }

    static let form = 1
    private typealias Layout = MigrationStateLayout

    var phase: Phase
    /// How many passes are complete.
    var passCount = 0
    /// The last key that the next pass has processed; empty at its beginning.
    var position: [UInt8] = []
    /// The commit that wrote this state. After any other commit the copy is useless.
    var commitNumber: UInt64 = 0
    /// Identifies the plan: see ``PlanFingerprint``.
    var plan: UInt64 = 0
    /// Identifies the program whose closures have made values; zero if none have.
    var program: UInt64 = 0
    /// The records of the current step that are processed.
    var doneCount = 0

    init(_ phase: Phase) { self.phase = phase }

    init(_ bytes: [UInt8], page: PageID) throws(StoreError) {
        func damage(_ message: String) -> StoreError {
            .corrupt(page, "the catalog's entry \(Catalog.migrationKey) \(message)")
        }
        guard bytes.count >= 2 else { throw damage("is too short") }
        let form = bytes.withView { $0.uint16(at: Layout.form) }
        guard form == Self.form else {
            throw StoreError(
                .newerFormat,
                "the state of a migration has version \(form); this program knows \(Self.form)",
                page: page.rawValue)
        }
        guard bytes.count >= Layout.position else { throw damage("is too short") }
        let numbers = bytes.withView { bytes in
            (
                phase: bytes.uint16(at: Layout.phase),
                passes: bytes.uint32(at: Layout.passCount),
                commit: bytes.uint64(at: Layout.commitNumber),
                plan: bytes.uint64(at: Layout.plan), program: bytes.uint64(at: Layout.program),
                done: bytes.uint64(at: Layout.doneCount),
                positionSize: bytes.uint64(at: Layout.positionSize)
            )
        }
        guard let phase = Phase(rawValue: numbers.phase) else {
            throw damage("has phase \(numbers.phase)")
        }
        guard numbers.positionSize == UInt64(bytes.count - Layout.position) else {
            throw damage("has another size than it states")
        }
        self.phase = phase
        passCount = Int(numbers.passes)
        position = Array(bytes[Layout.position...])
        commitNumber = numbers.commit
        (plan, program) = (numbers.plan, numbers.program)
        // Only progress reports use it, so an implausible count is clamped.
        doneCount = Int(min(numbers.done, 1 << 40))
    }

    var bytes: [UInt8] {
        let buffer = ByteBuffer(capacity: Layout.position + position.count)
        buffer.appendUInt16(UInt16(Self.form))
        buffer.appendUInt16(phase.rawValue)
        buffer.appendUInt32(UInt32(clamping: passCount))
        buffer.appendUInt64(commitNumber)
        buffer.appendUInt64(plan)
        buffer.appendUInt64(program)
        buffer.appendUInt64(UInt64(clamping: doneCount))
        buffer.appendUInt64(UInt64(position.count))
        position.withView { buffer.append($0) }
        return buffer.view.array()
    }
}

extension Catalog {
    static let migrationKey = "migration"

    /// The state of an unfinished migration; nil if there is none.
    func migration(_ view: PageView) throws(StoreError) -> MigrationState? {
        guard let bytes = try entry(Self.migrationKey, of: view) else { return nil }
        return try MigrationState(bytes, page: root.root)
    }

    func setMigration(
        _ state: MigrationState?, in editor: PageEditor
    ) throws(StoreError) {
        try setEntry(Self.migrationKey, state?.bytes, in: editor)
    }
}
