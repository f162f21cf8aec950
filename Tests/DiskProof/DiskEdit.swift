import Foundation
import ObjectGraph
import Primitives
import TestSupport

/// The random changes of one transaction.
struct DiskEdit: Sendable {
    var random: SeededRandom
    var itemCount = 4
    var blobBytesMax = 600
    var deletes = false
    /// If set, one object gets a value of that many bytes, and nothing else changes.
    var largeBytes: Int?

    private static let numberCount = 48

    /// Changes objects, and returns what it did.
    func apply(_ transaction: BaseDataTransaction) throws -> [DiskChange] {
        var random = random
        var changes: [DiskChange] = []
        var items: [Int: DiskItem] = [:]
        for item in try transaction.fetchAll(From<DiskItem>()) { items[item.number] = item }
        if let largeBytes {
            let number = Self.numberCount - 1
            let item = items[number] ?? transaction.create(Into<DiskItem>())
            return [set(item, number, owner: nil, blobCount: largeBytes, &random)]
        }
        for _ in 0..<(1 + random.below(itemCount)) {
            let number = random.below(Self.numberCount)
            if let item = items[number], random.below(deletes ? 1 : 5) == 0 {
                transaction.delete(item)
                items[number] = nil
                changes.append(.delete(number: number))
                continue
            }
            let item = items[number] ?? transaction.create(Into<DiskItem>())
            items[number] = item
            let blobCount = random.below(3) > 0 ? -1 : random.below(blobBytesMax)
            let owner = items[random.below(Self.numberCount)]
            changes.append(set(item, number, owner: owner, blobCount: blobCount, &random))
        }
        return changes
    }

    private func set(
        _ item: DiskItem, _ number: Int, owner: DiskItem?, blobCount: Int,
        _ random: inout SeededRandom
    ) -> DiskChange {
        let seed = random.below(1 << 30)
        (item.number, item.tag) = (number, random.below(4))
        item.text = DiskRow.text(number, seed: seed)
        item.blob = DiskRow.blob(blobCount, seed: seed)
        item.owner = owner
        return .set(
            number: number, tag: item.tag, owner: owner?.number, seed: seed, blobCount: blobCount)
    }
}

/// Runs transactions; each notes its changes before it commits, and how it ended.
final class DiskAttempts: Sendable {
    /// Makes the changes and notes them, based on the content that the transaction sees. Returns
    /// the number.
    func make(
        _ edit: DiskEdit, _ transaction: BaseDataTransaction, _ notes: DiskNotes
    ) throws -> Int {
        let changes = try edit.apply(transaction)
        let head =
            try transaction.fetchOne(From<DiskHead>()) ?? transaction.create(Into<DiskHead>())
        let parent = head.attempt
        // Unique also among other runs of the program.
        let number = Int.random(in: 1..<1 << 60)
        head.attempt = number
        let lines = changes.map(\.line).joined(separator: "\n")
        notes.say("attempt \(number) \(parent)\n\(lines)")
        return number
    }

    /// Returns whether the transaction was committed.
    func commit(
        _ edit: DiskEdit, _ stack: DataStack, _ durability: Durability, _ notes: DiskNotes
    ) -> Bool {
        let number = Mutex<Int?>(nil)
        do {
            try stack.perform(
                synchronous: { transaction in
                    let made = try make(edit, transaction, notes)
                    number.withLock { $0 = made }
                }, durability: durability)
            let name = durability == .relaxed ? "relaxed" : "durable"
            notes.say("acknowledged \(number.withLock { $0 } ?? 0) \(name)")
            return true
        } catch {
            notes.say("failed \(number.withLock { $0 } ?? -1) \(notes.code(error))")
            return false
        }
    }
}
