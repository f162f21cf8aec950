import RecordStore

/// Links that a transaction changed and has not flushed: they lie over what the store says.
struct LinkOverlay {
    struct Key: Hashable {
        var relationshipID: Int
        /// Of the store's `AttachedStore`, which the context keeps.
        var store: ObjectIdentifier
        var owner: ObjectNumber
    }

    /// The whole new list of an owner, for relationships with pairs of their own.
    struct List {
        var owner: CoreStoreObject
        var relationship: RelationshipLayout
        var targets: LinkTargets
    }

    /// The changes of a to-one's mirror: the pairs themselves are properties of the targets.
    struct Mirror {
        private var added: Set<ObjectNumber> = []
        private var removed: Set<ObjectNumber> = []

        mutating func add(_ target: ObjectNumber) {
            if removed.remove(target) == nil { added.insert(target) }
        }

        mutating func remove(_ target: ObjectNumber) {
            if added.remove(target) == nil { removed.insert(target) }
        }

        /// The targets, in the order of their numbers, where the store has these.
        func over(_ stored: [ObjectNumber]) -> [ObjectNumber] {
            let kept = removed.isEmpty ? stored : stored.filter { !removed.contains($0) }
            return added.isEmpty ? kept : added.union(kept).sorted()
        }
    }

    private struct MirrorChange {
        var key: Key
        var target: ObjectNumber
        var isRemoval: Bool
    }

    var lists: [Key: List] = [:]
    /// The lists that owners were given after their deletion. They reach no store, and stay until
    /// the transaction ends.
    var deletedLists: [Key: [ObjectNumber]] = [:]
    private var mirrors: [Key: Mirror] = [:]
    /// Most mirrors are never read before the flush, so what changes is only written down, and
    /// looked through when one is.
    private var unreadChanges: [MirrorChange] = []

    var isEmpty: Bool { lists.isEmpty && mirrors.isEmpty && unreadChanges.isEmpty }

    /// Forgets what the record transaction has now.
    mutating func didFlush() {
        (lists, mirrors, unreadChanges) = ([:], [:], [])
    }

    mutating func addMirror(_ key: Key, _ target: ObjectNumber) {
        unreadChanges.append(MirrorChange(key: key, target: target, isRemoval: false))
    }

    mutating func removeMirror(_ key: Key, _ target: ObjectNumber) {
        unreadChanges.append(MirrorChange(key: key, target: target, isRemoval: true))
    }

    /// The changes of an owner; nil when it has none.
    mutating func mirror(_ key: Key) -> Mirror? {
        for change in unreadChanges {
            if change.isRemoval {
                mirrors[change.key, default: Mirror()].remove(change.target)
            } else {
                mirrors[change.key, default: Mirror()].add(change.target)
            }
        }
        unreadChanges.removeAll(keepingCapacity: true)
        return mirrors.isEmpty ? nil : mirrors[key]
    }
}
