import Foundation
import ObjectGraph
import Testing

/// A later property has the name of an earlier one, and is another one.
@Suite struct ReusedNameTests {
    enum V1 {
        final class Meeting: CoreStoreObject {
            @Field.Stored("number") var number: Int = 0
            @Field.Stored("date") var date: String = ""
            @Field.Stored("dateValue") var dateValue: Date?
            @Field.Stored("first") var first: String = ""
            @Field.Stored("last") var last: String = ""
            @Field.Relationship("guests") var guests: Set<Person>
            @Field.Relationship("people") var people: Set<Person>
        }
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("site") var site: String = ""
        }
    }

    enum V2 {
        final class Meeting: CoreStoreObject {
            @Field.Stored("number") var number: Int = 0
            /// Takes the name of a text that goes.
            @Field.Stored("date", previousVersionKeyPath: "dateValue") var date: Date?
            /// Swapped.
            @Field.Stored("first", previousVersionKeyPath: "last") var first: String = ""
            @Field.Stored("last", previousVersionKeyPath: "first") var last: String = ""
            @Field.Relationship("guests", previousVersionKeyPath: "people")
            var guests: Set<V1.Person>
        }
    }

    enum V3 {
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("site") var site: URL?
        }
    }

    enum V4 {
        final class Meeting: CoreStoreObject {
            /// The records are rewritten.
            @Field.Stored("number") var number: Double = 0
            @Field.Stored("date") var date: String = ""
            @Field.Stored("dateValue") var dateValue: Date?
            @Field.Stored("first", previousVersionKeyPath: "last") var first: String = ""
            @Field.Stored("last", previousVersionKeyPath: "first") var last: String = ""
            @Field.Relationship("guests", previousVersionKeyPath: "people")
            var guests: Set<V1.Person>
            @Field.Relationship("people", previousVersionKeyPath: "guests")
            var people: Set<V1.Person>
        }
    }

    enum Clubs {
        final class Club: CoreStoreObject {
            /// Only mirrors its inverse.
            @Field.Relationship("members", inverse: \.$club) var members: Set<Member>
            @Field.Relationship("guests", inverse: \.$visits) var guests: Set<Member>
        }
        final class Member: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("club") var club: Club?
            @Field.Relationship("visits") var visits: Set<Club>
        }
    }

    enum LaterClubs {
        final class Club: CoreStoreObject {
            /// Takes the name of one that goes, and has no inverse any more.
            @Field.Relationship("members", previousVersionKeyPath: "guests")
            var members: Set<Member>
        }
        final class Member: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
    }

    enum Before {
        final class Note: CoreStoreObject {
            @Field.Stored("text") var text: String?
            @Field.Stored("title") var title: String?
        }
    }

    enum After {
        final class Note: CoreStoreObject {
            @Field.Stored("text", previousVersionKeyPath: "title") var text: String = "none"
        }
    }

    enum Uncertain {
        final class Note: CoreStoreObject {
            @Field.Stored("text") var text: String?
            @Field.Stored("title") var title: String?
            @Field.Stored("heading", previousVersionKeyPath: "title") var heading: String?
        }
    }

    enum Swapped {
        final class Pair: CoreStoreObject {
            @Field.Stored("first", versionHashModifier: "2", previousVersionKeyPath: "last")
            var first: String = ""
            @Field.Stored("last", versionHashModifier: "2", previousVersionKeyPath: "first")
            var last: String = ""
        }
    }

    enum SwappedLongAgo {
        final class Pair: CoreStoreObject {
            @Field.Stored("first", versionHashModifier: "2") var first: String = ""
            @Field.Stored("last", versionHashModifier: "2") var last: String = ""
        }
    }

    enum Extended {
        final class Pair: CoreStoreObject {
            @Field.Stored("first", versionHashModifier: "2") var first: String = ""
            @Field.Stored("last", versionHashModifier: "2") var last: String = ""
            @Field.Stored("title") var title: String = "none"
        }
    }

    private let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("reused-\(UUID().uuidString).trellis")
    private let queue = DispatchQueue(label: "view")
    private static let people = Entity<V1.Person>("Person")

    private func stack(
        _ meetings: DynamicEntity, options: LocalStorageOptions = .none
    ) throws -> DataStack {
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V", entities: [meetings, Self.people]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(
            LocalStore(fileURL: url, localStorageOptions: options))
        return stack
    }

    private func fill() throws {
        let stack = try stack(Entity<V1.Meeting>("Meeting"))
        try stack.perform(synchronous: { transaction in
            for number in 0..<3 {
                let meeting = transaction.create(Into<V1.Meeting>())
                (meeting.number, meeting.date) = (number, "gone")
                meeting.dateValue = Date(timeIntervalSinceReferenceDate: Double(number))
                (meeting.first, meeting.last) = ("f\(number)", "l\(number)")
                for name in ["guest", "person"] {
                    let person = transaction.create(Into<V1.Person>())
                    person.name = "\(name)\(number)"
                    if name == "guest" {
                        meeting.guests.insert(person)
                    } else {
                        meeting.people.insert(person)
                    }
                }
            }
        })
        try queue.sync { try stack.close() }
    }

    @Test func `a property that takes the name of another one kept that one's values`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        try fill()
        let later = Entity<V2.Meeting>("Meeting")
        #expect(throws: CoreStoreError.self) { try stack(later) }
        // The second opening finds nothing to rename.
        for _ in 0..<2 {
            let stack = try stack(
                later, options: [.allowDataLoss, .allowSynchronousLightweightMigration])
            try queue.sync {
                let found = try stack.fetchAll(
                    From<V2.Meeting>().orderBy(.ascending(\.$number)))
                #expect(found.map(\.date?.timeIntervalSinceReferenceDate) == [0, 1, 2])
                #expect(found.map(\.first) == ["l0", "l1", "l2"])
                #expect(found.map(\.last) == ["f0", "f1", "f2"])
                #expect(
                    found.map { $0.guests.map(\.name) } == [["person0"], ["person1"], ["person2"]])
                try stack.close()
            }
        }
    }

    /// They were swapped back when the records had been rewritten.
    @Test func `properties were not swapped where another one has another type`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        try fill()
        for _ in 0..<2 {
            let stack = try stack(
                Entity<V4.Meeting>("Meeting"), options: .allowSynchronousLightweightMigration)
            try queue.sync {
                let found = try stack.fetchAll(
                    From<V4.Meeting>().orderBy(.ascending(\.$number)))
                #expect(found.map(\.number) == [0, 1, 2])
                #expect(found.map(\.first) == ["l0", "l1", "l2"])
                #expect(found.map(\.last) == ["f0", "f1", "f2"])
                #expect(
                    found.map { $0.guests.map(\.name) } == [["person0"], ["person1"], ["person2"]])
                #expect(
                    found.map { $0.people.map(\.name) } == [["guest0"], ["guest1"], ["guest2"]])
                try stack.close()
            }
        }
    }

    /// The default was given to the property that goes.
    @Test func `a required property with the name of another one had no value`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try stack(Entity<Before.Note>("Note"))
        try first.perform(synchronous: { transaction in
            for title in [nil, "kept"] {
                let note = transaction.create(Into<Before.Note>())
                (note.text, note.title) = ("gone", title)
            }
        })
        try queue.sync { try first.close() }
        let later = try stack(Entity<After.Note>("Note"), options: .allowDataLoss)
        try queue.sync {
            let found = try later.fetchAll(From<After.Note>().orderBy(.ascending(\.$text)))
            #expect(found.map(\.text) == ["kept", "none"])
            #expect(try later.fetchCount(From<After.Note>().where(\.$text == "none")) == 1)
            try later.close()
        }
    }

    @Test func `a relationship that takes a removed one's name keeps its links`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        func stack(_ entities: [DynamicEntity]) throws -> DataStack {
            let stack = DataStack(
                CoreStoreSchema(modelVersion: "V", entities: entities),
                viewContext: .queue(queue))
            try stack.addStorageAndWait(
                LocalStore(
                    fileURL: url,
                    localStorageOptions: [.allowDataLoss, .allowSynchronousLightweightMigration]))
            return stack
        }
        let first = try stack([Entity<Clubs.Club>("Club"), Entity<Clubs.Member>("Member")])
        try first.perform(synchronous: { transaction in
            let club = transaction.create(Into<Clubs.Club>())
            for (name, isGuest) in [("guest", true), ("member", false)] {
                let member = transaction.create(Into<Clubs.Member>())
                member.name = name
                if isGuest { club.guests.insert(member) } else { club.members.insert(member) }
            }
        })
        try queue.sync { try first.close() }
        let later = try stack([
            Entity<LaterClubs.Club>("Club"), Entity<LaterClubs.Member>("Member"),
        ])
        try queue.sync {
            let club = try #require(try later.fetchOne(From<LaterClubs.Club>()))
            #expect(club.members.map(\.name) == ["guest"])
            try later.close()
        }
    }

    /// The chain's version was not recognised, because it still states the earlier names: there was
    /// no route, and the file was made anew.
    @Test func `a file was erased whose version a chain knows by earlier names`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = DataStack(
            CoreStoreSchema(
                modelVersion: "V2.1", entities: [Entity<SwappedLongAgo.Pair>("Pair")]),
            viewContext: .queue(queue))
        try first.addStorageAndWait(LocalStore(fileURL: url))
        try first.perform(synchronous: { transaction in
            let pair = transaction.create(Into<SwappedLongAgo.Pair>())
            (pair.first, pair.last) = ("f", "l")
        })
        try queue.sync { try first.close() }
        let later = DataStack(
            schemaHistory: SchemaHistory(
                CoreStoreSchema(modelVersion: "V2", entities: [Entity<Swapped.Pair>("Pair")]),
                CoreStoreSchema(modelVersion: "V3", entities: [Entity<Extended.Pair>("Pair")]),
                migrationChain: ["V2", "V3"]),
            viewContext: .queue(queue))
        try later.addStorageAndWait(
            LocalStore(fileURL: url, localStorageOptions: .recreateStoreOnModelMismatch))
        try queue.sync {
            let pair = try #require(try later.fetchOne(From<Extended.Pair>()))
            #expect((pair.first, pair.last, pair.title) == ("f", "l", "none"))
            try later.close()
        }
    }

    /// A bug: it was thrown, as for a file that cannot be read.
    @Test func `an upgrade passes the refusal of a name to its completion`() async throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try stack(Entity<Before.Note>("Note"))
        try queue.sync { try first.close() }
        let later = DataStack(
            CoreStoreSchema(modelVersion: "W", entities: [Entity<Uncertain.Note>("Note")]),
            viewContext: .queue(queue))
        let storage = LocalStore(fileURL: url, localStorageOptions: .allowDataLoss)
        let result: MigrationResult = try await withCheckedThrowingContinuation { continuation in
            do {
                let progress = try later.upgradeStorageIfNeeded(storage) {
                    continuation.resume(returning: $0)
                }
                #expect(progress == nil)
            } catch {
                continuation.resume(throwing: error)
            }
        }
        guard case .failure(let error) = result else {
            Issue.record("the name was not refused")
            return
        }
        #expect(error.storeError?.code == .invalidArgument)
    }

    @Test func `a text that is no URL was the root folder`() async throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try stack(Entity<V1.Meeting>("Meeting"))
        try first.perform(synchronous: { transaction in
            for site in ["", "https://trellis.example"] {
                transaction.create(Into<V1.Person>()).site = site
            }
        })
        try queue.sync { try first.close() }
        let mapping = CustomSchemaMappingProvider(
            from: "V", to: "W",
            entityMappings: [
                .transformEntity(
                    sourceEntity: "Person", destinationEntity: "Person",
                    transformer: { source, create in
                        let person = create()
                        person["name"] = source["name"]
                        person["site"] = source["site"]
                    })
            ])
        let stack = DataStack(
            schemaHistory: SchemaHistory(
                CoreStoreSchema(
                    modelVersion: "V", entities: [Entity<V1.Meeting>("Meeting"), Self.people]),
                CoreStoreSchema(
                    modelVersion: "W",
                    entities: [Entity<Alone>("Meeting"), Entity<V3.Person>("Person")]),
                migrationChain: ["V", "W"]),
            viewContext: .queue(queue))
        let storage = LocalStore(fileURL: url, migrationMappingProviders: [mapping])
        for try await _ in stack.async.addStorage(storage) {}
        try queue.sync {
            let found = try stack.fetchAll(From<V3.Person>())
            #expect(Set(found.map(\.site)) == [nil, URL(string: "https://trellis.example")])
        }
    }

    private final class Alone: CoreStoreObject {
        @Field.Stored("number") var number: Int = 0
    }
}
