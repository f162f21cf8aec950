import RecordStore

/// Where the values of one kind of property are: in a column, in a column of encoded bytes, or
/// with the object alone.
protocol FieldStorage<FieldValue> {
    associatedtype FieldValue
    /// Whether wrappers may read and write the column without asking this.
    var isPlain: Bool { get }
    /// The value as it is kept; nil when there is none.
    func primitive(_ field: FieldDeclaration, of object: CoreStoreObject) -> FieldValue?
    /// The value of the property where its type does not know the stored one; nil where the type
    /// knows every value. The first read logs it.
    func unknownValue(_ field: FieldDeclaration) -> FieldValue?
    /// The value that a property without a getter has.
    func load(_ field: FieldDeclaration, of object: CoreStoreObject) -> FieldValue
    func store(_ value: FieldValue?, _ field: FieldDeclaration, of object: CoreStoreObject)
}

extension FieldStorage {
    func unknownValue(_ field: FieldDeclaration) -> FieldValue? { nil }
}

/// The declaration of a property that has a value: a stored, a coded or a virtual one.
final class ValueField<V>: FieldDeclaration, @unchecked Sendable {
    /// The program's own way of reading and writing. Neither names the class that declares the
    /// property: a proxy of a class below has to find them too.
    struct Accessors {
        var getter: ((CoreStoreObject, ValueField<V>) -> V)?
        var setter: ((CoreStoreObject, ValueField<V>, V) -> Void)?
    }

    private let storage: any FieldStorage<V>
    private let accessors: Accessors

    init(
        _ terms: FieldTerms, _ kind: FieldKind, _ storage: any FieldStorage<V>,
        _ accessors: Accessors
    ) {
        self.storage = storage
        self.accessors = accessors
        super.init(terms, kind)
    }

    override var isPlain: Bool {
        accessors.getter == nil && accessors.setter == nil && storage.isPlain
    }

    override func anyValue(of object: CoreStoreObject) -> Any? { value(of: object) }

    override func sectionValue(of object: CoreStoreObject) -> Any? {
        let value = value(of: object)
        guard case .stored = kind, let value = value as? any FieldStorableType else { return value }
        return ValueBridge.native(ValueBridge.value(value))
    }

    override var storedType: (any FieldStorableType.Type)? {
        if case .stored = kind { V.self as? any FieldStorableType.Type } else { nil }
    }

    override var isTransient: Bool {
        if case .stored = kind { return accessors.getter != nil }
        return true
    }

    override var isComputed: Bool {
        if case .virtual = kind { return true }
        return accessors.getter != nil
    }

    // MARK: Values

    func value(of object: CoreStoreObject) -> V {
        accessors.getter?(object, self) ?? storage.load(self, of: object)
    }

    func setValue(_ value: V, of object: CoreStoreObject) {
        guard object.raw != nil else {
            Log.assert(
                false, "“\(keyPath)” was assigned to an object that only answers key paths")
            return
        }
        if let setter = accessors.setter {
            setter(object, self, value)
        } else {
            if case .virtual = kind { object.assertIsEditable() }
            store(value, of: object)
        }
    }

    /// Columns tell of writes by themselves.
    private func store(_ value: V?, of object: CoreStoreObject) {
        guard object.isObserved, case .virtual = kind, let context = object.raw?.context else {
            return storage.store(value, self, of: object)
        }
        context.tell(.before, of: object, keyPath)
        storage.store(value, self, of: object)
        context.tell(.after, of: object, keyPath)
    }

    func unknownValue() -> V? { storage.unknownValue(self) }

    func primitive(of object: CoreStoreObject) -> V? {
        if isTransient, let own = object.transients?[object, keptIndex] as? TransientValue<V> {
            return own.value
        }
        return storage.primitive(self, of: object)
    }

    /// The value that a property without a getter would have.
    func valueWithoutGetter(of object: CoreStoreObject) -> V {
        primitive(of: object) ?? storage.load(self, of: object)
    }

    func setPrimitive(_ value: V?, of object: CoreStoreObject) {
        guard object.raw != nil else {
            Log.assert(
                false, "“\(keyPath)” was assigned to an object that only answers key paths")
            return
        }
        store(value, of: object)
    }

    /// Keeps what a getter computed. Where nothing may be changed, the object alone has it, until
    /// it reads its row again.
    func cache(_ value: V?, of object: CoreStoreObject) {
        if object.isEditable {
            // It is no change that is told: an observer would ask the getter once more.
            if case .virtual = kind { return storage.store(value, self, of: object) }
            setPrimitive(value, of: object)
        } else {
            object.transients?[object, keptIndex] = value.map { TransientValue($0) }
        }
    }
}

/// A property by the type of the object that a program has.
extension FieldContainer {
    /// A `customGetter`. It reads the object's other properties by the first argument, and the
    /// value that the property itself keeps by the second.
    public typealias Getter<V> = (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>) -> V
    /// A `customSetter`. Its last argument is the value that is assigned.
    public typealias Setter<V> = (ObjectProxy<O>, ObjectProxy<O>.FieldProxy<V>, V) -> Void

    @usableFromInline
    static func value<V>(_ slot: UInt16, of object: O) -> V {
        FieldRegistry.field(slot, of: V.self).value(of: object)
    }

    @usableFromInline
    static func setValue<V>(_ value: V, _ slot: UInt16, of object: O) {
        FieldRegistry.field(slot, of: V.self).setValue(value, of: object)
    }

    /// Registers a property that has a value; returns its slot.
    static func register<V>(
        _ terms: FieldTerms, _ kind: FieldKind, _ storage: any FieldStorage<V>,
        _ getter: Getter<V>?, _ setter: Setter<V>?
    ) -> UInt16 {
        var accessors = ValueField<V>.Accessors()
        if let getter {
            accessors.getter = { object, field in
                let object = own(object, field)
                return getter(
                    ObjectProxy(object, isReading: true),
                    .init(object: object, field: field, isReading: true))
            }
        }
        if let setter {
            accessors.setter = { object, field, value in
                let object = own(object, field)
                setter(ObjectProxy(object), .init(object: object, field: field), value)
            }
        }
        return FieldRegistry.register(ValueField(terms, kind, storage, accessors))
    }

    private static func own(_ object: CoreStoreObject, _ field: FieldDeclaration) -> O {
        guard let object = object as? O else {
            Log.abort("\(type(of: object)) does not inherit “\(field.keyPath)” of \(O.self)")
        }
        return object
    }
}
