import RecordStore

// The throwing forms of getters: `try person.load(\.$docs)` for `person.docs`.
extension DynamicObject where Self: CoreStoreObject {
    /// The value of a stored property. Where it cannot be read, this throws; the getter returns a
    /// default instead, and the stack reports a ``StorageFault``.
    ///
    /// It costs a little more than the getter.
    ///
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``.
    public func load<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<Self, FieldContainer<B>.Stored<V>>
    ) throws(CoreStoreError) -> V {
        let slot = self[keyPath: keyPath].slot
        guard let owner = self as? B else { throw CoreStoreError.unknown }
        return try loading {
            FieldContainer<B>.Stored<V>.slowLoad(owner, slot)
        }
    }

    /// The objects that a relationship leads to. Where a link or one of the objects cannot be read,
    /// this throws; the getter does not.
    ///
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``.
    public func load<B: CoreStoreObject, V: FieldRelationshipType>(
        _ keyPath: KeyPath<Self, FieldContainer<B>.Relationship<V>>
    ) throws(CoreStoreError) -> V {
        let slot = self[keyPath: keyPath].slot
        return try loading { V.cs_load(self, slot) }
    }

    /// The value of a coded property. Where it cannot be read or decoded, this throws; the getter
    /// returns nil or a default instead.
    ///
    /// - Throws: `.internalError`.
    public func load<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<Self, FieldContainer<B>.Coded<V>>
    ) throws(CoreStoreError) -> V {
        let slot = self[keyPath: keyPath].slot
        guard let owner = self as? B else { throw CoreStoreError.unknown }
        return try loading { FieldContainer<B>.value(slot, of: owner) }
    }

    /// The value of a computed property. Where its getter reads a value that cannot be read, this
    /// throws the first such error.
    ///
    /// - Throws: `.internalError`.
    public func load<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<Self, FieldContainer<B>.Virtual<V>>
    ) throws(CoreStoreError) -> V {
        let slot = self[keyPath: keyPath].slot
        guard let owner = self as? B else { throw CoreStoreError.unknown }
        return try loading { FieldContainer<B>.value(slot, of: owner) }
    }

    private func loading<Result>(_ body: () -> Result) throws(CoreStoreError) -> Result {
        if let raw {
            do throws(StoreError) {
                try raw.context.loadRow(of: self, raw)
            } catch {
                throw CoreStoreError(error)
            }
        }
        return try FaultTrap.run(in: raw?.context, body)
    }
}
