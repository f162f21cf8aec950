import PageStore

/// Applies a batch's changes of links, in both directions if the inverse has a tree of its own.
///
/// An ordered relationship stores an order key with each pair. The keys have gaps, so that a move
/// changes only one pair.
final class LinkApplier {
    private struct ListName: Hashable {
        var relationshipID: Int
        var owner: ObjectNumber
    }

    /// The order keys of one owner's targets. The file has no index from a target to its key, so
    /// without this cache each change of a long list would read all of it.
    private struct OrderKeys {
        var byTarget: [ObjectNumber: UInt64] = [:]
        /// Further keys of targets that a list contains repeatedly, which only another
        /// implementation writes.
        var repeated: [ObjectNumber: [UInt64]] = [:]
        /// The largest key, or a larger number.
        var last: UInt64 = 0
    }

    private static let orderGap: UInt64 = 1 << 32
    /// The most lists that are cached.
    private static let knownListCountMax = 1024

    private let transaction: RecordEditor
    private var knownLists: [ListName: OrderKeys] = [:]

    init(_ transaction: RecordEditor) {
        self.transaction = transaction
    }

    func apply(_ change: RecordBatch.LinkChange) throws(StoreError) {
        switch change {
        case .set(let relationship, let owner, let targets):
            try set(relationship, owner, targets)
        case .add(let relationship, let owner, let target):
            try add(relationship, owner, target)
            try mirror(relationship, owner, target, isRemoval: false)
        case .remove(let relationship, let owner, let target):
            try remove(relationship, owner, target)
            try mirror(relationship, owner, target, isRemoval: true)
        }
    }

    /// Removes deleted objects from lists without an inverse, or replaces them there, if what
    /// replaces them is of a kind that the list may contain. No index has the owners, so all pairs
    /// of such a relationship are scanned, once for all deletions of a batch.
    func removeLinks(
        to deleted: [UInt16: [ObjectNumber: ObjectNumber?]]
    ) throws(StoreError) {
        guard !deleted.isEmpty else { return }
        let schema = transaction.schema
        for relationship in schema.relationships
        where relationship.hasEdges && relationship.inverseID == nil {
            let target = schema.knownEntity(tag: relationship.destinationTag)
            guard let gone = deleted[target.hierarchy.rootTag] else { continue }
            var owners: [ObjectNumber] = []
            try transaction.forEachEdge(relationship) { owner, edge in
                if owners.last != owner, gone[edge.target] != nil { owners.append(owner) }
            }
            for owner in owners {
                var targets: [ObjectNumber] = []
                for edge in try edges(relationship, owner) {
                    guard let replacement = gone[edge.target] else {
                        targets.append(edge.target)
                        continue
                    }
                    guard let replacement, try isKind(replacement, of: target) else { continue }
                    targets.append(replacement)
                }
                try set(relationship, owner, targets)
                transaction.noteShorter(relationship, of: owner)
            }
        }
    }

    private func isKind(_ number: ObjectNumber, of entity: EntityLayout) throws(StoreError) -> Bool
    {
        let isKind = try transaction.withRow(number, in: entity.hierarchy) { row in
            entity.tags.contains(row.entityTag)
        }
        return isKind ?? false
    }

    /// Inserts or removes the link in the tree of the inverse.
    private func mirror(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber, _ target: ObjectNumber,
        isRemoval: Bool
    ) throws(StoreError) {
        guard let inverseID = relationship.inverseID,
            inverseID != relationship.id || owner != target
        else { return }
        let inverse = transaction.schema.relationship(id: inverseID)
        guard inverse.hasEdges else { return }
        if isRemoval {
            try remove(inverse, target, owner)
        } else {
            try add(inverse, target, owner)
        }
    }

    private func edges(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber
    ) throws(StoreError) -> [RecordReader.Edge] {
        var edges: [RecordReader.Edge] = []
        try transaction.forEachEdge(relationship, of: owner) { edges.append($0) }
        return edges
    }

