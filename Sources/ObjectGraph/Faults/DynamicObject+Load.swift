import RecordStore

// The throwing forms of getters: `try person.load(\.$docs)` for `person.docs`.
extension DynamicObject where Self: CoreStoreObject {
    /// The value of a stored property, or the error that reading it met. The getter gives a default
    /// instead, and the stack reports a ``StorageFault``.
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
            slot < FieldRegistry.declarationBit
                ? V.cs_load(row, Int(slot)) : FieldContainer<B>.value(slot, of: owner)
        }
    }

    /// The objects that a relationship leads to, or the error that reading a link or one of the
    /// objects met.
    ///
    /// - Throws: `.internalError` with its ``CoreStoreError/storeError``.
    public func load<B: CoreStoreObject, V: FieldRelationshipType>(
        _ keyPath: KeyPath<Self, FieldContainer<B>.Relationship<V>>
    ) throws(CoreStoreError) -> V {
        let slot = self[keyPath: keyPath].slot
        return try loading { V.cs_load(self, slot) }
    }

    /// The value of a coded property, or the error that reading or decoding it met.
    ///
    /// - Throws: `.internalError`.
    public func load<B: CoreStoreObject, V>(
        _ keyPath: KeyPath<Self, FieldContainer<B>.Coded<V>>
    ) throws(CoreStoreError) -> V {
        let slot = self[keyPath: keyPath].slot
        guard let owner = self as? B else { throw CoreStoreError.unknown }
        return try loading { FieldContainer<B>.value(slot, of: owner) }
    }

    /// The value of a computed property, or the first error that its getter met while it read.
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
