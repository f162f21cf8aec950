import RecordStore

/// The values of one object at one time, which never change.
final class SnapshotRow: @unchecked Sendable {
    let id: NSManagedObjectID
    let entity: EntityLayout
    let store: AttachedStore
    private let row: RowBuffer
    /// Values that take more than the row: computed ones and decoded ones.
    let computed: [KeyPathString: Any]
    /// The names of those of them that were decoded from the row, and not assigned since.
    private let decoded: Set<KeyPathString>
    /// By the relationship's number. Those of a relationship without an order are sorted.
    let links: [Int: [ObjectNumber]]

    /// - Parameter row: becomes this one's.
    private init(
        _ id: NSManagedObjectID, _ entity: EntityLayout, _ store: AttachedStore, _ row: RowBuffer,
        _ computed: [KeyPathString: Any], _ decoded: Set<KeyPathString>,
        _ links: [Int: [ObjectNumber]]
    ) {
        self.id = id
        self.entity = entity
        self.store = store
        self.row = row
        self.computed = computed
        self.decoded = decoded
        self.links = links
    }

    deinit { row.deallocate() }

    /// The values of an object as it has them.
    convenience init(_ object: CoreStoreObject, _ raw: RawObject) {
        object.loadRow()
        var computed: [KeyPathString: Any] = [:]
        var decoded: Set<KeyPathString> = []
        for declaration in ClassMeta.of(raw.kind.model.type).declarations
        where !declaration.isPlain {
            computed[declaration.keyPath] = declaration.anyValue(of: object)
            if !declaration.isComputed { decoded.insert(declaration.keyPath) }
        }
        var links: [Int: [ObjectNumber]] = [:]
        for relationship in raw.entity.relationships {
            do throws(StoreError) {
                links[relationship.id] = Self.inOrder(
                    try raw.context.linkedNumbers(of: object, raw, relationship), relationship)
            } catch {
                raw.context.failReading(error, "the links of an object could not be read.")
            }
        }
        self.init(
            raw.id, raw.entity, raw.store, RowBuffer(copying: object.row.buffer.view), computed,
            decoded, links)
    }

    private static func inOrder(
        _ numbers: [ObjectNumber], _ relationship: RelationshipLayout
    ) -> [ObjectNumber] {
        relationship.kind == .toManyUnordered
            ? numbers.sorted { $0.rawValue < $1.rawValue } : numbers
    }

    // MARK: Reading

    /// Nil for a property that is not in the row.
    func load<V: FieldStorableType>(_ name: KeyPathString, as type: V.Type) -> V? {
        guard let field = entity.field(named: name) else { return nil }
        return V.cs_known(FieldRow(row), field.byteOffset)
            ?? store.classes[entity.tag].flatMap { ClassMeta.of($0.type).unknownValue(name) }
            ?? V.cs_load(FieldRow(row), field.byteOffset)
    }

    /// A stored value as its property has it, without an optional around it; nil for one that the
    /// type of an optional does not know.
    func declared(_ value: Value, _ name: KeyPathString) -> Any? {
        guard let model = store.classes[entity.tag],
            let type = ClassMeta.of(model.type).declaration(name)?.storedType
        else { return ValueBridge.native(value) }
        return load(name, as: type).flatMap(FieldDeclaration.unwrapped)
    }

    private var attributes: [FieldLayout] {
        entity.fields.filter { if case .attribute = $0.content { true } else { false } }
    }

    /// The stored values by name, without those that are nil, those that are computed and links.
    var storedValues: [KeyPathString: Value] {
        var values: [KeyPathString: Value] = [:]
        for field in attributes where computed[field.name] == nil {
            let value = row.view.value(field)
            if !value.isNull { values[field.name] = value }
        }
        return values
    }

    func ids(_ relationship: RelationshipLayout) -> [NSManagedObjectID] {
        let target = store.database.schema.knownEntity(tag: relationship.destinationTag)
        let storeEntity = store.storeEntity(for: target)
        return (links[relationship.id] ?? []).map { NSManagedObjectID($0, in: storeEntity) }
    }

    // MARK: Changing a copy

    func setting<V: FieldStorableType>(_ value: V, _ name: KeyPathString) -> SnapshotRow {
        guard let field = entity.field(named: name) else {
            Log.abort("\(entity.name) has no attribute “\(name)”")
        }
        var copy = FieldRow(RowBuffer(copying: row.view, spare: 32))
        value.cs_store(&copy, field.byteOffset)
        return SnapshotRow(id, entity, store, copy.buffer, computed, decoded, links)
    }

    func setting(computed value: Any, _ name: KeyPathString) -> SnapshotRow {
        var computed = computed
        computed[name] = value
        return SnapshotRow(
            id, entity, store, RowBuffer(copying: row.view), computed,
            decoded.subtracting([name]), links)
    }

    func setting(_ ids: [NSManagedObjectID], _ name: KeyPathString) -> SnapshotRow {
        guard let relationship = entity.relationship(named: name) else {
            Log.abort("\(entity.name) has no relationship “\(name)”")
        }
        var links = links
        links[relationship.id] = Self.inOrder(ids.map(\.number), relationship)
        return SnapshotRow(
            id, entity, store, RowBuffer(copying: row.view), computed, decoded, links)
    }

    // MARK: Comparing

    func isEqual(to other: SnapshotRow) -> Bool {
        if self === other { return true }
        guard id == other.id, entity === other.entity, links == other.links else { return false }
        let fromRow = decoded.intersection(other.decoded)
        let isSameRow =
            row.view.bytes.compare(other.row.view.bytes) == 0 || storedValues == other.storedValues
        return isSameRow && computed.count == other.computed.count
            && computed.allSatisfy { name, value in
                let isDecoded = fromRow.contains(name)
                // One value may have several encodings.
                if isDecoded, stored(name) == other.stored(name) { return true }
                guard let left = value as? AnyHashable,
                    let right = other.computed[name] as? AnyHashable
                else {
                    return !isDecoded && String(describing: value) == describe(other.computed[name])
                }
                return left == right
            }
    }

    private func stored(_ name: KeyPathString) -> Value? {
        entity.field(named: name).map { row.view.value($0) }
    }

    private func describe(_ value: Any?) -> String? { value.map { String(describing: $0) } }
}
