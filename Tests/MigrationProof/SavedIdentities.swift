import Proof
import RecordStore

/// The identities under which objects were known in every state of a file. Each leads to its object
/// for as long as the file has it, and to no other.
struct SavedIdentities {
    private struct Identity: Hashable {
        var entityName: String
        var number: UInt64
        var generation: UInt32
    }

    private var uids: [Identity: Int64] = [:]

    /// Resolves all identities of earlier states, adds those of the present one, and returns how
    /// many it has resolved.
    mutating func check(_ world: RewriteWorld, _ moved: MovedObjects) throws -> Int {
        var places: [Identity: Int64] = [:]
        let generations = moved.generations
        for (uid, place) in world.places {
            let name = try known(world.objects[uid]).entityName
            places[Identity(entityName: name, number: place.number, generation: 0)] = uid
            let generation = generations[name] ?? 0
            let identity = Identity(
                entityName: name, number: place.number, generation: generation)
            let former = uids.updateValue(uid, forKey: identity)
            try hold(former ?? uid == uid, "\(identity) is of two objects")
        }
        for (identity, uid) in uids {
            let found = moved.resolve(
                identity.entityName, ObjectNumber(identity.number),
                generation: identity.generation)
            let other = found.flatMap { object in
                places[
                    Identity(
                        entityName: object.entity, number: object.number.rawValue, generation: 0)]
            }
            let expected = world.places[uid] == nil ? nil : uid
            try hold(other == expected, "\(identity) of object \(uid) leads to \(other ?? -1)")
        }
        return uids.count
    }
}