    /// The order key of a target in a list; nil if the list lacks it. Caches the list's keys.
    private func orderKey(
        of target: ObjectNumber, _ name: ListName, _ relationship: RelationshipLayout
    ) throws(StoreError) -> UInt64? {
        if knownLists[name] == nil {
            var keys = OrderKeys()
            try transaction.forEachEdge(relationship, of: name.owner) { edge in
                if let former = keys.byTarget.updateValue(edge.order, forKey: edge.target) {
                    keys.repeated[edge.target, default: []].append(former)
                }
                keys.last = max(keys.last, edge.order)
            }
            if knownLists.count >= Self.knownListCountMax { knownLists = [:] }
            knownLists[name] = keys
        }
        return knownLists[name]?.byTarget[target]
    }

    private func add(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber, _ target: ObjectNumber
    ) throws(StoreError) {
        let notes = transaction.notes?.links(relationship)
        guard relationship.kind == .toManyOrdered else {
            if try insert(relationship, owner, second: target.rawValue, value: []) {
                notes?.note(owner, target, isRemoval: false)
            }
            return
        }
        let name = ListName(relationshipID: relationship.id, owner: owner)
        guard try orderKey(of: target, name, relationship) == nil else { return }
        notes?.note(owner, target, isRemoval: false)
        // A target that was removed before is added at the end.
        notes?.noteOrder(owner)
        let last = knownLists[name]?.last ?? 0
        guard last < .max - Self.orderGap else {
            let known = try edges(relationship, owner)
            try renumber(relationship, owner, known, known.map(\.target) + [target])
            return
        }
        let key = last + Self.orderGap
        try insert(relationship, owner, second: key, value: RecordKey.bytes(target))
        knownLists[name]?.byTarget[target] = key
        knownLists[name]?.last = key
    }

    private func remove(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber, _ target: ObjectNumber
    ) throws(StoreError) {
        let notes = transaction.notes?.links(relationship)
        guard relationship.kind == .toManyOrdered else {
            if try remove(relationship, owner, second: target.rawValue) {
                notes?.note(owner, target, isRemoval: true)
            }
            return
        }
        let name = ListName(relationshipID: relationship.id, owner: owner)
        guard let key = try orderKey(of: target, name, relationship) else { return }
        for key in [key] + (knownLists[name]?.repeated.removeValue(forKey: target) ?? []) {
            try remove(relationship, owner, second: key)
        }
        notes?.note(owner, target, isRemoval: true)
        knownLists[name]?.byTarget[target] = nil
    }

    /// Returns whether the pair is new.
    @discardableResult
    private func insert(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber, second: UInt64, value: [UInt8]
    ) throws(StoreError) -> Bool {
        let tree = transaction.trees.links(relationship)
        try transaction.checkOwn(tree)
        return try !transaction.editor.insert(
            RecordKey.bytes(owner.rawValue, second).span, value.span, into: tree)
    }

    /// Returns whether the pair existed.
    @discardableResult
    private func remove(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber, second: UInt64
    ) throws(StoreError) -> Bool {
        let tree = transaction.trees.links(relationship)
        try transaction.checkOwn(tree)
        return try transaction.editor.remove(
            RecordKey.bytes(owner.rawValue, second).span, from: tree)
    }

    // MARK: Whole lists

