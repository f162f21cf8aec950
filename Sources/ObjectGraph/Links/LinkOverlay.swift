import RecordStore

/// Links that a transaction changed and has not flushed: they lie over what the store says.
struct LinkOverlay {
    struct Key: Hashable {
        var relationshipID: Int
        var storeID: UUID
        var owner: ObjectNumber
    }

    /// The whole new list of an owner, for relationships with pairs of their own.
    struct List {
        var owner: CoreStoreObject
        var relationship: RelationshipLayout
        var targets: [ObjectNumber]
    }

    /// What changed for the mirror of a to-one: the pairs themselves are properties of the targets.
    struct Mirror {
        var added: [ObjectNumber] = []
        var removed: Set<ObjectNumber> = []
    }

    var lists: [Key: List] = [:]
    var mirrors: [Key: Mirror] = [:]

    var isEmpty: Bool { lists.isEmpty && mirrors.isEmpty }

    mutating func addMirror(_ key: Key, _ target: ObjectNumber) {
        if mirrors[key, default: Mirror()].removed.remove(target) != nil { return }
        if mirrors[key]?.added.contains(target) == true { return }
        mirrors[key, default: Mirror()].added.append(target)
    }

    mutating func removeMirror(_ key: Key, _ target: ObjectNumber) {
        if let index = mirrors[key]?.added.firstIndex(of: target) {
            mirrors[key]?.added.remove(at: index)
            return
        }
        mirrors[key, default: Mirror()].removed.insert(target)
    }
}
