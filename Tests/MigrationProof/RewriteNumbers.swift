import Proof
import RecordStore

/// The numbers of objects before and after a migration: they stay, or all those of a hierarchy
/// move by one offset, and no number is given again.
struct RewriteNumbers {
    private let old: RewriteWorld
    private let reference: RewriteReference
    /// The earlier hierarchies whose objects each later one has.
    private let feeders: [String: Set<String>]

    init(old: RewriteWorld, _ reference: RewriteReference) {
        (self.old, self.reference) = (old, reference)
        var feeders: [String: Set<String>] = [:]
        for (before, after) in reference.later {
            feeders[reference.new.root(after), default: []].insert(reference.old.root(before))
        }
        self.feeders = feeders
    }

    func check(_ world: inout RewriteWorld, _ database: RecordDatabase) throws {
        try checkOrders(world)
        let offsets = try offsets(world)
        for root in database.schema.entities where root.superentityTag == nil {
            var last = world.lastNumbers[root.name] ?? 0
            for former in feeders[root.name] ?? [] {
                let isSole = feeders[root.name]?.count == 1
                guard let offset = offsets[root.name]?[former] ?? (isSole ? 0 : nil) else {
                    continue
                }
                last = max(last, (old.lastNumbers[former] ?? 0) + offset)
            }
            let transaction = try database.beginWrite()
            let number = try transaction.allocateNumber(in: root.hierarchy).rawValue
            transaction.rollback()
            try hold(number > last, "\(root.name) gives the number \(number) again, after \(last)")
            world.lastNumbers[root.name] = last
        }
    }

    /// A list that gets an order has that of its targets' numbers. With an inverse it may have
    /// links that only the other side held.
    private func checkOrders(_ world: RewriteWorld) throws {
        for (uid, object) in world.objects {
            guard let former = old.objects[uid] else { continue }
            for path in reference.listsWithNewOrder(former.entityName, object.entityName)
            where !reference.hasInverse(path) {
                let targets = object.links[path.name] ?? []
                let numbers = targets.compactMap { world.places[$0]?.number }
                try hold(
                    zip(numbers, numbers.dropFirst()).allSatisfy(<),
                    "\(path) of \(uid) is in the order \(numbers)")
            }
        }
    }

    /// By how much the numbers of each earlier hierarchy are higher, for each later one.
    private func offsets(_ world: RewriteWorld) throws -> [String: [String: UInt64]] {
        var offsets: [String: [String: UInt64]] = [:]
        for (uid, place) in world.places {
            let former = try known(old.places[uid])
            try hold(place.number >= former.number, "object \(uid) has a lower number")
            let offset = place.number - former.number
            let known = offsets[place.root, default: [:]].updateValue(offset, forKey: former.root)
            try hold(
                known ?? offset == offset && (feeders[place.root]?.count != 1 || offset == 0),
                "object \(uid) of \(place.root) is \(offset) further")
        }
        return offsets
    }
}
