/// The values of one object at one moment: no later commit changes them, and any thread may read
/// them.
///
/// Properties are read with their dollar: `snapshot.$name`. Assigning changes this copy only.
@dynamicMemberLookup
public struct ObjectSnapshot<O: DynamicObject>: Hashable, Sendable, ObjectRepresentation {
    public typealias ObjectType = O

    private var row: SnapshotRow
    private let link: WeakLink<DataStack>

    /// Nil for an object that was deleted.
    init?(_ object: O) {
        guard let object = object as? CoreStoreObject, let raw = object.raw,
            object.change != .deleted, let stack = raw.context.stack
        else { return nil }
        row = SnapshotRow(object, raw)
        link = stack.link
    }

    /// The object's identity.
    public func objectID() -> O.ObjectID { row.id }
    /// The stack; nil when it has ended.
    public func cs_dataStack() -> DataStack? { link.object }

    /// All values by name, without those that are nil, each of its property's type. A relationship
    /// has the IDs of the objects that it leads to: one ID, an array or a set.
    public func dictionaryForValues() -> [String: Any] {
        var values = row.computed.compactMapValues(FieldDeclaration.unwrapped)
        for (name, value) in row.storedValues {
            values[name] = row.declared(value, name)
        }
        for relationship in row.entity.relationships {
            let ids = row.ids(relationship)
            switch relationship.kind {
            case .toOne: values[relationship.name] = ids.first
            case .toManyOrdered: values[relationship.name] = ids
            case .toManyUnordered: values[relationship.name] = Set(ids)
            }
        }
        return values
    }

    /// Whether both are of the same object and have equal values.
    public static func == (left: ObjectSnapshot, right: ObjectSnapshot) -> Bool {
        left.row.isEqual(to: right.row)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(row.id)
        hasher.combine(row.storedValues)
    }
}

extension ObjectSnapshot where O: CoreStoreObject {
    private func computed<V>(_ name: KeyPathString, as type: V.Type) -> V? {
        guard let value = row.computed[name] else { return nil }
        return value as? V
    }

    /// A stored property.
    public subscript<B: CoreStoreObject, V>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Stored<V>>
    ) -> V {
        get {
            let name = Where<O>.name(member)
            guard let value = computed(name, as: V.self) ?? row.load(name, as: V.self) else {
                Log.abort("\(row.entity.name) has no attribute “\(name)”")
            }
            return value
        }
        set {
            let name = Where<O>.name(member)
            row =
                row.computed[name] == nil
                ? row.setting(newValue, name) : row.setting(computed: newValue, name)
        }
    }

    /// A computed property, as it was when the snapshot was made.
    public subscript<B: CoreStoreObject, V>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Virtual<V>>
    ) -> V {
        get { known(Where<O>.name(member)) }
        set { row = row.setting(computed: newValue, Where<O>.name(member)) }
    }

    /// A coded property.
    public subscript<B: CoreStoreObject, V>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Coded<V>>
    ) -> V {
        get { known(Where<O>.name(member)) }
        set { row = row.setting(computed: newValue, Where<O>.name(member)) }
    }

    /// The value of a property that is not read from the row.
    func known<V>(_ name: KeyPathString) -> V {
        guard let value = computed(name, as: V.self) else {
            Log.abort("\(row.entity.name) has no property “\(name)” of the type \(V.self)")
        }
        return value
    }

    /// The publishers of the objects that a relationship led to. Use it where the stack's view
    /// lives.
    public subscript<B: CoreStoreObject, V: FieldRelationshipType>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Relationship<V>>
    ) -> V.PublishedType {
        get { publishers(Where<O>.name(member), of: V.self) }
        set { setPublishers(newValue, Where<O>.name(member), of: V.self) }
    }

    func publishers<V: FieldRelationshipType>(
        _ name: KeyPathString, of type: V.Type
    ) -> V.PublishedType {
        guard let relationship = row.entity.relationship(named: name), let stack = link.object
        else { return V.cs_published([]) }
        return V.cs_published(row.ids(relationship).map { stack.publishObject($0) })
    }

    mutating func setPublishers<V: FieldRelationshipType>(
        _ publishers: V.PublishedType, _ name: KeyPathString, of type: V.Type
    ) {
        row = row.setting(V.cs_publishers(publishers).map { $0.objectID() }, name)
    }

    mutating func setComputed<V>(_ value: V, _ name: KeyPathString) {
        row = row.setting(computed: value, name)
    }
}