    private func set(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber, _ targets: [ObjectNumber]
    ) throws(StoreError) {
        let known = try edges(relationship, owner)
        var wanted: Set<ObjectNumber> = []
        let targets = targets.filter { wanted.insert($0).inserted }
        let had = Set(known.map(\.target))
        let name = ListName(relationshipID: relationship.id, owner: owner)
        // Any of its keys may change.
        defer { knownLists[name] = nil }
        for edge in known where !wanted.contains(edge.target) {
            try remove(relationship, owner, edge.target)
            try mirror(relationship, owner, edge.target, isRemoval: true)
        }
        for target in targets where !had.contains(target) {
            try mirror(relationship, owner, target, isRemoval: false)
        }
        if relationship.kind == .toManyOrdered {
            if let notes = transaction.notes?.links(relationship) {
                for target in targets where !had.contains(target) {
                    notes.note(owner, target, isRemoval: false)
                }
                if known.map(\.target) != targets { notes.noteOrder(owner) }
            }
            try order(relationship, owner, known.filter { wanted.contains($0.target) }, targets)
            return
        }
        for target in targets where !had.contains(target) {
            try add(relationship, owner, target)
        }
    }

    /// Keeps a longest run of pairs that are in order already, and gives each other pair a key
    /// between its neighbours'.
    private func order(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber,
        _ known: [RecordReader.Edge], _ targets: [ObjectNumber]
    ) throws(StoreError) {
        let orderByTarget = Dictionary(known.map { ($0.target, $0.order) }) { first, _ in first }
        let kept = LinkOrder.longestAscending(targets.map { orderByTarget[$0] })
        var orders = targets.indices.map { kept.contains($0) ? orderByTarget[targets[$0]] : nil }
        guard LinkOrder.fill(&orders, gap: Self.orderGap) else {
            try renumber(relationship, owner, known, targets)
            return
        }
        let newOrders = Dictionary(zip(targets, orders)) { first, _ in first }
        for edge in known {
            if let newOrder = newOrders[edge.target], newOrder == edge.order { continue }
            try remove(relationship, owner, second: edge.order)
        }
        for (target, order) in zip(targets, orders) {
            guard let order, orderByTarget[target] != order else { continue }
            try insert(relationship, owner, second: order, value: RecordKey.bytes(target))
        }
    }

    private func renumber(
        _ relationship: RelationshipLayout, _ owner: ObjectNumber,
        _ known: [RecordReader.Edge], _ targets: [ObjectNumber]
    ) throws(StoreError) {
        knownLists[ListName(relationshipID: relationship.id, owner: owner)] = nil
        for edge in known { try remove(relationship, owner, second: edge.order) }
        for (position, target) in targets.enumerated() {
            try insert(
                relationship, owner, second: UInt64(position + 1) * Self.orderGap,
                value: RecordKey.bytes(target))
        }
    }
}

/// Order keys with gaps.
enum LinkOrder {
    /// The positions of a longest ascending subsequence of keys, ignoring nils.
    static func longestAscending(_ keys: [UInt64?]) -> Set<Int> {
        var tails: [Int] = []
        var previous = [Int?](repeating: nil, count: keys.count)
        for (position, key) in keys.enumerated() {
            guard let key else { continue }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if let tail = keys[tails[middle]], tail < key {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            previous[position] = low > 0 ? tails[low - 1] : nil
            if low == tails.count { tails.append(position) } else { tails[low] = position }
        }
        var kept: Set<Int> = []
        var position = tails.last
        while let current = position {
            kept.insert(current)
            position = previous[current]
        }
        return kept
    }

    /// Replaces every nil by a key between its neighbours'. False if a gap is too small.
    static func fill(_ orders: inout [UInt64?], gap: UInt64) -> Bool {
        var position = 0
        while position < orders.count {
            guard orders[position] == nil else {
                position += 1
                continue
            }
            var end = position
            while end < orders.count && orders[end] == nil { end += 1 }
            let lower = position > 0 ? (orders[position - 1] ?? 0) : 0
            let missing = UInt64(end - position)
            let step: UInt64
            if end < orders.count, let upper = orders[end] {
                step = (upper - lower) / (missing + 1)
            } else {
                step = lower < .max - (missing + 1) * gap ? gap : 0
            }
            guard step > 0 else { return false }
            for index in position..<end {
                orders[index] = lower + step * UInt64(index - position + 1)
            }
            position = end
        }
        return true
    }
}
