import RecordStore

/// The stored part of an object; programs only pass it on in `required init(rawObject:)`.
public struct RawObject {
    let kind: ObjectKind
    let number: ObjectNumber

    var context: ObjectContext { kind.context }
    var entity: EntityLayout { kind.entity }
    var store: AttachedStore { kind.store }
    var name: ObjectName {
        ObjectName(storeID: store.id, hierarchy: entity.hierarchy, number: number)
    }
    var id: NSManagedObjectID {
        NSManagedObjectID(number, in: kind.storeEntity)
    }
}

/// The base class of a program's objects. Properties are declared with `@Field.Stored`,
/// `@Field.Relationship`, `@Field.Coded` and `@Field.Virtual`.
///
/// An object belongs to the stack's view, to a read view or to one transaction, and to its thread
/// or executor; objects of a ``ReadView`` may be used on any thread. Two objects are equal when
/// they are identical; objects of one record in two contexts have equal ``objectID()``s. An object
/// whose record was deleted keeps its last values.
///
/// Subclasses are nonisolated too, even in a module whose default isolation is `MainActor`.
nonisolated open class CoreStoreObject: DynamicObject, Hashable {
    // Every access would pay a dynamic check of exclusivity, which costs more than the access:
    // `Unsafe/` reads and writes these three without it, and says why that is safe. The order
    // of the properties leaves no gap but one before `raw`.
    @exclusivity(unchecked) @usableFromInline final var storedRow = FieldRow(RowBuffer())
    @exclusivity(unchecked) @usableFromInline final var storedAssigned: UInt64 = 0
    @exclusivity(unchecked) @usableFromInline final var storedIsOpen = false
    /// How the object differs from what its context reads.
    private(set) final var change = ObjectChangeState.stored
    /// Whether the context retains the object in a list of changed ones.
    final var isListed = false
    /// Whether properties are observed where they are written. Such an object is never open, so
    /// that each write finds out.
    final var isObserved = false {
        didSet { isOpen = change.isOpen && !isObserved }
    }
    /// Nil in a meta object.
    final let raw: RawObject?
    /// In `assigned`: stands for all slots after the 63rd; the context knows which they are.
    static let farBit: UInt64 = 1 << 63

    /// In `assigned`: the bit of a property.
    static func bit(_ field: FieldLayout) -> UInt64 {
        1 << UInt64(min(field.byteOffset / RowLayout.wordSize - 2, 63))
    }

    /// Makes the wrapper of a stored object. Called by the library.
    public required init(rawObject: RawObject) {
        raw = rawObject
    }

    /// Makes the object that answers key paths. Called by the library.
    public required init(asMeta: Void) {
        raw = nil
    }

    deinit {
        row.buffer.deallocate()
        leave()
    }

    private final func leave() {
        guard let raw else { return }
        raw.kind.objects.remove(self, raw.number)
        raw.kind.transients?.remove(self)
        raw.kind.shared?.endUse()
    }

    /// The object's identity, equal in every context.
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

    /// Discards unsaved changes and loaded values: the next access reads the store again.
    public final func refreshAsFault() { raw?.context.refresh(self, keepsChanges: false) }

    /// Reads the object from the store again, with its unsaved changes on top.
    public final func refreshAndMerge() { raw?.context.refresh(self, keepsChanges: true) }

    /// The stack, transaction or read view that the object was fetched from; nil when that has
    /// ended.
    public final func fetchSource() -> (any FetchableSource)? { raw?.context.source }

    /// The source for queries in the object's context; nil when that has ended.
    public final func querySource() -> (any QueryableSource)? { raw?.context.source }

    // MARK: Changes

    /// Moves to the state that an event leads to, and opens or closes the object accordingly.
    final func apply(_ event: ObjectChangeState.Event) {
        guard let next = change.after(event) else {
            preconditionFailure("an object that is \(change) cannot \(event)")
        }
        change = next
        isOpen = next.isOpen && !isObserved
    }

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

    /// Prepares a write at a slot's offset: the object must belong to a running transaction. False
    /// where nothing may be written at all, because other threads may be reading.
    @inlinable @inline(__always) @discardableResult
    final func willWrite(_ offset: UInt16) -> Bool {
        if !isOpen && !open(for: offset) { return false }
        noteAssignment(offset)
        return true
    }

    /// Prepares the write of a link, of which observers are told by other calls.
    final func willWriteLink(_ offset: UInt16) {
        if isOpen || open() { noteAssignment(offset) }
    }

    @inlinable @inline(__always)
    final func noteAssignment(_ offset: UInt16) {
        let word = UInt64(offset) &>> 3 &- 2
        if word < 63 { assigned |= 1 &<< word } else { assignFar(offset) }
    }

    /// Notes an assigned slot that has no bit of its own.
    @usableFromInline
    final func assignFar(_ offset: UInt16) {
        assigned |= Self.farBit
        // Only unique conflicts ask which properties those were.
        guard let raw, !raw.entity.uniqueIndexes.isEmpty else { return }
        raw.context.noteFarAssignment(raw, offset)
    }

    /// Prepares the first write since the object was made or handed on, and each one of an object
    /// that is observed.
    @usableFromInline
    final func open(for offset: UInt16) -> Bool {
        // First, because an observer may fetch, and the object is written as it is then.
        if isObserved, let raw, raw.kind.shared == nil {
            raw.context.tell(.before, of: self, offset)
        }
        return open()
    }

    /// Called after a write to an object that is not open.
    @usableFromInline
    final func didWrite(_ offset: UInt16) {
        if isObserved { raw?.context.tell(.after, of: self, offset) }
    }

    @discardableResult
    final func open() -> Bool {
        guard let raw else { Log.abort("a meta object of \(Self.self) has no values") }
        loadRow()
        raw.context.willChange(self, .writeRow)
        return raw.kind.shared == nil
    }

    /// Where the entity keeps a property; nil when the object's schema has none of that name.
    final func storedField(_ name: String) -> FieldLayout? { raw?.entity.field(named: name) }

    /// Stores a value as the entity keeps the property. A Foundation number does not say which of
    /// its classes the property was declared with.
    final func store<V: FieldStorableType>(_ value: V, in field: FieldLayout) {
        if field.type == .decimal, let number = value as? NSDecimalNumber {
            row.set(number.decimalValue, field.byteOffset)
        } else {
            value.cs_store(&row, field.byteOffset)
        }
    }

    // MARK: Links

    @usableFromInline
    final func linkedObjects(_ slot: UInt16) -> [CoreStoreObject] {
        guard let raw, slot < FieldRegistry.declarationBit else { return [] }
        raw.context.makeRoomOrFail()
        return raw.context.linkedObjects(of: self, raw, relationshipID: Int(slot))
    }

    @usableFromInline
    final func linkedObject(_ slot: UInt16) -> CoreStoreObject? {
        guard let raw, slot < FieldRegistry.declarationBit else { return nil }
        raw.context.makeRoomOrFail()
        return raw.context.linkedObject(of: self, raw, relationshipID: Int(slot))
    }

    @usableFromInline
    final func setLinkedObject(_ target: CoreStoreObject?, _ slot: UInt16) {
        guard let raw, slot < FieldRegistry.declarationBit else { return refuseLink() }
        raw.context.makeRoomOrFail()
        raw.context.setLinkedObject(target, of: self, raw, relationshipID: Int(slot))
    }

    @usableFromInline
    final func setLinkedObjects(_ objects: [CoreStoreObject], _ slot: UInt16) {
        guard let raw, slot < FieldRegistry.declarationBit else { return refuseLink() }
        raw.context.makeRoomOrFail()
        raw.context.setLinkedObjects(objects, of: self, raw, relationshipID: Int(slot))
    }

    private final func refuseLink() {
        Log.assert(
            false,
            "a relationship of \(Self.self) that its store does not have was assigned: it leads to "
                + "an entity of another configuration, or belongs to no entity of the schema")
    }
}

// Not a member of the class: a model may have a property of that name, which then takes precedence.
extension DynamicObject where Self: CoreStoreObject {
    /// Whether the object was deleted: in a transaction from the deletion on, in a stack's view
    /// from the commit on that deleted it.
    ///
    /// A deleted object keeps its last values, and takes values until its transaction ends; no
    /// store keeps these.
    public var isDeleted: Bool { change == .deleted }
}
