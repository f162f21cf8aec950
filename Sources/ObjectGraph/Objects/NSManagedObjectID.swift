import RecordStore

/// An entity in one store: what the IDs of its objects share, so that each carries one reference.
/// Programs keep IDs by the million.
final class StoreEntity: Sendable {
    let storeID: UUID
    let entity: EntityLayout

    init(storeID: UUID, entity: EntityLayout) {
        self.storeID = storeID
        self.entity = entity
    }
}

/// The identity of an object: equal in every context and process, for as long as the store exists.
public final class NSManagedObjectID: Hashable, Sendable, CustomStringConvertible {
    private let home: StoreEntity
    let number: ObjectNumber

    init(_ number: ObjectNumber, in home: StoreEntity) {
        self.home = home
        self.number = number
    }

    var storeID: UUID { home.storeID }
    var entity: EntityLayout { home.entity }
    var hierarchy: HierarchyID { entity.hierarchy }

    /// The name of the object's entity.
    public var entityName: EntityName { entity.name }

    /// Always false: an object has its lasting ID from its creation on.
    public var isTemporaryID: Bool { false }

    /// The ID as a URI, which ``DataStack/objectID(forURIRepresentation:)`` reads back.
    public func uriRepresentation() -> URL {
        let name = entityName.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        let text =
            "trellis://\(storeID.uuidString)/\(name ?? entityName)/p\(number.rawValue)"
        return URL(string: text) ?? URL(fileURLWithPath: "/\(number.rawValue)")
    }

    public static func == (left: NSManagedObjectID, right: NSManagedObjectID) -> Bool {
        left === right
            || left.number == right.number
                && (left.home === right.home
                    || left.hierarchy == right.hierarchy && left.storeID == right.storeID)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        hasher.combine(hierarchy)
    }

    public var description: String { uriRepresentation().absoluteString }
}
