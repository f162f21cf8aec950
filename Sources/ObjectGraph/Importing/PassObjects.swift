import RecordStore

/// The objects of one class that sources name, by the values of their unique IDs.
class PassObjects {
    /// The live object of a value that was looked up, or made since.
    func known(_ value: Value) throws(CoreStoreError) -> CoreStoreObject? { nil }
    /// Has another table ask for what this one was asked for; returns the objects there.
    func ask(for value: Value, in table: PassTable) -> PassObjects { self }
    /// Asks again for what was asked for before ``forget()``.
    func askAgain(for value: Value) {}
    func lookUp() throws(CoreStoreError) {}
    func forget() {}
    /// The message for an ID that no object has.
    func absence(of value: Value) -> String { "" }
}

/// What an import says of the storages of its objects.
struct ImportScope: Hashable {
    /// The configuration that it names; nil when it names none.
    var configurations: [ModelConfiguration]?
    private let root: ObjectIdentifier
    private let rootType: CoreStoreObject.Type?

    /// - Parameter root: the class of its sources, in which others may be nested.
    init<O: DynamicObject>(_ into: Into<O>) {
        configurations = into.preferred
        root = ObjectIdentifier(O.self)
        rootType = O.self as? CoreStoreObject.Type
    }

    /// The storages that may take the objects of a class, those of its sources' own if several
    /// may.
    func stores(for type: CoreStoreObject.Type, in stack: DataStack) -> [AttachedStore] {
        let stores = stack.stores(for: type, in: configurations)
        guard stores.count > 1, let rootType else { return stores }
        let around = stack.stores(for: rootType, in: configurations)
        return stores.filter { store in around.contains { $0 === store } }
    }

    /// The configurations whose objects are meant where others have the same IDs.
    func preferred(
        _ type: CoreStoreObject.Type, in stack: DataStack
    ) -> [ModelConfiguration]? {
        guard stack.stores(for: type, in: nil).count > 1 else { return nil }
        return stores(for: type, in: stack).map(\.configuration)
    }

    static func == (left: ImportScope, right: ImportScope) -> Bool {
        left.configurations == right.configurations && left.root == right.root
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(configurations)
        hasher.combine(root)
    }
}

/// The objects of a pass, of all classes.
final class PassTable {
    private unowned let transaction: BaseDataTransaction
    private let scope: ImportScope
    private var classes: [ObjectIdentifier: PassObjects] = [:]
    /// Whether an object has another ID than its source named, so that no ID that was looked up is
    /// known to be an object's any more.
    var isRenamed = false

    init(_ transaction: BaseDataTransaction, _ scope: ImportScope) {
        self.transaction = transaction
        self.scope = scope
    }

    func objects<O: CoreStoreObject & ImportableUniqueObject>(
        of type: O.Type
    ) -> UniqueObjects<O> {
        if let known = classes[ObjectIdentifier(type)] as? UniqueObjects<O> { return known }
        let preferred = scope.preferred(O.self, in: transaction.stack)
        let new = UniqueObjects<O>(transaction, self, preferring: preferred)
        classes[ObjectIdentifier(type)] = new
        return new
    }

    /// Looks up all that was asked for.
    func lookUp() throws(CoreStoreError) {
        for objects in classes.values { try objects.lookUp() }
    }

    /// Releases the objects; what was asked for may be asked for again.
    func forget() {
        for objects in classes.values { objects.forget() }
    }
}

final class UniqueObjects<O: CoreStoreObject & ImportableUniqueObject>: PassObjects {
    private unowned let transaction: BaseDataTransaction
    private unowned let table: PassTable
    private let preferred: [ModelConfiguration]?
    private var renamedIDs = RenamedIDs<O>()
    private var ids: [O.UniqueIDType] = []
    /// Of each ID; nil where there is none, and from `lookedUpCount` on.
    private var objects: [O?] = []
    private var lookedUpCount = 0
    private var places: [Value: Int] = [:]
    /// The IDs that other tables asked for.
    private var kept: [Value: O.UniqueIDType] = [:]
    /// How many objects of the class were created when the IDs were looked up, and for them since.
    private var createdCount = 0

    init(
        _ transaction: BaseDataTransaction, _ table: PassTable,
        preferring preferred: [ModelConfiguration]?
    ) {
        self.transaction = transaction
        self.table = table
        self.preferred = preferred
    }

    private func existing(_ id: O.UniqueIDType) throws(CoreStoreError) -> O? {
        try transaction.existingObject(id, O.self, preferring: preferred)
    }

    func ask(for id: O.UniqueIDType) -> Value {
        // By the values of the store: texts that Swift takes for equal may be two of its keys.
        let value = ValueBridge.value(id)
        ask(for: id, value)
        return value
    }

    private func ask(for id: O.UniqueIDType, _ value: Value) {
        guard places[value] == nil else { return }
        places[value] = ids.count
        ids.append(id)
        objects.append(nil)
    }

    override func ask(for value: Value, in table: PassTable) -> PassObjects {
        let others = table.objects(of: O.self)
        if let place = places[value] { others.kept[value] = ids[place] }
        return others
    }

    override func askAgain(for value: Value) {
        if let id = kept[value] { ask(for: id, value) }
    }

    override func lookUp() throws(CoreStoreError) {
        guard lookedUpCount < ids.count else { return }
        let found = try transaction.existingObjects(
            Array(ids[lookedUpCount...]), O.self, preferring: preferred)
        objects.replaceSubrange(lookedUpCount..., with: found.objects)
        lookedUpCount = ids.count
        createdCount = transaction.context.createdCount(O.self)
    }

    override func known(_ value: Value) throws(CoreStoreError) -> CoreStoreObject? {
        guard let place = places[value] else { return nil }
        return table.isRenamed || isStale(place) ? try existing(ids[place]) : objects[place]
    }

    /// Whether an object was found that the class has deleted since, or given another ID.
    private func isStale(_ place: Int) -> Bool {
        guard let object = objects[place] else { return false }
        return object.change == .deleted || !renamedIDs.hasID(ids[place], object)
    }

    /// The object of an ID that was looked up. The class may have made it since, or deleted it,
    /// while it imported another source.
    func object(_ id: O.UniqueIDType, _ value: Value) throws(CoreStoreError) -> O? {
        if table.isRenamed { return try existing(id) }
        if let place = places[value], let object = objects[place] {
            guard isStale(place) else { return object }
            objects[place] = try existing(id)
            return objects[place]
        }
        guard transaction.context.createdCount(O.self) != createdCount else { return nil }
        let object = try existing(id)
        if let object, let place = places[value] { objects[place] = object }
        return object
    }

    func didCreate(_ object: O, _ value: Value) {
        createdCount += 1
        if let place = places[value] { objects[place] = object }
    }

    /// Looks at the ID of an object after its source was imported.
    func note(_ object: O, _ id: O.UniqueIDType) {
        if !renamedIDs.hasID(id, object) { table.isRenamed = true }
    }

    override func forget() {
        ids.removeAll(keepingCapacity: true)
        objects.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        lookedUpCount = 0
    }

    override func absence(of value: Value) -> String {
        let id = kept[value].map { "\($0)" } ?? ""
        return "no \(O.self) has the \(O.uniqueIDKeyPath) “\(id)”"
    }
}
