// The names of the guide begin in small letters.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import ObjectGraph
import Testing

/// Values of types that a program declares, by the names of the guide.
@MainActor @Suite struct OwnTypeTests {
    /// A number of Foundation's.
    struct Money: FieldStorableType, ImportableAttributeType, Comparable {
        var cents: Int64

        typealias FieldStoredNativeType = NSNumber
        typealias QueryableNativeType = NSNumber

        static var cs_rawAttributeType: NSAttributeType { .integer64AttributeType }

        static func cs_fromQueryableNativeType(_ value: NSNumber) -> Money? {
            Money(cents: value.int64Value)
        }
        func cs_toQueryableNativeType() -> NSNumber { NSNumber(value: cents) }

        static func < (left: Money, right: Money) -> Bool { left.cents < right.cents }
    }

    /// A text, without being the result of a query.
    struct Version: FieldStorableType, Equatable {
        var parts: [Int]

        static var cs_rawAttributeType: NSAttributeType { .stringAttributeType }

        static func cs_fromFieldStoredNativeType(_ value: NSString) -> Version {
            Version(parts: "\(value)".split(separator: ".").compactMap { Int($0) })
        }
        func cs_toFieldStoredNativeType() -> Any? {
            parts.map(String.init).joined(separator: ".") as NSString
        }
    }

    /// A number whose stored form is another one than that of conditions and queries.
    struct Rank: FieldStorableType, ImportableAttributeType {
        var place: Int64

        typealias FieldStoredNativeType = NSNumber
        typealias QueryableNativeType = NSNumber

        static var cs_rawAttributeType: NSAttributeType { .integer64AttributeType }
        static func cs_fromQueryableNativeType(_ value: NSNumber) -> Rank? {
            Rank(place: value.int64Value)
        }
        func cs_toQueryableNativeType() -> NSNumber { NSNumber(value: -place) }
        static func cs_fromFieldStoredNativeType(_ value: NSNumber) -> Rank {
            Rank(place: -value.int64Value)
        }
        func cs_toFieldStoredNativeType() -> Any? { NSNumber(value: -place) }
    }

    /// A flag, which Foundation's numbers do not tell from a number.
    struct Answer: FieldStorableType, Equatable {
        var isYes: Bool

        static var cs_rawAttributeType: NSAttributeType { .booleanAttributeType }
        static func cs_fromFieldStoredNativeType(_ value: NSNumber) -> Answer {
            Answer(isYes: value.boolValue)
        }
        func cs_toFieldStoredNativeType() -> Any? { NSNumber(value: isYes ? 1 : 0) }
    }

    class Article: CoreStoreObject {
        @Field.Stored("price") var price: Money = Money(cents: 5)
        @Field.Stored("discount") var discount: Money?
        @Field.Stored("version") var version: Version = Version(parts: [1, 0])
        @Field.Stored("answer") var answer: Answer = Answer(isYes: true)
        @Field.Stored("rank") var rank: Rank = Rank(place: 1)
        @Field.Stored("second") var second: Rank?
        @Field.Stored("length") var length: Duration = .seconds(1)
        @Field.Stored("pause") var pause: Duration?
    }

    private func stack() throws -> DataStack {
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Article>("Article", indexes: [[\.$price], [\.$length]])]))
        try dataStack.addStorageAndWait(InMemoryStore())
        try dataStack.perform(synchronous: { transaction in
            for cents in [700, 300, 1] as [Int64] {
                let article = transaction.create(Into<Article>())
                article.price = Money(cents: cents)
                article.length = .milliseconds(cents)
                article.answer = Answer(isYes: cents != 1)
                article.version = Version(parts: [2, Int(cents)])
            }
        })
        return dataStack
    }

    @Test func `a type of the program's own is stored as its native form`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            let article = transaction.create(Into<Article>())
            #expect(article.price == Money(cents: 5))
            #expect(article.discount == nil)
            #expect(article.version == Version(parts: [1, 0]))
            #expect(article.answer == Answer(isYes: true))
            article.discount = Money(cents: 2)
        })

        let one = try dataStack.fetchOne(From<Article>().where(\.$price == Money(cents: 1)))
        #expect(one?.version == Version(parts: [2, 1]))
        #expect(one?.answer == Answer(isYes: false))
        #expect(
            try dataStack.fetchCount(From<Article>().where(\.$answer == Answer(isYes: true))) == 3)
        #expect(
            try dataStack.fetchCount(From<Article>().where(\.$discount == Money(cents: 2))) == 1)
        #expect(try dataStack.fetchCount(From<Article>().where(\.$price > Money(cents: 5))) == 2)
        #expect(
            try dataStack.fetchCount(
                From<Article>().where([Money(cents: 1), Money(cents: 700)] ~= \.$price)) == 2)
    }

    @Test func `the stored form of an own type was decoded as if a query had returned it`() throws {
        let dataStack = try stack()
        try dataStack.perform(synchronous: { transaction in
            let article = try #require(
                try transaction.fetchOne(From<Article>().where(\.$price == Money(cents: 1))))
            #expect(article.rank == Rank(place: 1))
            (article.rank, article.second) = (Rank(place: 5), Rank(place: 6))
        })
        let article = try #require(
            try dataStack.fetchOne(From<Article>().where(\.$rank == Rank(place: 5))))
        #expect(article.rank == Rank(place: 5))
        #expect(article.second == Rank(place: 6))
    }

    @Test func `a query gives a type of the program's own`() throws {
        let dataStack = try stack()

        let highest = try dataStack.queryValue(
            From<Article>().select(Money.self, .maximum(\.$price)))
        #expect(highest == Money(cents: 700))
        let first = try dataStack.queryValue(
            From<Article>().select(\.$price).orderBy(.ascending(\.$price)))
        #expect(first == Money(cents: 1))
    }

    @Test func `durations are exact, ordered and can be summed`() throws {
        let dataStack = try stack()
        let odd = Duration(secondsComponent: -9_000_000_000, attosecondsComponent: -1)
        let long = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
        let ends = [Duration(attoseconds: .min), Duration(attoseconds: .max)]
        try dataStack.perform(synchronous: { transaction in
            #expect(transaction.create(Into<Article>()).length == .seconds(1))
            transaction.create(Into<Article>()).pause = odd
            transaction.create(Into<Article>()).pause = long
            for end in ends { transaction.create(Into<Article>()).pause = end }
        })

        let lengths = try dataStack.fetchAll(
            From<Article>().where(\.$length < .seconds(1)).orderBy(.descending(\.$length)))
        #expect(
            lengths.map(\.length) == [.milliseconds(700), .milliseconds(300), .milliseconds(1)])
        #expect(try dataStack.fetchOne(From<Article>().where(\.$pause == odd))?.pause == odd)
        let longer = From<Article>().where(\.$pause > odd).orderBy(.ascending(\.$pause))
        #expect(try dataStack.fetchAll(longer).map(\.pause) == [long, ends[1]])
        #expect(try dataStack.fetchOne(From<Article>().where(\.$pause < odd))?.pause == ends[0])
        let sum = try dataStack.queryValue(
            From<Article>().select(Duration.self, .sum(\.$length))
                .where(\.$length < .seconds(1)))
        #expect(sum == .milliseconds(1001))
    }
}
