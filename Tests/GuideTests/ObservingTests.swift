import ObjectGraph
import Testing

/// The guide's chapter on observing, without what only Apple's systems have.
///
/// The guide interpolates optionals as they are, which compiles with a warning; here they have a
/// default.
@MainActor @Suite struct ObservingTests {
    private let dataStack: DataStack
    private let john: Sailor
    private let jane: Sailor

    init() throws {
        dataStack = try Harbour.dataStack()
        john = try #require(try dataStack.fetchOne(From<Sailor>().where(\.$number == 1)))
        jane = try #require(try dataStack.fetchOne(From<Sailor>().where(\.$number == 2)))
    }

    private func change(_ number: Int, _ change: (Sailor) -> Void) throws {
        try dataStack.perform(synchronous: { transaction in
            let sailor = try transaction.fetchOne(From<Sailor>().where(\.$number == number))
            if let sailor { change(sailor) }
        })
    }

    private func delete(_ number: Int) throws {
        _ = try dataStack.perform(synchronous: { transaction in
            try transaction.deleteAll(From<Sailor>().where(\.$number == number))
        })
    }

    // MARK: Properties and objects

    @Test func `a property is observed`() throws {
        var wishes: [String] = []
        let observer = jane.observe(\.$age, options: [.new]) { (person, change) in
            wishes.append("Happy \(change.newValue ?? 0)th birthday!")
        }

        try change(2) { $0.age += 1 }
        try change(2) { $0.rating = 1 }

        #expect(wishes == ["Happy 23th birthday!"])
        observer.invalidate()
    }

    /// A screen as the guide has it: it observes by closures.
    private final class Screen {
        var ages: [Int?] = []
        var counts: [Int] = []

        func observe(_ objectPublisher: ObjectPublisher<Sailor>) {
            objectPublisher.addObserver(self) { [weak self] (objectPublisher) in
                let snapshot: ObjectSnapshot<Sailor>? = objectPublisher.snapshot
                self?.ages.append(snapshot?.$age)
            }
        }

        func observe(_ listPublisher: ListPublisher<Sailor>) {
            listPublisher.addObserver(self) { [weak self] (listPublisher) in
                let snapshot: ListSnapshot<Sailor> = listPublisher.snapshot
                self?.counts.append(snapshot.numberOfItems)
            }
        }
    }

    @Test func `an object is published`() throws {
        let objectPublisher: ObjectPublisher<Sailor> = jane.asPublisher(in: dataStack)
        let screen = Screen()
        screen.observe(objectPublisher)
        let before = objectPublisher.snapshot

        try change(2) { $0.age = 30 }
        try delete(2)

        #expect(screen.ages == [30, nil])
        #expect(before?.$age == 22)
        #expect(objectPublisher.snapshot == nil)
    }

    @Test func `the snapshot of a list contains publishers of its objects`() throws {
        let listPublisher: ListPublisher<Sailor> = dataStack.publishList(
            From<Sailor>().orderBy(.ascending(\.$name)))
        let indexPath = IndexPath(item: 0, section: 0)

        let objectPublisher = listPublisher.snapshot[indexPath]

        #expect(objectPublisher === jane.asPublisher(in: dataStack))
        #expect(objectPublisher.$name == "Jane Smith")
    }

    private final class ObjectScreen: ObjectObserver {
        var events: [String] = []
        let monitor: ObjectMonitor<Sailor>

        init(_ person: Sailor, _ dataStack: DataStack) {
            self.monitor = dataStack.monitorObject(person)
            self.monitor.addObserver(self)
        }

        func objectMonitor(
            _ monitor: ObjectMonitor<Sailor>, willUpdateObject object: Sailor
        ) {
            events.append("will \(object.age)")
        }

        func objectMonitor(
            _ monitor: ObjectMonitor<Sailor>, didUpdateObject object: Sailor,
            changedPersistentKeys: Set<KeyPathString>
        ) {
            events.append("did \(object.age) \(changedPersistentKeys.sorted())")
        }

        func objectMonitor(
            _ monitor: ObjectMonitor<Sailor>, didDeleteObject object: Sailor
        ) {
            events.append("deleted")
        }
    }

    @Test func `an object is monitored by property`() throws {
        let screen = ObjectScreen(jane, dataStack)

        try change(2) { $0.age += 1 }
        #expect(screen.events == ["will 22", "did 23 [\"age\"]"])
        #expect(screen.monitor.object === jane)

        try delete(2)
        #expect(screen.events.suffix(2) == ["will 23", "deleted"])
        #expect(screen.monitor.object == nil && screen.monitor.isObjectDeleted)
    }

    // MARK: Lists

    @Test func `a list is published, in sections if that is wanted`() throws {
        let listPublisher = dataStack.listPublisher(
            From<Sailor>()
                .sectionBy(\.$age) { "Age \($0 ?? "")" }
                .where(\.$rating > 4)
                .orderBy(.ascending(\.$age), .ascending(\.$name))
        )
        let screen = Screen()
        screen.observe(listPublisher)
        let before = listPublisher.snapshot
        #expect(before.sectionIDs == ["22", "42", "60"])

        try change(3) { $0.rating = 3 }

        #expect(screen.counts == [2])
        #expect(before.numberOfItems == 3)
        listPublisher.removeObserver(screen)
        try change(3) { $0.rating = 5 }
        #expect(screen.counts == [2])
        let plain = dataStack.listPublisher(From<Sailor>().orderBy(.ascending(\.$name)))
        #expect(plain.snapshot.numberOfSections == 1)
    }

