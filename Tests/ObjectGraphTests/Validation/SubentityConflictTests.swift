import Foundation
import ObjectGraph
import Testing

private class Beast: CoreStoreObject {
    @Field.Stored("code") var code: String?
}

private final class Wolf: Beast {
    @Field.Stored("breed") var breed: String = ""
    @Field.Stored("age") var age: Int = 3
    @Field.Stored("size") var size: Int = 5
    @Field.Relationship("favourite") var favourite: Trinket?
}

private final class Lynx: Beast {
    @Field.Stored("colour") var colour: String = "grey"
    @Field.Stored("lives") var lives: Int = 9
    @Field.Stored("size") var size: String = "small"
    @Field.Stored("eyes") var eyes: Int = 2
    @Field.Relationship("favourite") var favourite: Trinket?
}

private final class Trinket: CoreStoreObject {
    @Field.Stored("label") var label: String = ""
}

private final class Track: CoreStoreObject {
    @Field.Stored("code") var code: String = ""
    @Field.Relationship("playlist", inverse: \.$tracks) var playlist: Playlist?
}

private final class Playlist: CoreStoreObject {
    @Field.Relationship("tracks") var tracks: [Track]
}

private final class Player: CoreStoreObject {
    @Field.Stored("code") var code: String = ""
}

private final class Score: CoreStoreObject {
    @Field.Stored("level") var level: Int = 0
    @Field.Relationship("player") var player: Player?
}

private final class Account: CoreStoreObject {
    @Field.Stored("code") var code: String = ""
    @Field.Relationship("card", inverse: \.$account, deleteRule: .cascade) var card: Card?
}

private final class Card: CoreStoreObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Relationship("account") var account: Account?
}

private final class Den: CoreStoreObject {
    @Field.Relationship("pack") var pack: Wolf?
    @Field.Relationship("all") var all: [Wolf]
    @Field.Relationship("any") var any: Beast?
}

private final class Car: CoreStoreObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Relationship("next", deleteRule: .cascade) var next: Car?
    @Field.Relationship("previous", inverse: \.$next) var previous: Car?
}

private final class Topic: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
    @Field.Relationship("children", deleteRule: .cascade) var children: Set<Topic>
    @Field.Relationship("parent", inverse: \.$children) var parent: Topic?
}

