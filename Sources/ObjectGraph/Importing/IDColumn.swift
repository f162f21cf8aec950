import RecordStore

/// Where objects of a class have their unique IDs. What a class does with a source may give its
/// object another ID than the source named, and a later source of the import may name that.
struct IDColumn<O: CoreStoreObject & ImportableUniqueObject> {
    private var entity: EntityLayout?
    private var byteOffset = 0

    mutating func holds(_ id: O.UniqueIDType, _ object: O) -> Bool {
        guard let raw = object.raw else { return true }
        if raw.entity !== entity {
            guard let field = raw.entity.field(named: O.uniqueIDKeyPath) else { return true }
            (entity, byteOffset) = (raw.entity, field.byteOffset)
        }
        object.loadRow()
        return O.UniqueIDType.cs_known(object.row, byteOffset) == id
    }
}
