import ObjectGraph
import PageStore
import TestSupport

/// Objects with every kind of link, for scripts that are run twice.
final class Knot: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Stored("key") var key: String?
    @Field.Stored("code") var code: Int?
    @Field.Stored("weight") var weight: Int = 0
    @Field.Stored("text") var text: String = "as made"
    @Field.Relationship("parent", inverse: \.$children) var parent: Knot?
    @Field.Relationship("children") var children: [Knot]
    @Field.Relationship("partner", inverse: \.$partnerOf) var partner: Knot?
    @Field.Relationship("partnerOf") var partnerOf: Knot?
    @Field.Relationship("friends", inverse: \.$friendOf) var friends: Set<Knot>
    @Field.Relationship("friendOf") var friendOf: Set<Knot>
    @Field.Relationship("favourite") var favourite: Knot?
    @Field.Relationship("list") var list: [Bead]
    @Field.Relationship("pair", minCount: 2, maxCount: 3) var pair: Set<Bead>
    @Field.Relationship("beads", inverse: \.$owner, deleteRule: .cascade) var beads: Set<Bead>
    @Field.Relationship("guards", inverse: \.$guarded, deleteRule: .deny) var guards: Set<Bead>
}

/// An object linked to knots.
final class Bead: CoreStoreObject {
    @Field.Stored("label") var label: String = ""
    @Field.Relationship("owner") var owner: Knot?
    @Field.Relationship("guarded") var guarded: Knot?
}

/// One of two stacks that run the same script. The log of the run and the final content of the
/// store must be the same for both.
final class KnotStack {
    let stack: DataStack
    let queue = DispatchQueue(label: "view")
    private(set) var notes: [String] = []
    /// The objects that the transaction retains.
    private var held: [Knot] = []
    /// The created objects, in order; nil for those that did not outlive their transaction.
    private var ids: [NSManagedObjectID?] = []
    private var beadIDs: [NSManagedObjectID?] = []

