import RecordStore

/// What one transaction, or several after each other, made durable.
struct CommittedChange: Sendable {
    /// What names an object inside its store.
    struct Name: Hashable, Sendable {
        var number: ObjectNumber
        var hierarchy: HierarchyID
    }

    /// The changes of one store.
    struct Part: Sendable {
        var store: AttachedStore
        /// The store as the last commit left it.
        var snapshot: RecordSnapshot
        var updated: Set<Name> = []
        var deleted: Set<Name> = []
        /// Whether more than the sets say may have changed: there was no view when the transaction
        /// ended, and so nobody wrote it down.
        var isUnknown = false
    }

    /// What a transaction did to the objects of one store.
    struct Names {
        var updated: Set<Name>
        var deleted: Set<Name>
    }

    var parts: [Part] = []

    /// Adds what a later transaction did.
    mutating func add(_ later: CommittedChange) {
        for part in later.parts {
            guard let index = parts.firstIndex(where: { $0.store === part.store }) else {
                parts.append(part)
                continue
            }
            parts[index].snapshot = part.snapshot
            parts[index].updated.formUnion(part.updated)
            parts[index].deleted.formUnion(part.deleted)
            parts[index].updated.subtract(part.deleted)
            parts[index].isUnknown = parts[index].isUnknown || part.isUnknown
        }
    }
}
