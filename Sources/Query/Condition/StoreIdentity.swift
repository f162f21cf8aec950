import Foundation
import RecordStore

/// A store as the conditions that name its objects refer to it.
package struct StoreIdentity: Sendable {
    package let id: UUID
    /// How migrations have changed the identities of its objects.
    private let moved: MovedObjects

    package init(_ id: UUID, moved: MovedObjects = MovedObjects()) {
        self.id = id
        self.moved = moved
    }

    /// The present entity and number of an object; nil if it is not one of this store.
    package func resolve(
        _ reference: ObjectReference
    ) -> (entity: String, number: ObjectNumber)? {
        guard reference.storeID == id else { return nil }
        return moved.resolve(
            reference.entityName, reference.number, generation: reference.generation)
    }
}
