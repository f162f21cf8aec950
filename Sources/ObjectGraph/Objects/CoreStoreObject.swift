import RecordStore

/// What an object is made from; programs only pass it on in `required init(rawObject:)`.
public struct RawObject {
    let context: ObjectContext
    let id: NSManagedObjectID
    let entity: EntityLayout
    let store: AttachedStore
}

/// The base class of a program's objects. Properties are declared with `@Field.Stored` and
/// `@Field.Relationship`.
///
/// An object belongs to the stack's view or to one transaction, and to the thread or executor of
/// that. Two objects are equal when they are the same one; the same row in two contexts has equal
/// ``objectID()``s. An object whose row was deleted keeps answering with its last values.
open class CoreStoreObject: DynamicObject, Hashable {
    /// The object's values; empty until they are first needed.
    @usableFromInline final var row = FieldRow(RowBuffer())
    /// Nil in a meta object.
    final let raw: RawObject?
    /// Bits of the slots that the transaction assigned; the last bit stands for all behind it.
    final var assigned: UInt64 = 0
    final var state = State.stored
    /// Whether the object has changes that the record transaction does not have yet.
    final var isPending = false
    /// Whether the object was created and the record transaction does not know it yet.
    final var hasNoRecord = false

    enum State {
        case stored, inserted, updated, deleted
    }

    /// Makes the wrapper of a stored object. Called by the library.
    public required init(rawObject: RawObject) {
        raw = rawObject
    }

    /// Makes the object that answers key paths. Called by the library.
    public required init(asMeta: Void) {
        raw = nil
    }

    deinit { row.buffer.deallocate() }

    /// The object's identity, the same in every context.
    public final func objectID() -> NSManagedObjectID {
        guard let raw else { Log.abort("a meta object of \(Self.self) has no identity") }
        return raw.id
    }

    public static func == (left: CoreStoreObject, right: CoreStoreObject) -> Bool {
        left === right || (left.raw == nil && right.raw == nil && type(of: left) == type(of: right))
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(raw == nil ? ObjectIdentifier(type(of: self)) : ObjectIdentifier(self))
    }

    /// Forgets unsaved changes and loaded values: the next access reads the store again.
    public final func refreshAsFault() { raw?.context.refresh(self, keepsChanges: false) }

    /// Reads the store again and keeps unsaved changes on top.
    public final func refreshAndMerge() { raw?.context.refresh(self, keepsChanges: true) }

    /// What the object was fetched from: the stack or the transaction; nil when that is gone.
    public final func fetchSource() -> (any FetchableSource)? { raw?.context.source }

    /// What queries of the object's context go to; nil when that is gone.
    public final func querySource() -> (any QueryableSource)? { raw?.context.source }

    // MARK: Access by the wrappers

    @usableFromInline @inline(__always)
    final var isRowLoaded: Bool { !row.buffer.isEmpty }

    /// Reads the object's row when it has none yet. A row that is gone or cannot be read leaves
    /// the defaults.
    @usableFromInline
    final func loadRow() {
        guard row.buffer.isEmpty else { return }
        guard let raw else { Log.abort("a meta object of \(Self.self) has no values") }
        row.buffer = raw.context.loadedRow(of: self, raw)
    }

    /// Prepares a write at a slot's offset: the object must belong to a running transaction.
    @usableFromInline
    final func willWrite(_ offset: UInt16) {
        guard let raw else { Log.abort("a meta object of \(Self.self) has no values") }
        let bit = UInt64(1) << UInt64(min(Int(offset) / RowLayout.wordSize - 2, 63))
        if assigned & bit != 0 && isPending { return }
        loadRow()
        assigned |= bit
        raw.context.willChange(self)
    }

    /// Where the entity keeps a property; nil when the object's schema has none of that name.
    final func storedField(_ name: String) -> FieldLayout? { raw?.entity.field(named: name) }

    // MARK: Links

    final func linkedObjects(_ slot: UInt16) -> [CoreStoreObject] {
        guard let raw, slot < FieldRegistry.declarationBit else { return [] }
        return raw.context.linkedObjects(of: self, raw, relationshipID: Int(slot))
    }

    final func setLinkedObjects(_ objects: [CoreStoreObject], _ slot: UInt16) {
        guard let raw, slot < FieldRegistry.declarationBit else {
            Log.abort("a relationship of \(Self.self) belongs to no entity of the schema")
        }
        raw.context.setLinkedObjects(objects, of: self, raw, relationshipID: Int(slot))
    }
}
