import RecordStore

/// Some sources of a pass with all that is nested in them, in the order in which they are imported:
/// each source, then those in it.
///
/// Sources are added first, so that the objects of all unique IDs are looked up together; then
/// ``run()`` does what importing one source after the other would do.
final class ImportBatch {
    /// The target of a link.
    enum Target {
        /// The object of an entry of the same batch.
        case nested(Int)
        case reference(PassObjects, Value)
    }

    /// A source nested deeper than this is taken for one that contains itself.
    static let depthMax = 256

    let objects: PassTable
    private let pass: ImportPass
    private let scope: ImportScope
    private var nested: [ObjectIdentifier: Any] = [:]
    private var entries: [ImportEntry] = []
    /// The entries around the one that is being added.
    private var owners: [Int] = []
    private var isTooDeep = false

    /// - Parameter into: where new objects go, nested ones too.
    init<O: DynamicObject>(_ pass: ImportPass, _ into: Into<O>) {
        self.pass = pass
        scope = ImportScope(into)
        objects = PassTable(pass.transaction, scope)
    }

    var count: Int { entries.count }

    /// The object of an entry; nil for one that its class skipped.
    func imported(_ entry: Int) -> CoreStoreObject? {
        entries[entry].isImported ? entries[entry].object : nil
    }

    /// Where the objects of nested sources go: to the storage of the sources around them.
    func into<O: CoreStoreObject>(_ type: O.Type) throws(CoreStoreError) -> Into<O> {
        let name = ObjectIdentifier(type)
        if let known = nested[name] as? Into<O> { return known }
        let into = try pass.into(type, in: scope)
        nested[name] = into
        return into
    }

    // MARK: Adding

    /// Adds the source of a new object, or of one that is there; returns the number of its entry.
    func add<O: CoreStoreObject & ImportableObject>(
        _ source: O.ImportSource, _ into: Into<O>, object: O? = nil
    ) throws -> Int {
        try append(
            PlainEntry(owners.last, source, into, object), source, pass.relationships(of: O.self))
    }

    /// Adds the source of an object with a unique ID; nil when the source names none.
    func addUnique<O: CoreStoreObject & ImportableUniqueObject>(
        _ source: O.ImportSource, _ into: Into<O>
    ) throws -> Int? {
        guard let id = try O.uniqueID(from: source, in: pass.transaction) else { return nil }
        return try addUnique(source, id: id, into)
    }

    func addUnique<O: CoreStoreObject & ImportableUniqueObject>(
        _ source: O.ImportSource, id: O.UniqueIDType, _ into: Into<O>
    ) throws -> Int {
        let objects = objects.objects(of: O.self)
        let entry = UniqueEntry(owners.last, source, id, objects.ask(for: id), into, objects)
        return try append(entry, source, pass.relationships(of: O.self))
    }

    private func append<Source>(
        _ entry: ImportEntry, _ source: Source, _ relationships: [ImportableRelationship<Source>]
    ) throws -> Int {
        let number = entries.count
        entries.append(entry)
        guard !relationships.isEmpty else { return number }
        guard owners.count < Self.depthMax else {
            isTooDeep = true
            throw CoreStoreError.failure(
                .coding, "sources are nested deeper than \(Self.depthMax) levels")
        }
        owners.append(number)
        defer { owners.removeLast() }
        do {
            for relationship in relationships {
                guard let targets = try relationship.targets(source, self) else { continue }
                entry.links.append(
                    ImportEntry.Links(
                        slot: relationship.slot, isToOne: relationship.isToOne, targets: targets))
            }
        } catch {
            // What is nested without an end is not entered again beside the place that was met.
            if isTooDeep { throw error }
            entry.failure = error
        }
        return number
    }

    // MARK: Importing

    /// Imports what was added, and sets the links whose targets are known.
    func run() throws {
        try objects.lookUp()
        for entry in entries {
            // Sources inside a skipped source are skipped too.
            if let owner = entry.owner, !entries[owner].isImported { continue }
            try entry.run(in: pass.transaction)
            if entry.isImported, let failure = entry.failure { throw failure }
        }
        for entry in entries where entry.isImported {
            guard let owner = entry.object, owner.change != .deleted else { continue }
            for links in entry.links { try set(links, of: owner) }
        }
    }

    private func set(_ links: ImportEntry.Links, of owner: CoreStoreObject) throws {
        guard let slot = links.slot(owner) else { return }
        var targets: [PassLink.Target] = []
        targets.reserveCapacity(links.targets.count)
        for target in links.targets {
            switch target {
            case .nested(let entry):
                guard let object = entries[entry].object, object.change != .deleted else {
                    continue
                }
                targets.append(.object(object))
            case .reference(let objects, let value):
                let object = try objects.known(value)
                targets.append(object.map { .object($0) } ?? .reference(objects, value))
            }
        }
        try pass.set(
            PassLink(owner: owner, slot: slot, isToOne: links.isToOne, targets: targets),
            in: scope)
    }
}