    init(changedBytesMax: Int?) throws {
        stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Knot>(
                        "Knot", indexes: [[\.$weight]],
                        uniqueConstraints: [[\.$key], [\.$code, \.$name]]),
                    Entity<Bead>("Bead", indexes: [[\.$label]]),
                ]), viewContext: .queue(queue))
        var options = EngineOptions()
        if let changedBytesMax { options.changedBytesMax = changedBytesMax }
        try stack.addStorageAndWait(
            LocalStore(
                fileURL: URL(fileURLWithPath: "/knots"), files: MemoryFileSystem(),
                engineOptions: options))
    }

    /// The object's name in the script. Its number cannot be used: the numbers of a transaction
    /// that left nothing are given out again, which must not count as a difference.
    private func name(_ id: NSManagedObjectID?) -> String {
        guard let id else { return "-" }
        if let index = ids.lastIndex(of: id) { return "knot \(index)" }
        if let index = beadIDs.lastIndex(of: id) { return "bead \(index)" }
        return "unknown"
    }

    private func names(_ objects: some Sequence<CoreStoreObject>) -> String {
        objects.map { name($0.objectID()) }.joined(separator: ",")
    }

    private func sortedNames(_ ids: some Sequence<NSManagedObjectID>) -> String {
        ids.map { name($0) }.sorted().joined(separator: ",")
    }

    private func text(_ knot: Knot) -> String {
        let sets = [
            knot.friends.map { $0.objectID() }, knot.friendOf.map { $0.objectID() },
            knot.pair.map { $0.objectID() }, knot.beads.map { $0.objectID() },
            knot.guards.map { $0.objectID() }, knot.children.map { $0.objectID() },
        ]
        let single = [knot.parent, knot.partner, knot.partnerOf, knot.favourite]
        return "\(name(knot.objectID())) \(knot.name) \(knot.key ?? "-") \(knot.code ?? -1) "
            + "\(knot.weight) \(knot.text) one: \(single.map { name($0?.objectID()) }) "
            + "list: \(names(knot.list)) sets: \(sets.map(sortedNames))"
    }

    /// Runs one transaction of a script.
    func run(_ steps: [KnotStep], cancels: Bool) {
        let (oldIDs, oldBeads) = (ids, beadIDs)
        do throws(CoreStoreError) {
            try stack.perform(synchronous: { transaction in
                for step in steps { try take(step, transaction) }
                held = []
                if cancels { try transaction.cancel() }
            })
            forgetUnborn(&ids, from: oldIDs.count)
            forgetUnborn(&beadIDs, from: oldBeads.count)
        } catch {
            held = []
            (ids, beadIDs) = (oldIDs, oldBeads)
            notes.append("failed \(error.errorCode) \(error.storeError?.message ?? "")")
        }
    }

    /// Forgets objects that no commit contains. Their numbers may be given out again, so that
    /// asking for one finds another object, but only in the stack whose transaction flushed the
    /// first one.
    private func forgetUnborn(_ made: inout [NSManagedObjectID?], from first: Int) {
        queue.sync {
            for index in first..<made.count {
                let object: CoreStoreObject? = made[index].flatMap { stack.fetchExisting($0) }
                if object == nil { made[index] = nil }
            }
        }
    }

    /// The whole content of the store.
    func dump() throws -> [String] {
        try queue.sync {
            let knots = try stack.fetchAll(From<Knot>()).map(text)
            let beads = try stack.fetchAll(From<Bead>()).map { bead in
                "\(name(bead.objectID())) \(bead.label) "
                    + "\(name(bead.owner?.objectID())) \(name(bead.guarded?.objectID()))"
            }
            return knots.sorted() + beads.sorted()
        }
    }

    // MARK: Steps

    private func knot(_ index: Int, _ transaction: BaseDataTransaction) -> Knot? {
        guard !ids.isEmpty, let id = ids[index % ids.count] else { return nil }
        return transaction.fetchExisting(id)
    }

    private func bead(_ index: Int, _ transaction: BaseDataTransaction) -> Bead? {
        guard !beadIDs.isEmpty, let id = beadIDs[index % beadIDs.count] else { return nil }
        return transaction.fetchExisting(id)
    }

    private func take(_ step: KnotStep, _ transaction: BaseDataTransaction) throws {
        switch step.kind {
        case .make: make(step, transaction)
        case .edit, .editHeld: edit(step, transaction)
        case .link: link(step, transaction)
        case .hang: hang(step, transaction)
        case .delete: transaction.delete(knot(step.a, transaction))
        case .deleteBead: transaction.delete(bead(step.a, transaction))
        case .refresh: knot(step.a, transaction)?.refreshAsFault()
        case .read: notes.append(knot(step.a, transaction).map(text) ?? "-")
        case .fetch:
            let found = try transaction.fetchAll(
                From<Knot>().where(\.$weight > step.a % 20).orderBy(.ascending(\.$weight)))
            notes.append(found.map(text).joined(separator: "\n"))
        case .list:
            // Links to deleted objects are cleared when changes are flushed, as by a fetch.
            _ = try transaction.fetchCount(From<Bead>())
            list(transaction)
        }
    }

    private func make(_ step: KnotStep, _ transaction: BaseDataTransaction) {
        if step.a % 3 == 0 {
            let bead = transaction.create(Into<Bead>())
            bead.label = "label \(step.b)"
            beadIDs.append(bead.objectID())
            return
        }
        let knot = transaction.create(Into<Knot>())
        knot.name = "name \(step.b % 3)"
        if step.c % 3 > 0 { knot.key = "key \(step.c % 9)" }
        if step.d % 3 == 0 { knot.code = step.d % 4 }
        if step.d % 4 == 1 { knot.weight = step.b % 30 }
        ids.append(knot.objectID())
        if step.b % 4 == 0 { held.append(knot) }
    }

    private func edit(_ step: KnotStep, _ transaction: BaseDataTransaction) {
        let found =
            step.kind == .editHeld && !held.isEmpty
            ? held[step.a % held.count] : knot(step.a, transaction)
        guard let found, transaction.fetchExisting(found) != nil else { return }
        switch step.b % 5 {
        case 0: found.name = "name \(step.c % 3)"
        case 1: found.key = step.c % 5 == 0 ? nil : "key \(step.c % 9)"
        case 2: found.code = step.c % 4
        case 3: found.weight = step.c % 30
        default: found.text = "text \(step.c)"
        }
        if step.d % 6 == 0 { held.append(found) }
    }

    private func link(_ step: KnotStep, _ transaction: BaseDataTransaction) {
        guard let first = knot(step.a, transaction) else { return }
        let second = knot(step.b, transaction)
        switch step.c % 6 {
        case 0: first.parent = step.d % 4 == 0 ? nil : second
        case 1: first.partner = step.d % 4 == 0 ? nil : second
        case 2: first.favourite = second
        case 3:
            if let second { first.friends.insert(second) }
        case 4:
            if let second { first.friends.remove(second) }
        default: first.children = [second, knot(step.d, transaction)].compactMap(\.self)
        }
    }

    private func hang(_ step: KnotStep, _ transaction: BaseDataTransaction) {
        guard let first = knot(step.a, transaction), let hung = bead(step.b, transaction) else {
            return
        }
        switch step.c % 6 {
        case 0: first.beads.insert(hung)
        case 1: hung.owner = first
        case 2:
            if step.d % 5 == 0 { first.guards.insert(hung) } else { hung.guarded = nil }
        case 3: first.list = [bead(step.d, transaction), hung].compactMap(\.self)
        case 4: first.list.append(hung)
        default:
            first.pair = Set([bead(step.d, transaction), hung].compactMap(\.self))
        }
    }

    private func list(_ transaction: BaseDataTransaction) {
        notes.append(
            """
            inserted \(sortedNames(transaction.insertedObjectIDs(Knot.self)))
            and \(sortedNames(transaction.insertedObjects(Bead.self).map { $0.objectID() }))
            updated \(sortedNames(transaction.updatedObjectIDs()))
            deleted \(sortedNames(transaction.deletedObjectIDs())) \(transaction.hasChanges)
            """)
    }
}

/// One step of a script; the meaning of its numbers depends on the kind of step.
struct KnotStep: CustomStringConvertible {
    enum Kind: CaseIterable {
        case make, edit, editHeld, link, hang, delete, deleteBead, refresh, read, fetch, list
    }

    var kind: Kind
    var a, b, c, d: Int

    var description: String { "\(kind) \(a) \(b) \(c) \(d)" }

    static func random(_ random: inout SeededRandom) -> KnotStep {
        let kinds: [Kind] = [
            .make, .make, .make, .make, .make, .edit, .edit, .edit, .editHeld, .link, .link, .link,
            .hang, .hang, .hang, .delete, .deleteBead, .refresh, .read, .fetch, .list,
        ]
        return KnotStep(
            kind: kinds[random.below(kinds.count)], a: random.below(1000), b: random.below(1000),
            c: random.below(1000), d: random.below(1000))
    }
}
