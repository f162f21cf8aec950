import Foundation
import ObjectGraph
import RecordStore
import TestSupport

/// One superentity above two that had none, a property that moves up, other types, and a list.
enum F3 {
    class Thing: CoreStoreObject {
        @Field.Stored("uid") var uid: Int = 0
        @Field.Stored("rank") var rank: Int = 3
    }
    final class Item: Thing, FamilyObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("size") var size: Double = 0
        @Field.Stored("price") var price: Double = 0
        @Field.Stored("mark", previousVersionKeyPath: "tag") var mark: String?
        @Field.Stored("note") var note: Data?
        @Field.Stored("at") var at: Date?
        @Field.Stored("stamp", dynamicInitialValue: { FamilyValue.stamp }) var stamp: Int
        @Field.Stored("seal", dynamicInitialValue: { FamilyValue.seal }) var seal: Int
        @Field.Relationship("previous", inverse: \.$next) var previous: Item?
        @Field.Relationship("next") var next: Item?
        @Field.Relationship("box") var box: Box?

        var content: [String: Value] {
            [
                "uid": .of(uid), "name": .of(name), "size": .of(size), "price": .of(price),
                "mark": .of(mark), "note": .of(note), "at": .of(at), "rank": .of(rank),
                "stamp": .of(stamp), "seal": .of(seal),
            ]
        }
        var linked: [String: [any FamilyObject]] {
            [
                "previous": [previous].compactMap { $0 }, "next": [next].compactMap { $0 },
                "box": [box].compactMap { $0 },
            ]
        }
        func fill(_ uid: Int, _ random: inout SeededRandom) {
            (self.uid, name) = (uid, FamilyValue.text(&random))
            (size, price) = (Double(random.below(50)), Double(random.below(100)) / 4)
            (mark, note) = (FamilyValue.label(&random), FamilyValue.bytes(&random))
            (at, rank) = (FamilyValue.date(&random), random.below(9))
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {
            (stamp, seal) = (random.below(9), random.below(9))
            previous = pool.pick(Item.self, &random)
            box = pool.pick(Box.self, &random)
        }
    }
    final class Box: Thing, FamilyObject {
        @Field.Stored("label") var label: String?
        @Field.Relationship("items", inverse: \.$box) var items: [Item]
        @Field.Relationship("shelf", inverse: \.$boxes) var shelf: Shelf?

        var content: [String: Value] {
            ["uid": .of(uid), "label": .of(label), "rank": .of(rank)]
        }
        var linked: [String: [any FamilyObject]] {
            ["items": items, "shelf": [shelf].compactMap { $0 }]
        }
        func fill(_ uid: Int, _ random: inout SeededRandom) {
            (self.uid, label, rank) = (uid, FamilyValue.label(&random), random.below(9))
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {
            shelf = pool.pick(Shelf.self, &random)
            if random.below(3) == 0 { items = pool.some(Item.self, &random) }
        }
    }
    final class Shelf: CoreStoreObject, FamilyObject {
        @Field.Stored("uid") var uid: Int = 0
        @Field.Stored("title") var title: String = "new"
        @Field.Relationship("boxes") var boxes: [Box]

        var content: [String: Value] { ["uid": .of(uid), "title": .of(title)] }
        var linked: [String: [any FamilyObject]] { ["boxes": boxes] }
        func fill(_ uid: Int, _ random: inout SeededRandom) {
            (self.uid, title) = (uid, FamilyValue.text(&random))
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {
            boxes = pool.some(Box.self, &random)
        }
    }
}

/// A property and an entity that go, another name of an entity, a unique constraint, and a to-many
/// in the place of a to-one.
enum F4 {
    class Thing: CoreStoreObject {
        @Field.Stored("uid") var uid: Int = 0
        @Field.Stored("rank") var rank: Int = 3
    }
    final class Item: Thing, FamilyObject {
        @Field.Stored("name") var name: String = ""
        @Field.Stored("size") var size: Double = 0
        @Field.Stored("price") var price: Double = 0
        @Field.Stored("mark") var mark: String?
        @Field.Stored("note") var note: Data?
        @Field.Stored("stamp", dynamicInitialValue: { FamilyValue.stamp }) var stamp: Int
        @Field.Stored("seal", dynamicInitialValue: { FamilyValue.seal }) var seal: Int
        @Field.Relationship("previous", inverse: \.$next) var previous: Item?
        @Field.Relationship("next") var next: Item?
        @Field.Relationship("box", inverse: \.$items) var box: [Crate]

