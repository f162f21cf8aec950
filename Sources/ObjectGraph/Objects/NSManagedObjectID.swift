import Query
import RecordStore

/// An entity in one store: what the IDs of its objects share, so that each carries one reference.
/// Programs keep IDs by the million.
final class StoreEntity: Sendable {
    let storeID: UUID
    let entity: EntityLayout
    /// How URIs of its objects name it.
    let name: ObjectIdentities.Name

    init(storeID: UUID, entity: EntityLayout, name: ObjectIdentities.Name) {
        self.storeID = storeID
        self.entity = entity
        self.name = name
    }
}

/// The identity of an object: equal in every context and process, for as long as the store exists.
public final class NSManagedObjectID: Hashable, Sendable, CustomStringConvertible {
    let storeEntity: StoreEntity
    let number: ObjectNumber

    init(_ number: ObjectNumber, in storeEntity: StoreEntity) {
        self.storeEntity = storeEntity
        self.number = number
    }

    var storeID: UUID { storeEntity.storeID }
    var entity: EntityLayout { storeEntity.entity }
    var hierarchy: HierarchyID { entity.hierarchy }

    /// The name of the object's entity.
    public var entityName: EntityName { entity.name }

    /// Always false: an object has its lasting ID from its creation on.
    public var isTemporaryID: Bool { false }

    /// The ID as a URI, which ``DataStack/objectID(forURIRepresentation:)`` reads back.
    ///
    /// It leads to the object for as long as the store has it, also when a later version of the
    /// program renames the entity or moves its objects below another superentity. Save the URI of
    /// the object's own ID (``CoreStoreObject/objectID()``): the items of a list and the targets of
    /// a snapshot's links name the entity that was asked for, which may be one above the object's,
    /// and a later version may separate the two.
    public func uriRepresentation() -> URL {
        URL(string: reference.uri) ?? URL(fileURLWithPath: "/\(number.rawValue)")
    }

    public static func == (left: NSManagedObjectID, right: NSManagedObjectID) -> Bool {
        left === right
            || left.number == right.number
                && (left.storeEntity === right.storeEntity
                    || left.hierarchy == right.hierarchy && left.storeID == right.storeID)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        hasher.combine(hierarchy)
    }

    public var description: String { uriRepresentation().absoluteString }
}
