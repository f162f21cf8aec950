import RecordStore

/// One source of a batch.
class ImportEntry {
    /// The targets that the source has for one relationship of its object.
    struct Links {
        var slot: (CoreStoreObject) -> UInt16?
        var isToOne: Bool
        var targets: [ImportBatch.Target]
    }

    /// The entry that the source is nested in.
    final let owner: Int?
    /// The object of the source; also one that its class does not want to be changed.
    fileprivate(set) final var object: CoreStoreObject?
    fileprivate(set) final var isImported = false
    final var links: [Links] = []
    /// Why the targets of the source cannot be told; it ends the import unless the class declines
    /// the source.
    final var failure: (any Error)?

    init(_ owner: Int?) { self.owner = owner }

    func run(in transaction: BaseDataTransaction) throws {
        preconditionFailure("a kind of entry says how it is imported")
    }
}

/// The source of a new object, or of one that is filled.
final class PlainEntry<O: CoreStoreObject & ImportableObject>: ImportEntry {
    private let source: O.ImportSource
    private let into: Into<O>

    init(_ owner: Int?, _ source: O.ImportSource, _ into: Into<O>, _ object: O?) {
        self.source = source
        self.into = into
        super.init(owner)
        self.object = object
    }

    override func run(in transaction: BaseDataTransaction) throws {
        guard O.shouldInsert(from: source, in: transaction) else { return }
        let object = object as? O ?? transaction.create(into)
        self.object = object
        try object.didInsert(from: source, in: transaction)
        isImported = true
    }
}

/// The source of the object of a unique ID.
final class UniqueEntry<O: CoreStoreObject & ImportableUniqueObject>: ImportEntry {
    private let source: O.ImportSource
    private let id: O.UniqueIDType
    private let value: Value
    private let into: Into<O>
    private let objects: UniqueObjects<O>

    init(
        _ owner: Int?, _ source: O.ImportSource, _ id: O.UniqueIDType, _ value: Value,
        _ into: Into<O>, _ objects: UniqueObjects<O>
    ) {
        self.source = source
        self.id = id
        self.value = value
        self.into = into
        self.objects = objects
        super.init(owner)
    }

    override func run(in transaction: BaseDataTransaction) throws {
        let existing = try objects.object(id, value)
        let imported = try transaction.importSource(source, id: id, into: into, existing: existing)
        if existing == nil, let imported { objects.didCreate(imported, value) }
        if let imported { objects.note(imported, id) }
        object = imported ?? existing
        isImported = imported != nil
    }
}