/// What becomes of the loser of a unique conflict.
@Suite struct SubentityConflictTests {
    private func stack(_ policy: UniqueConflictPolicy = .transactionWins) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Beast>(
                        "Beast", uniqueConstraints: [[\.$code]], conflictPolicies: [policy]),
                    Entity<Wolf>("Wolf"), Entity<Den>("Den"),
                    Entity<Car>(
                        "Car", uniqueConstraints: [[\.$number]], conflictPolicies: [policy]),
                    Entity<Topic>(
                        "Topic", uniqueConstraints: [[\.$name]], conflictPolicies: [policy]),
                    Entity<Lynx>("Lynx"), Entity<Trinket>("Trinket"),
                    Entity<Track>("Track", uniqueConstraints: [[\.$code]]),
                    Entity<Playlist>("Playlist"),
                    Entity<Player>("Player", uniqueConstraints: [[\.$code]]),
                    Entity<Score>("Score", uniqueConstraints: [[\.$player, \.$level]]),
                    Entity<Account>("Account", uniqueConstraints: [[\.$code]]),
                    Entity<Card>("Card"),
                ]), viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test func `a conflict of two subclasses wrote a link into another property`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { $0.create(Into<Lynx>()).code = "x" })
        try stack.perform(synchronous: { transaction in
            let wolf = transaction.create(Into<Wolf>())
            wolf.code = "x"
            (wolf.age, wolf.size) = (4, 8)
            for _ in 0..<3 { wolf.favourite = transaction.create(Into<Trinket>()) }
        })
        try stack.perform(synchronous: { transaction in
            let beasts = try transaction.fetchAll(From<Beast>())
            let lynx = try #require(beasts.first as? Lynx)
            #expect(beasts.count == 1)
            #expect((lynx.colour, lynx.lives, lynx.size, lynx.eyes) == ("grey", 9, "small", 2))
            #expect(lynx.favourite == nil)
        })
    }

    @Test(arguments: [false, true])
    func `the survivor of a conflict came last in ordered lists`(isListed: Bool) throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for code in ["2", "3"] {
                let track = transaction.create(Into<Track>())
                track.code = code
                if isListed { track.playlist = transaction.create(Into<Playlist>()) }
            }
        })
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Playlist>()).tracks = ["1", "2", "3", "4"].map { code in
                let track = transaction.create(Into<Track>())
                track.code = code
                return track
            }
        })
        try stack.perform(synchronous: { transaction in
            let lists = try transaction.fetchAll(From<Playlist>()).map { $0.tracks.map(\.code) }
            #expect(lists.filter { !$0.isEmpty } == [["1", "2", "3", "4"]])
            #expect(try transaction.fetchCount(From<Track>()) == 4)
        })
    }

    @Test func `a survivor's links made two objects of one unique value`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for code in ["a", "b"] {
                let player = transaction.create(Into<Player>())
                player.code = code
                let score = transaction.create(Into<Score>())
                (score.player, score.level) = (player, 1)
            }
        })
        try stack.perform(synchronous: { transaction in
            try transaction.fetchOne(From<Player>().where(\.$code == "b"))?.code = "a"
        })
        let counts = try stack.perform(synchronous: { transaction in
            (try transaction.fetchCount(From<Player>()), try transaction.fetchCount(From<Score>()))
        })
        #expect(counts == (1, 1))
    }

    @Test func `what only the loser of a conflict leads to is deleted by its cascade`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let account = transaction.create(Into<Account>())
            (account.code, account.card) = ("a", transaction.create(Into<Card>()))
            let other = transaction.create(Into<Account>())
            (other.code, other.card) = ("b", transaction.create(Into<Card>()))
        })
        try stack.perform(synchronous: { transaction in
            try transaction.fetchOne(From<Account>().where(\.$code == "b"))?.code = "a"
        })
        try stack.perform(synchronous: { transaction in
            #expect(try transaction.fetchCount(From<Account>()) == 1)
            let cards = try transaction.fetchAll(From<Card>())
            #expect(cards.count == 1 && cards.first?.account != nil)
        })
    }

    /// They led to the survivor, which is of another class, and were read as nil or damaged.
    @Test(arguments: [UniqueConflictPolicy.transactionWins, .storeWins])
    func `links to the loser of a conflict led to an object of another class`(
        policy: UniqueConflictPolicy
    ) throws {
        let stack = try stack(policy)
        try stack.perform(synchronous: { $0.create(Into<Lynx>()).code = "x" })
        try stack.perform(synchronous: { transaction in
            let wolf = transaction.create(Into<Wolf>())
            let den = transaction.create(Into<Den>())
            (den.pack, den.all, den.any) = (wolf, [wolf], wolf)
            wolf.code = "x"
        })
        try stack.perform(synchronous: { transaction in
            let den = try #require(try transaction.fetchOne(From<Den>()))
            #expect(den.pack == nil && den.all.isEmpty)
            #expect(den.any is Lynx)
            #expect(try transaction.fetchCount(From<Den>().where(\.$pack == nil)) == 1)
        })
    }

    /// The cascade of the loser deleted the survivor, directly or through others.
    @Test(
        arguments: [UniqueConflictPolicy.transactionWins, .storeWins, .replace], [2, 3])
    func `the deletion of the loser cascaded to the survivor of a conflict`(
        policy: UniqueConflictPolicy, number: Int
    ) throws {
        let stack = try stack(policy)
        try stack.perform(synchronous: { transaction in
            var last: Car?
            for number in (1...4).reversed() {
                let car = transaction.create(Into<Car>())
                (car.number, car.next) = (number, last)
                last = car
            }
        })
        try stack.perform(synchronous: { transaction in
            let first = try #require(try transaction.fetchOne(From<Car>().where(\.$number == 1)))
            first.number = number
        })
        try stack.perform(synchronous: { transaction in
            let numbers = try transaction.fetchAll(
                From<Car>().orderBy(.ascending(\.$number))
            ).map(\.number)
            #expect(numbers.contains(number), "\(numbers)")
            for car in try transaction.fetchAll(From<Car>()) {
                #expect(car.next !== car && car.next.map { $0.previous === car } ?? true)
            }
        })
    }

    /// The survivor became its own parent, and what was above the loser was lost.
    @Test func `a survivor below the loser takes the loser's place`() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let (root, middle, leaf) = (
                transaction.create(Into<Topic>()), transaction.create(Into<Topic>()),
                transaction.create(Into<Topic>())
            )
            (root.name, middle.name, leaf.name) = ("root", "middle", "leaf")
            (middle.parent, leaf.parent) = (root, middle)
        })
        try stack.perform(synchronous: { transaction in
            let middle = try transaction.fetchOne(From<Topic>().where(\.$name == "middle"))
            middle?.name = "leaf"
        })
        try stack.perform(synchronous: { transaction in
            let topics = try transaction.fetchAll(From<Topic>().orderBy(.ascending(\.$name)))
            #expect(topics.map(\.name) == ["leaf", "root"])
            #expect(topics.first?.parent === topics.last && topics.first?.children == [])
        })
    }
}
