import RecordStore

/// An object as a custom getter or setter sees it: `object.$name.value`.
@dynamicMemberLookup
public struct ObjectProxy<O: CoreStoreObject> {
    private let object: O

    init(_ object: O) { self.object = object }

    /// Another property of the object.
    public subscript<B: CoreStoreObject, V>(
        dynamicMember member: KeyPath<O, FieldContainer<B>.Stored<V>>
    ) -> FieldProxy<V> {
        let slot = ClassMeta.object(O.self)[keyPath: member].slot
        return FieldProxy(object: object, declaration: FieldRegistry.declaration(slot))
    }

    /// One property of an object.
    public struct FieldProxy<V> {
        private let object: O
        private let declaration: FieldDeclaration

        init(object: O, declaration: FieldDeclaration) {
            self.object = object
            self.declaration = declaration
        }
    }
}

extension ObjectProxy.FieldProxy where V: FieldStorableType {
    /// What is stored, without any custom getter or setter; nil when nothing is.
    public var primitiveValue: V? {
        get {
            guard let field = object.storedField(declaration.keyPath) else { return nil }
            object.loadRow()
            if !V.cs_isOptional && object.row.isNull(field.byteOffset) { return nil }
            return V.cs_load(object.row, field.byteOffset)
        }
        nonmutating set {
            guard let field = object.storedField(declaration.keyPath) else { return }
            object.willWrite(UInt16(field.byteOffset))
            if let newValue {
                object.store(newValue, in: field)
            } else {
                object.row.clear(field.byteOffset)
            }
        }
    }

    /// The property as everyone else sees it, custom getter and setter included.
    public var value: V {
        get {
            declaration.getter(of: V.self)?(object, declaration) ?? load()
        }
        nonmutating set {
            if let setter = declaration.setter(of: V.self) {
                setter(object, declaration, newValue)
            } else {
                store(newValue)
            }
        }
    }

    func load() -> V {
        guard let field = object.storedField(declaration.keyPath) else {
            // A meta object, or a class without its own entity: the default of the declaration.
            var row = RowBuffer.scratch()
            defer { row.deallocate() }
            row.setValue(declaration.defaultValue, RowBuffer.scratchField)
            return V.cs_load(FieldRow(row), RowBuffer.scratchField.byteOffset)
        }
        object.loadRow()
        return V.cs_load(object.row, field.byteOffset)
    }

    func store(_ value: V) { primitiveValue = value }
}