        var content: [String: Value] {
            [
                "uid": .of(uid), "name": .of(name), "size": .of(size), "price": .of(price),
                "mark": .of(mark), "note": .of(note), "rank": .of(rank),
                "stamp": .of(stamp), "seal": .of(seal),
            ]
        }
        var linked: [String: [any FamilyObject]] {
            [
                "previous": [previous].compactMap { $0 }, "next": [next].compactMap { $0 },
                "box": box,
            ]
        }
        func fill(_ uid: Int, _ random: inout SeededRandom) {
            (self.uid, name) = (uid, FamilyValue.text(&random))
            (size, price) = (Double(random.below(50)), Double(random.below(100)) / 4)
            (mark, note) = (FamilyValue.label(&random), FamilyValue.bytes(&random))
            rank = random.below(9)
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {
            (stamp, seal) = (random.below(9), random.below(9))
            previous = pool.pick(Item.self, &random)
            box = pool.some(Crate.self, &random)
        }
    }
    final class Crate: Thing, FamilyObject {
        @Field.Stored("label") var label: String?
        @Field.Relationship("items") var items: [Item]

        var content: [String: Value] {
            ["uid": .of(uid), "label": .of(label), "rank": .of(rank)]
        }
        var linked: [String: [any FamilyObject]] { ["items": items] }
        func fill(_ uid: Int, _ random: inout SeededRandom) {
            (self.uid, label, rank) = (uid, FamilyValue.label(&random), random.below(9))
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {}
    }
}

/// Two properties in the place of one, a property that must have a value, and two roots again.
enum F5 {
    final class Item: CoreStoreObject, FamilyObject {
        @Field.Stored("uid") var uid: Int = 0
        @Field.Stored("first") var first: String?
        @Field.Stored("second") var second: String?
        @Field.Stored("price") var price: Double = 0
        @Field.Stored("mark") var mark: String = "none"
        @Field.Stored("note") var note: Data?
        @Field.Stored("stamp", dynamicInitialValue: { FamilyValue.stamp }) var stamp: Int
        @Field.Stored("seal", dynamicInitialValue: { FamilyValue.seal }) var seal: Int
        @Field.Relationship("previous", inverse: \.$next) var previous: Item?
        @Field.Relationship("next") var next: Item?
        @Field.Relationship("box", inverse: \.$items) var box: Set<Crate>

        var content: [String: Value] {
            [
                "uid": .of(uid), "first": .of(first), "second": .of(second),
                "price": .of(price), "mark": .of(mark), "note": .of(note),
                "stamp": .of(stamp), "seal": .of(seal),
            ]
        }
        var linked: [String: [any FamilyObject]] {
            [
                "previous": [previous].compactMap { $0 }, "next": [next].compactMap { $0 },
                "box": Array(box),
            ]
        }
        func fill(_ uid: Int, _ random: inout SeededRandom) {
            (self.uid, first) = (uid, FamilyValue.text(&random))
            (price, note) = (Double(random.below(100)) / 4, FamilyValue.bytes(&random))
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {
            (stamp, seal) = (random.below(9), random.below(9))
            previous = pool.pick(Item.self, &random)
        }
    }
    final class Crate: CoreStoreObject, FamilyObject {
        @Field.Stored("uid") var uid: Int = 0
        @Field.Stored("label") var label: String?
        @Field.Relationship("items") var items: Set<Item>

        var content: [String: Value] { ["uid": .of(uid), "label": .of(label)] }
        var linked: [String: [any FamilyObject]] { ["items": Array(items)] }
        func fill(_ uid: Int, _ random: inout SeededRandom) {
            (self.uid, label) = (uid, FamilyValue.label(&random))
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {
            items = Set(pool.some(Item.self, &random))
        }
    }
}