    /// An observer of each kind, by the callbacks that the guide lists.
    private final class ListScreen: ListSectionObserver {
        var events: [String] = []

        func listMonitorWillChange(_ monitor: ListMonitor<Sailor>) { events.append("will") }
        func listMonitorDidChange(_ monitor: ListMonitor<Sailor>) { events.append("did") }
        func listMonitorWillRefetch(_ monitor: ListMonitor<Sailor>) {
            events.append("willRefetch")
        }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Sailor>) {
            events.append("didRefetch")
        }

        func listMonitor(
            _ monitor: ListMonitor<Sailor>, didInsertObject object: Sailor,
            toIndexPath indexPath: IndexPath
        ) {
            events.append("insert \(object.number)")
        }
        func listMonitor(
            _ monitor: ListMonitor<Sailor>, didDeleteObject object: Sailor,
            fromIndexPath indexPath: IndexPath
        ) {
            events.append("delete \(object.number)")
        }
        func listMonitor(
            _ monitor: ListMonitor<Sailor>, didUpdateObject object: Sailor,
            atIndexPath indexPath: IndexPath
        ) {
            events.append("update \(object.number)")
        }
        func listMonitor(
            _ monitor: ListMonitor<Sailor>, didMoveObject object: Sailor,
            fromIndexPath: IndexPath, toIndexPath: IndexPath
        ) {
            events.append("move \(object.number)")
        }

        func listMonitor(
            _ monitor: ListMonitor<Sailor>,
            didInsertSection sectionInfo: NSFetchedResultsSectionInfo,
            toSectionIndex sectionIndex: Int
        ) {
            events.append("insert section \(sectionInfo.name)")
        }
        func listMonitor(
            _ monitor: ListMonitor<Sailor>,
            didDeleteSection sectionInfo: NSFetchedResultsSectionInfo,
            fromSectionIndex sectionIndex: Int
        ) {
            events.append("delete section \(sectionInfo.name)")
        }
    }

    /// An observer with the required callbacks only.
    private final class SmallScreen: ListObserver {
        var count = 0

        func listMonitorDidChange(_ monitor: ListMonitor<Sailor>) {
            count = monitor.numberOfObjects()
        }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Sailor>) {}
    }

    @Test func `a list is monitored`() throws {
        let monitor = dataStack.monitorList(
            From<Sailor>()
                .where(\.$age > 30)
                .orderBy(.ascending(\.$name))
                .tweak { $0.fetchBatchSize = 20 }
        )
        let (screen, small) = (ListScreen(), SmallScreen())
        monitor.addObserver(screen)
        monitor.addObserver(small)
        let firstPerson = monitor[0]
        #expect(firstPerson === john)

        try change(2) { $0.age = 31 }
        try change(1) { $0.name = "Zoe" }
        try change(3) { $0.rating = 1 }
        // A sailor who was a friend of Jane.
        try delete(3)

        #expect(
            screen.events == [
                "will", "insert 2", "did", "will", "move 1", "did", "will", "update 3", "did",
                "will", "delete 3", "update 2", "did",
            ])
        #expect(small.count == 2)
        #expect(monitor.objectsInAllSections() == [jane, john])
    }

    @Test func `a list is monitored in sections`() throws {
        let monitor = dataStack.monitorSectionedList(
            From<Sailor>()
                .sectionBy(\.$age)
                .where(\.$gender == "M")
                .orderBy(.ascending(\.$age), .ascending(\.$name))
                .tweak { $0.fetchBatchSize = 20 }
        )
        let screen = ListScreen()
        monitor.addObserver(screen)

        try change(3) { $0.gender = "M" }
        #expect(screen.events == ["will", "insert section 60", "insert 3", "did"])
        screen.events = []
        try change(1) { $0.age = 60 }
        #expect(screen.events == ["will", "move 1", "delete section 42", "did"])

        let indexPath = IndexPath(row: 1, section: 0)
        let person1 = monitor[indexPath]
        let person2 = monitor[0, 1]
        #expect(person1 === person2)
        #expect(person1.name == "Ole")
    }

    @Test func `a section has a name and a title of the program's own`() throws {
        let monitor = dataStack.monitorSectionedList(
            From<Sailor>()
                .sectionBy(\.$age) { (sectionName) -> String? in
                    "\(sectionName ?? "") years old"
                }
                .orderBy(.ascending(\.$age), .ascending(\.$name))
        )

        let sectionInfo = monitor.sectionInfoAtIndex(1)

        #expect(sectionInfo.name == "42")
        #expect(sectionInfo.indexTitle == "42 years old")
        #expect(sectionInfo.numberOfObjects == 1)
    }

    @Test func `observers are told before and after a refetch`() async throws {
        let monitor = dataStack.monitorList(From<Sailor>().orderBy(.ascending(\.$name)))
        let screen = ListScreen()
        monitor.addObserver(screen)

        monitor.refetch(Where<Sailor>(\.$age > 30), OrderBy<Sailor>(.ascending(\.$name)))
        while monitor.isPendingRefetch { await Task.yield() }

        #expect(screen.events == ["willRefetch", "didRefetch"])
        #expect(monitor.numberOfObjects() == 2)
    }
}
