import Foundation
import ObjectGraph
import RecordStore
import TestSupport

/// One version of the family.
struct FamilyVersion: Sendable {
    let schema: CoreStoreSchema
    /// The entities that have objects.
    let entities: [any FamilyEntity]

    var model: SchemaDescription { schema.description(for: nil) }

    static let all = [
        FamilyVersion(
            schema: CoreStoreSchema(
                modelVersion: "F1",
                entities: [Entity<F1.Item>("Item", indexes: [[\.$name]]), Entity<F1.Box>("Box")]),
            entities: [FamilyKind<F1.Item>("Item"), FamilyKind<F1.Box>("Box")]),
        FamilyVersion(
            schema: CoreStoreSchema(
                modelVersion: "F2",
                entities: [
                    Entity<F2.Item>("Item", indexes: [[\.$name], [\.$size]]),
                    Entity<F2.Box>("Box"), Entity<F2.Shelf>("Shelf"),
                ]),
            entities: [
                FamilyKind<F2.Item>("Item"), FamilyKind<F2.Box>("Box"),
                FamilyKind<F2.Shelf>("Shelf"),
            ]),
        FamilyVersion(
            schema: CoreStoreSchema(
                modelVersion: "F3",
                entities: [
                    Entity<F3.Thing>("Thing", isAbstract: true, indexes: [[\.$rank]]),
                    Entity<F3.Item>("Item", indexes: [[\.$size]]), Entity<F3.Box>("Box"),
                    Entity<F3.Shelf>("Shelf"),
                ]),
            entities: [
                FamilyKind<F3.Item>("Item"), FamilyKind<F3.Box>("Box"),
                FamilyKind<F3.Shelf>("Shelf"),
            ]),
        FamilyVersion(
            schema: CoreStoreSchema(
                modelVersion: "F4",
                entities: [
                    Entity<F4.Thing>(
                        "Thing", isAbstract: true, uniqueConstraints: [[\.$uid]]),
                    Entity<F4.Item>("Item", indexes: [[\.$size, \.$name]]),
                    Entity<F4.Crate>("Crate", previousName: "Box", indexes: [[\.$label]]),
                ]),
            entities: [FamilyKind<F4.Item>("Item"), FamilyKind<F4.Crate>("Crate")]),
        FamilyVersion(
            schema: CoreStoreSchema(
                modelVersion: "F5",
                entities: [
                    Entity<F5.Item>("Item", indexes: [[\.$first]], uniqueConstraints: [[\.$uid]]),
                    Entity<F5.Crate>("Crate", previousName: "Box"),
                ]),
            entities: [FamilyKind<F5.Item>("Item"), FamilyKind<F5.Crate>("Crate")]),
    ]
}

/// The first version.
enum F1 {
    final class Item: CoreStoreObject, FamilyObject {
        @Field.Stored("uid") var uid: Int = 0
        @Field.Stored("name") var name: String = ""
        @Field.Stored("size") var size: Int32 = 0
        @Field.Stored("price") var price: Float = 0
        @Field.Stored("tag") var tag: String?
        @Field.Stored("note") var note: Data?
        @Field.Stored("at") var at: Date?
        @Field.Stored("seal") var seal: Int?
        @Field.Relationship("previous", inverse: \.$next) var previous: Item?
        @Field.Relationship("next") var next: Item?
        @Field.Relationship("box") var box: Box?

        var content: [String: Value] {
            [
                "uid": .of(uid), "name": .of(name), "size": .of(size), "price": .of(price),
                "tag": .of(tag), "note": .of(note), "at": .of(at), "seal": .of(seal),
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
            (size, price) = (Int32(random.below(50)), Float(random.below(100)) / 4)
            (tag, note) = (FamilyValue.label(&random), FamilyValue.bytes(&random))
            at = FamilyValue.date(&random)
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {
            seal = random.below(2) == 0 ? nil : random.below(9)
            previous = pool.pick(Item.self, &random)
            box = pool.pick(Box.self, &random)
        }
    }
    final class Box: CoreStoreObject, FamilyObject {
        @Field.Stored("uid") var uid: Int = 0
        @Field.Stored("label") var label: String = ""
        @Field.Relationship("items", inverse: \.$box) var items: Set<Item>

        var content: [String: Value] { ["uid": .of(uid), "label": .of(label)] }
        var linked: [String: [any FamilyObject]] { ["items": Array(items)] }
        func fill(_ uid: Int, _ random: inout SeededRandom) {
            (self.uid, label) = (uid, FamilyValue.text(&random))
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {}
    }
}

/// What the catalog alone can follow: a wider number, names, an optional property, new ones, and a
/// new entity.
enum F2 {
    final class Item: CoreStoreObject, FamilyObject {
        @Field.Stored("uid") var uid: Int = 0
        @Field.Stored("name") var name: String = ""
        @Field.Stored("size") var size: Int = 0
        @Field.Stored("price") var price: Float = 0
        @Field.Stored("mark", previousVersionKeyPath: "tag") var mark: String?
        @Field.Stored("note") var note: Data?
        @Field.Stored("at") var at: Date?
        @Field.Stored("rank") var rank: Int = 7
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
            (size, price) = (random.below(50), Float(random.below(100)) / 4)
            (mark, note) = (FamilyValue.label(&random), FamilyValue.bytes(&random))
            (at, rank) = (FamilyValue.date(&random), random.below(9))
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {
            (stamp, seal) = (random.below(9), random.below(9))
            previous = pool.pick(Item.self, &random)
            box = pool.pick(Box.self, &random)
        }
    }
    final class Box: CoreStoreObject, FamilyObject {
        @Field.Stored("uid") var uid: Int = 0
        @Field.Stored("label") var label: String?
        @Field.Relationship("items", inverse: \.$box) var items: Set<Item>
        @Field.Relationship("shelf", inverse: \.$boxes) var shelf: Shelf?

        var content: [String: Value] { ["uid": .of(uid), "label": .of(label)] }
        var linked: [String: [any FamilyObject]] {
            ["items": Array(items), "shelf": [shelf].compactMap { $0 }]
        }
        func fill(_ uid: Int, _ random: inout SeededRandom) {
            (self.uid, label) = (uid, FamilyValue.label(&random))
        }
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {
            shelf = pool.pick(Shelf.self, &random)
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
        func link(_ pool: FamilyPool, _ random: inout SeededRandom) {}
    }
}
