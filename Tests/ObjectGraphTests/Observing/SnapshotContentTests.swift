import Dispatch
import TestSupport
import Testing

@testable import ObjectGraph

private final class Book: CoreStoreObject {
    @Field.Stored("year") var year: Int = 0
    @Field.Coded("pages", coder: FieldCoders.Json.self) var pages: Int?
    @Field.Virtual(
        "decade",
        customGetter: { object, _ in
            object.$year.value == 0 ? nil : object.$year.value / 10 * 10
        })
    var decade: Int?
}

/// What snapshots of lists and objects answer.
@Suite(.timeLimit(.minutes(hangMinutes))) struct SnapshotContentTests {
    private static var chain: SectionMonitorChainBuilder<Dog> {
        From<Dog>().sectionBy(\.$age).orderBy(.ascending(\.$age), .ascending(\.$nickname))
    }

    private static var byName: SectionMonitorChainBuilder<Dog> {
        From<Dog>().sectionBy(\.$age).orderBy(.ascending(\.$nickname))
    }

    // MARK: Lists

    @Test func `IDs by indices of a section came in the order of an index set`() throws {
        try Zoo.withDogs([0, 0, 0, 1]) { stack, ids in
            let list = stack.publishList(Self.chain).snapshot
            let indices = [2, 0, 0]
            let expected = [ids[2], ids[0], ids[0]]
            #expect(list.itemIDs(inSectionWithID: "0", atIndices: indices) == expected)
            #expect(
                list.items(inSectionWithID: "0", atIndices: indices).map { $0.objectID() }
                    == expected)
            #expect(
                list.lazy(inSectionWithID: "0", atIndices: indices).map { $0.objectID() }
                    == expected)
            #expect(list.lazy(atIndices: [3, 0]).map { $0.objectID() } == [ids[3], ids[0]])
            #expect(list.itemIDs(inSectionWithID: "0", atIndices: 0..<3) == Array(ids[..<3]))
            #expect(list.items(inSectionWithID: "1").map { $0.objectID() } == [ids[3]])
            #expect(list.numberOfItems(inSectionIndex: 1) == 1)
            #expect(list.hasItems(inSectionIndex: 1) && !list.hasItems(inSectionIndex: 2))
            #expect(list.indexOfSection(withID: "1") == 1)
            #expect(list.indexOfSection(withID: "2") == nil)
        }
    }

    @Test func `the section of an item was the first one with its name`() throws {
        try Zoo.withDogs([1, 2, 1]) { stack, ids in
            var list = stack.publishList(Self.byName).snapshot
            #expect(list.sectionIDs == ["1", "2", "1"])
            #expect(list.section(containingItemWithID: ids[2])?.itemIDs == [ids[2]])
            #expect(list.indexOfSection(withID: "1") == 0)
            list.appendItems(with: [], toSectionAt: 0)
            #expect(list.section(containingItemWithID: ids[2])?.itemIDs == [ids[2]])
            #expect(list.sections().map(\.itemIDs) == ids.map { [$0] })
        }
    }

    @Test func `a section with the same items was another one after each commit`() throws {
        try Zoo.withDogs([0, 1]) { stack, _ in
            let publisher = stack.publishList(Self.chain)
            let before = publisher.snapshot.sections()
            try stack.perform(synchronous: { $0.create(Into<Dog>()).age = 1 })
            let after = publisher.snapshot.sections()
            #expect(before[0] == after[0] && before[0].hashValue == after[0].hashValue)
            #expect(before[1] != after[1] && before[0] != before[1])
        }
    }

    @Test func `safe subscripts stopped the program without a stack`() throws {
        let list = try {
            let (stack, queue) = try Zoo.stack()
            try stack.perform(synchronous: { $0.create(Into<Dog>()).age = 0 })
            return queue.sync { stack.publishList(Self.chain).snapshot }
        }()
        #expect(list.count == 1 && list[safeIndex: 0] == nil && list[0..<1].isEmpty)
        #expect(list[safeSectionIndex: 0, safeItemIndex: 0] == nil)
        #expect(list[safeIndexPath: IndexPath(indexes: [0, 0])] == nil)
        var own = ListSnapshot<Dog>()
        own.appendSections(withIDs: ["own"])
        own.appendItems(withIDs: list.itemIDs, toSectionWithID: "own")
        #expect(own[safeIndex: 0] == nil && own.itemIDs == list.itemIDs)
    }

    @Test func `an empty slice began at zero`() throws {
        try Zoo.withDogs([0, 0, 1]) { stack, _ in
            let list = stack.publishList(Self.chain).snapshot
            for index in 0...3 { #expect(list[index..<index].startIndex == index) }
        }
    }

    @Test func `copies of an edited list are edited apart`() throws {
        try Zoo.withDogs([0, 0, 1]) { stack, ids in
            var first = stack.publishList(Self.chain).snapshot
            first.deleteItems(withIDs: [ids[1]])
            var second = first
            second.appendItems(withIDs: [ids[1]], toSectionWithID: "0")
            first.deleteItems(at: [IndexPath(indexes: [1, 0]), IndexPath(indexes: [0, 0])])
            #expect(first.itemIDs == [] && first.sectionIDs == ["0", "1"])
            #expect(second.itemIDs == [ids[0], ids[1], ids[2]])
            #expect(second[1..<3].map { $0.objectID() } == [ids[1], ids[2]])
            #expect(second.sections().map(\.itemIDs) == [[ids[0], ids[1]], [ids[2]]])
        }
    }

    @Test func `two empty lists differed by a section that neither has`() throws {
        let stack = DataStack(Zoo.schema())
        let plain = ListSnapshot<Dog>(
            ListedContent(ListFeed.empty(.none), [], nil), .none, stack.link)
        let sectioned = ListSnapshot<Dog>(
            ListedContent(ListFeed.empty(SectionRule("age", nil)), [], nil), .none,
            stack.link)
        #expect(sectioned.changes(since: plain).isEmpty)
        #expect(plain.changes(since: sectioned).isEmpty)
    }

    @Test func `a list in descending order of its objects went out of order`() throws {
        try Zoo.withDogs([0, 0]) { stack, _ in
            let order = OrderBy<Dog>(.descending("self"))
            let publisher = stack.publishList(From<Dog>(), order)
            for _ in 0..<3 {
                try stack.perform(synchronous: { $0.create(Into<Dog>()).age = 1 })
                #expect(
                    try publisher.snapshot.itemIDs == stack.fetchObjectIDs(From<Dog>(), order))
            }
        }
    }

    // MARK: Objects

    private func withBook(
        year: Int, pages: Int? = nil, _ body: (DataStack, NSManagedObjectID) throws -> Void
    ) throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Book>("Book")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        let id = try stack.perform(synchronous: { transaction in
            let book = transaction.create(Into<Book>())
            (book.year, book.pages) = (year, pages)
            return book.objectID()
        })
        try queue.sync { try body(stack, id) }
    }

    @Test func `sections by a computed optional were named by the optional`() throws {
        try withBook(year: 1984, pages: 5) { stack, _ in
            let decades = stack.publishList(
                From<Book>().sectionBy(\.$decade).orderBy(.ascending(\.$year)))
            #expect(decades.snapshot.sectionIDs == ["1980"])
            let pages = stack.publishList(
                From<Book>().sectionBy(\.$pages).orderBy(.ascending(\.$year)))
            #expect(pages.snapshot.sectionIDs == ["5"])
            _ = try stack.perform(synchronous: { try $0.deleteAll(From<Book>()) })
            try stack.perform(synchronous: { _ = $0.create(Into<Book>()) })
            #expect(decades.snapshot.sectionIDs == [""] && pages.snapshot.sectionIDs == [""])
        }
    }

    @Test func `the values of a snapshot had optionals that are nil`() throws {
        try withBook(year: 1984) { stack, id in
            let publisher: ObjectPublisher<Book> = stack.publishObject(id)
            let values = try #require(publisher.snapshot).dictionaryForValues()
            #expect(values.keys.sorted() == ["decade", "year"])
            #expect(values["decade"] as? Int == 1980)
        }
    }

    private enum Kind: Int, FieldStorableType, ImportableAttributeType {
        case small = 1
        case large
    }

    private final class Parcel: CoreStoreObject {
        @Field.Stored("kind") var kind: Kind = .large
        @Field.Stored("other") var other: Kind? = .small
        @Field.Stored("none") var none: Kind?
        @Field.Stored("weight") var weight: Int16 = 3
        @Field.Stored("site") var site: URL?
        @Field.Stored("price") var price: Float? = 0.1
    }

    @Test func `the values of a snapshot had the types of the store`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Parcel>("Parcel")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        let id = try stack.perform(synchronous: { $0.create(Into<Parcel>()).objectID() })
        try queue.sync {
            let publisher: ObjectPublisher<Parcel> = stack.publishObject(id)
            let values = try #require(publisher.snapshot).dictionaryForValues()
            #expect(values.keys.sorted() == ["kind", "other", "price", "weight"])
            #expect(values["kind"] as? Kind == .large)
            #expect(values["other"] as? Kind == .small)
            #expect(values["weight"] as? Int16 == 3)
            #expect(values["price"] as? Float == 0.1)
        }
    }

    @Test func `a set of links differed by the order in which it was assigned`() throws {
        let (stack, queue) = try Zoo.stack()
        let id = try stack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.pets = Set((0..<20).map { _ in transaction.create(Into<Animal>()) })
            return person.objectID()
        })
        try queue.sync {
            let publisher: ObjectPublisher<Person> = stack.publishObject(id)
            let snapshot = try #require(publisher.snapshot)
            var copy = snapshot
            copy.$pets = copy.$pets
            #expect(copy == snapshot)
            copy.$pets = []
            #expect(copy != snapshot)
        }
    }

    /// As the message of a test does that compares two of them and fails.
    private func reflect(_ value: Any, _ seen: inout Set<ObjectIdentifier>, depth: Int = 0) {
        guard depth < 40 else { return }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .class, type(of: value) is AnyClass {
            guard seen.insert(ObjectIdentifier(value as AnyObject)).inserted else { return }
        }
        _ = String(describing: value)
        for child in mirror.children { reflect(child.value, &seen, depth: depth + 1) }
    }

    @Test func `a failed comparison of two snapshots ended the program`() throws {
        try Zoo.withDogs([0, 1]) { stack, ids in
            let list = stack.publishList(Self.chain)
            let object: ObjectPublisher<Dog> = stack.publishObject(ids[0])
            let dog = try #require(object.object)
            let values: [Any] = [
                list.snapshot, list.snapshot.sections()[0], try #require(object.snapshot), ids[0],
                dog, object, list, stack.monitorList(From<Dog>().orderBy(.ascending(\.$age))),
                list.snapshot.changes(since: list.snapshot), stack, Where<Dog>("age > 1"),
            ]
            var seen: Set<ObjectIdentifier> = []
            for value in values { reflect(value, &seen) }
            #expect(seen.count >= 6)
        }
    }

    // MARK: Titles and reloads

    @Test func `titles of sections are those that the list makes`() throws {
        try Zoo.withDogs([0, 1]) { stack, _ in
            let plain = stack.monitorSectionedList(Self.chain)
            #expect(plain.sectionIndexTitles() == [])
            #expect(plain.sectionInfo(at: 0).indexTitle == nil)
            let titled = stack.publishList(
                From<Dog>().sectionBy(\.$age) { name in name.map { "Age \($0)" } }
                    .orderBy(.ascending(\.$age)))
            let adapter = DiffableDataSource.BaseAdapter<Dog, NoView>(
                target: NoView(), dataStack: stack)
            adapter.apply(titled.snapshot)
            #expect(adapter.sectionIndexTitlesForAllSections() == ["Age 0", "Age 1"])
            var edited = titled.snapshot
            edited.deleteSections(withIDs: ["0"])
            adapter.apply(edited)
            #expect(adapter.sectionIndexTitlesForAllSections() == ["Age 1"])
            adapter.apply(stack.publishList(Self.chain).snapshot)
            #expect(adapter.sectionIndexTitlesForAllSections() == [nil, nil])
        }
    }

    /// A bug: the first section of the name was reloaded instead.
    @Test func `a section is reloaded by its index where another has its name`() {
        var old = ListSnapshot<Dog>()
        old.appendSections(withIDs: ["a", "b", "a"])
        var new = old
        new.reloadSections(at: [2])
        #expect(StagedChanges(from: old, to: new).map(\.reloadedSections) == [[2]])
        new.deleteSections(withIDs: ["b"])
        #expect(StagedChanges(from: old, to: new).first?.reloadedSections == [2])
    }

    @Test func `a reloaded section without items was not shown again`() throws {
        try Zoo.withDogs([0, 0, 1]) { stack, ids in
            let old = stack.publishList(Self.chain).snapshot
            var new = old
            new.appendSections(withIDs: ["empty"])
            let shown = new
            new.reloadSections(withIDs: ["empty", "0", "unknown"])
            new.reloadItems(withIDs: [ids[0], ids[2]])
            let stages = StagedChanges(from: shown, to: new)
            #expect(stages.count == 1 && stages[0].reloadedSections == [0, 2])
            // The items of a section are shown again with it.
            #expect(stages[0].reloadedItems == [IndexPath(indexes: [1, 0])])
            // A section that comes is shown without that.
            #expect(StagedChanges(from: old, to: new).first?.reloadedSections == [0])
        }
    }

    private struct NoView: DiffableDataSourceTarget {
        var shouldSuspendBatchUpdates: Bool { true }
        func deleteSections(at indices: IndexSet, animated: Bool) {}
        func insertSections(at indices: IndexSet, animated: Bool) {}
        func reloadSections(at indices: IndexSet, animated: Bool) {}
        func moveSection(at index: Int, to newIndex: Int, animated: Bool) {}
        func deleteItems(at indexPaths: [IndexPath], animated: Bool) {}
        func insertItems(at indexPaths: [IndexPath], animated: Bool) {}
        func reloadItems(at indexPaths: [IndexPath], animated: Bool) {}
        func moveItem(at indexPath: IndexPath, to newIndexPath: IndexPath, animated: Bool) {}
        func performBatchUpdates(
            updates: () -> Void, animated: Bool, completion: @escaping () -> Void
        ) { completion() }
        func reloadData() {}
    }
}
