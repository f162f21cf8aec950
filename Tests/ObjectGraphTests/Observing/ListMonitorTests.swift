import Dispatch
import Foundation
import Primitives
import TestSupport
import Testing

@testable import ObjectGraph

/// The content of list monitors, and their notifications.
@Suite(.timeLimit(.minutes(hangMinutes))) struct ListMonitorTests {
    /// A stack with dogs of these names and ages, and the queue of its view.
    private struct Kennel {
        let stack: DataStack
        let queue: DispatchQueue

        init(_ dogs: [(String, Int)] = []) throws {
            (stack, queue) = try Zoo.stack()
            if !dogs.isEmpty { try add(dogs) }
        }

        func add(_ dogs: [(String, Int)]) throws {
            try stack.perform(synchronous: { transaction in
                for (name, age) in dogs {
                    let dog = transaction.create(Into<Dog>())
                    (dog.nickname, dog.age) = (name, age)
                }
            })
        }

        func change(
            _ names: [String], from identifier: String? = nil,
            _ change: @escaping (Dog, SynchronousDataTransaction) -> Void
        ) throws {
            try stack.perform(
                synchronous: { transaction in
                    for name in names {
                        let dog = try transaction.fetchOne(
                            From<Dog>().where(\.$nickname == name))
                        if let dog { change(dog, transaction) }
                    }
                }, sourceIdentifier: identifier)
        }

        func sectioned() -> ListMonitor<Dog> {
            stack.monitorSectionedList(
                From<Dog>().sectionBy(\.$age).orderBy(.ascending(\.$age), .ascending(\.$nickname)))
        }

        func recorder() -> ListRecorder<Dog> { ListRecorder { $0.nickname ?? "?" } }
    }

    private func names(_ monitor: ListMonitor<Dog>) -> [String] {
        monitor.objectsInAllSections().compactMap(\.nickname)
    }

    @Test func `a list contains the fetched objects by index, path and object`() throws {
        let kennel = try Kennel([("a", 2), ("b", 1), ("c", 2), ("d", 3)])
        try kennel.queue.sync {
            let monitor = kennel.sectioned()
            #expect(names(monitor) == ["b", "a", "c", "d"])
            #expect(monitor.numberOfSections() == 3)
            #expect(monitor.sections().map(\.name) == ["1", "2", "3"])
            #expect(monitor.sections().map(\.numberOfObjects) == [1, 2, 1])
            #expect(monitor.sectionInfo(at: 1).objects?.count == 2)
            #expect(monitor[1, 1].nickname == "c")
            #expect(monitor[IndexPath(item: 0, section: 2)].nickname == "d")
            #expect(monitor[2] === monitor[1, 1])
            #expect(monitor[safeIndex: 4] == nil)
            #expect(monitor[safeIndex: -1] == nil)
            #expect(monitor[safeSectionIndex: 3, safeItemIndex: 0] == nil)
            #expect(monitor[safeSectionIndex: 1, safeItemIndex: 2] == nil)
            #expect(!monitor.hasObjects(in: 7))
            #expect(monitor.numberOfObjects(safelyIn: 3) == nil)
            #expect(monitor.objects(in: 1).map(\.nickname) == ["a", "c"])
            for index in 0..<4 {
                let dog = monitor[index]
                #expect(monitor.index(of: dog) == index)
                let path = try #require(monitor.indexPath(of: dog))
                #expect(monitor[path] === dog)
            }
            let fetched = try kennel.stack.fetchAll(
                From<Dog>().where(\.$nickname == "d").orderBy(.ascending(\.$age)))
            #expect(fetched.first === monitor[3])
        }
    }

    @Test func `an empty list has one section without a section rule and none with one`() throws {
        let kennel = try Kennel()
        kennel.queue.sync {
            let plain = kennel.stack.monitorList(From<Dog>().orderBy(.ascending(\.$age)))
            #expect(plain.numberOfSections() == 1 && !plain.hasObjects())
            let sectioned = kennel.sectioned()
            #expect(!sectioned.hasSections() && !sectioned.hasObjects())
        }
    }

    @Test func `changes are reported in order, with old and new paths`() throws {
        let kennel = try Kennel([("a", 1), ("b", 1), ("c", 2), ("d", 3)])
        try kennel.queue.sync {
            let (monitor, recorder) = (kennel.sectioned(), kennel.recorder())
            monitor.addObserver(recorder)
            try kennel.stack.perform(
                synchronous: { transaction in
                    let dogs = try transaction.fetchAll(
                        From<Dog>().orderBy(.ascending(\.$nickname)))
                    dogs[0].color = "black"
                    dogs[1].age = 2
                    transaction.delete(dogs[3])
                    let new = transaction.create(Into<Dog>())
                    (new.nickname, new.age) = ("e", 0)
                }, sourceIdentifier: "import")
            #expect(
                recorder.takeEvents() == [
                    "will import", "+[0] 0", "-d 2.0", "+e 0.0", "~b 0.1>2.0", "=a 0.0",
                    "-[3] 2", "did",
                ])
            #expect(names(monitor) == ["e", "a", "b", "c"])
            // A change that does not concern the list.
            try kennel.stack.perform(synchronous: { _ = $0.create(Into<Toy>()) })
            try kennel.change(["a"]) { dog, _ in dog.color = "black" }
            #expect(recorder.takeEvents().isEmpty)
        }
    }

    @Test func `willChange sees the state before a change, and didChange the one after`() throws {
        let kennel = try Kennel([("a", 1), ("b", 2)])
        try kennel.queue.sync {
            let (monitor, recorder) = (kennel.sectioned(), kennel.recorder())
            let dog = monitor[0]
            var seen: [String] = []
            recorder.onEvent = { event, monitor in
                let fetched = (try? kennel.stack.fetchCount(From<Dog>())) ?? -1
                seen.append("\(event) \(monitor.numberOfObjects()) \(fetched) \(dog.age)")
            }
            monitor.addObserver(recorder)
            try kennel.stack.perform(synchronous: { transaction in
                let dogs = try transaction.fetchAll(From<Dog>().orderBy(.ascending(\.$nickname)))
                dogs[0].age = 3
                transaction.delete(dogs[1])
                _ = transaction.create(Into<Dog>())
                _ = transaction.create(Into<Dog>())
            })
            #expect(seen.first == "will 2 2 1")
            #expect(seen.count > 4)
            #expect(seen.dropFirst().allSatisfy { $0.hasSuffix(" 3 3 3") }, "\(seen)")
        }
    }

    @Test func `pending commits of other threads are reported as one net change`() throws {
        let kennel = try Kennel([("a", 1), ("b", 2)])
        let (monitor, recorder) = kennel.queue.sync { (kennel.sectioned(), kennel.recorder()) }
        kennel.queue.sync { monitor.addObserver(recorder) }
        kennel.queue.suspend()
        try kennel.add([("x", 9)])
        try kennel.change(["a"]) { dog, _ in dog.age = 5 }
        try kennel.change(["x"]) { dog, transaction in transaction.delete(dog) }
        try kennel.change(["a"]) { dog, _ in dog.age = 1 }
        for _ in 0..<40 { try kennel.change(["b"]) { dog, _ in dog.age += 1 } }
        kennel.queue.resume()
        kennel.queue.sync {}
        kennel.queue.sync {
            #expect(names(monitor) == ["a", "b"])
            #expect(monitor.sections().map(\.name) == ["1", "42"])
            // The separately reported steps add up, and the first ones were joined.
            let events = recorder.takeEvents()
            #expect(!events.contains { $0.contains("x") })
            #expect(events.filter { $0 == "did" }.count <= 2 * StepQueue.separateMax)
        }
    }

    @Test func `limit and offset are right at the edges`() throws {
        let kennel = try Kennel((0..<9).map { ("\($0)", $0 * 10) })
        try kennel.queue.sync {
            let monitor = kennel.stack.monitorList(
                From<Dog>().orderBy(.ascending(\.$age)).tweak {
                    $0.fetchLimit = 3
                    $0.fetchOffset = 2
                })
            let recorder = kennel.recorder()
            monitor.addObserver(recorder)
            #expect(names(monitor) == ["2", "3", "4"])
            try kennel.add([("first", -1)])
            #expect(recorder.takeEvents() == ["will", "-4 0.2", "+1 0.0", "did"])
            #expect(names(monitor) == ["1", "2", "3"])
            try kennel.change(["first", "0"]) { dog, transaction in transaction.delete(dog) }
            #expect(names(monitor) == ["3", "4", "5"])
            try kennel.change(["8"]) { dog, _ in dog.age = 35 }
            #expect(names(monitor) == ["3", "8", "4"])
            try kennel.change(["7"]) { dog, _ in dog.color = "red" }
            _ = recorder.takeEvents()
            try kennel.change(["7"]) { dog, _ in dog.color = "blue" }
            #expect(recorder.takeEvents().isEmpty)
        }
    }

    @Test func `a list ordered by an owner's name follows the name`() throws {
        let kennel = try Kennel([("a", 1), ("b", 1)])
        try kennel.stack.perform(synchronous: { transaction in
            for (dog, name) in zip(
                try transaction.fetchAll(From<Dog>().orderBy(.ascending(\.$nickname))),
                ["Ann", "Bob"])
            {
                let person = transaction.create(Into<Person>())
                (person.name, person.email) = (name, name)
                dog.master = person
            }
        })
        try kennel.queue.sync {
            let monitor = kennel.stack.monitorList(
                From<Dog>().where((\.$master ~ \.$name) != "Eve")
                    .orderBy(.ascending("master.name")))
            let recorder = kennel.recorder()
            monitor.addObserver(recorder)
            func rename(_ old: String, _ new: String) throws {
                try kennel.stack.perform(synchronous: { transaction in
                    try transaction.fetchOne(From<Person>().where(\.$name == old))?.name = new
                })
            }
            try rename("Ann", "Zoe")
            #expect(recorder.takeEvents() == ["will", "~a 0.0>0.1", "did"])
            try rename("Bob", "Eve")
            #expect(recorder.takeEvents() == ["will", "-b 0.0", "did"])
            try kennel.stack.perform(synchronous: { transaction in
                for person in try transaction.fetchAll(From<Person>()) { person.balance = 5 }
            })
            #expect(recorder.takeEvents().isEmpty)
        }
    }

    @Test func `a deleted object keeps its values, in the list's callbacks too`() throws {
        let kennel = try Kennel([("a", 1), ("b", 2)])
        try kennel.queue.sync {
            let (monitor, recorder) = (kennel.sectioned(), kennel.recorder())
            monitor.addObserver(recorder)
            // No object of the list was loaded before.
            try kennel.change(["a"]) { dog, transaction in transaction.delete(dog) }
            #expect(recorder.takeEvents() == ["will", "-a 0.0", "-[1] 0", "did"])
        }
    }

    @Test func `a transaction in a callback is reported after the running delivery`() throws {
        let kennel = try Kennel([("a", 1)])
        try kennel.queue.sync {
            let (monitor, recorder) = (kennel.sectioned(), kennel.recorder())
            monitor.addObserver(recorder)
            var isFirst = true
            var counts: [Int] = []
            recorder.onEvent = { event, monitor in
                guard event == "did", isFirst else { return }
                isFirst = false
                try? kennel.add([("c", 3)])
                counts.append(monitor.numberOfObjects())
            }
            try kennel.add([("b", 2)])
            #expect(counts == [2])
        }
        kennel.queue.sync {
            #expect((try? kennel.stack.fetchCount(From<Dog>())) == 3)
        }
    }

    /// A bug: a step that the observing queue was still computing, or had not yet scheduled, was
    /// reported after work that the committing thread scheduled next.
    @Test func `a commit is announced before work that its thread schedules next`() throws {
        let kennel = try Kennel()
        let monitors = kennel.queue.sync {
            (0..<4).map { age in
                kennel.stack.monitorList(
                    From<Dog>().where(\.$age >= -age).orderBy(.ascending(\.$nickname)))
            }
        }
        var late = 0
        for count in 1...300 {
            try kennel.add([("dog", 1)])
            kennel.queue.sync {
                for monitor in monitors where monitor.numberOfObjects() != count { late += 1 }
            }
        }
        #expect(late == 0)
    }

    @Test func `a refetch replaces all clauses and is reported before and after`() throws {
        let kennel = try Kennel([("a", 1), ("b", 2), ("c", 3)])
        let (monitor, recorder) = kennel.queue.sync { (kennel.sectioned(), kennel.recorder()) }
        kennel.queue.sync {
            monitor.addObserver(recorder)
            monitor.refetch(OrderBy<Dog>(.ascending(\.$age)), sourceIdentifier: "first")
            #expect(monitor.isPendingRefetch)
            monitor.refetch(
                Where<Dog>(\.$age > 1), OrderBy<Dog>(.descending(\.$age)),
                sourceIdentifier: "second")
            #expect(names(monitor) == ["a", "b", "c"])
        }
        try kennel.add([("d", 4)])
        while kennel.queue.sync(execute: { monitor.isPendingRefetch }) { usleep(1000) }
        kennel.queue.sync {
            #expect(names(monitor) == ["d", "c", "b"])
            let events = recorder.takeEvents()
            #expect(events.first == "willRefetch")
            #expect(events.filter { $0.hasPrefix("didRefetch") } == ["didRefetch second"])
        }
        try kennel.queue.sync {
            try kennel.change(["d"]) { dog, _ in dog.age = 0 }
            #expect(recorder.takeEvents() == ["will", "-d 0.0", "-[4] 0", "did"])
        }
    }

    @Test func `a list fetched in the background includes commits made meanwhile`() async throws {
        let kennel = try Kennel((0..<2000).map { ("\($0)", $0) })
        let box = UncheckedTransfer(kennel)
        let made = await withCheckedContinuation { done in
            kennel.queue.async {
                box.value.stack.monitorList(
                    createAsynchronously: { done.resume(returning: UncheckedTransfer($0)) },
                    From<Dog>().where(\.$age >= 0).orderBy(.ascending(\.$age)))
                try? box.value.change(["7"]) { dog, _ in dog.age = -1 }
            }
        }
        try kennel.change(["8"]) { dog, _ in dog.age = -1 }
        kennel.queue.sync {
            #expect(made.value.numberOfObjects() == 1998)
        }
    }

    @Test func `lists follow storages that are added and removed`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        let (monitor, recorder) = queue.sync {
            let recorder = ListRecorder<Dog> { $0.nickname ?? "?" }
            let monitor = stack.monitorList(From<Dog>().orderBy(.ascending(\.$age)))
            monitor.addObserver(recorder)
            #expect(!monitor.hasObjects())
            return (monitor, recorder)
        }
        func wait() {
            queue.sync {}
            while queue.sync(execute: { monitor.isPendingRefetch }) { usleep(1000) }
        }
        try stack.addStorageAndWait(InMemoryStore())
        wait()
        #expect(recorder.takeEvents() == ["willRefetch", "didRefetch"])
        try stack.perform(synchronous: { $0.create(Into<Dog>()).nickname = "a" })
        queue.sync { #expect(recorder.takeEvents() == ["will", "+a 0.0", "did"]) }
        stack.unsafeRemoveAllPersistentStoresAndWait()
        wait()
        queue.sync {
            #expect(recorder.takeEvents() == ["willRefetch", "didRefetch"])
            #expect(!monitor.hasObjects())
        }
    }

    private final class Guest: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Virtual(
            "initial", customGetter: { object, _ in String(object.$name.value.prefix(1)) })
        var initial: String
    }

    @Test func `sections are those of a computed property`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(modelVersion: "V1", entities: [Entity<Guest>("Guest")]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        func add(_ name: String) throws {
            try stack.perform(synchronous: { $0.create(Into<Guest>()).name = name })
        }
        try add("Ann")
        try add("Bob")
        let recorder = ListRecorder<Guest> { $0.name }
        let monitor = queue.sync {
            let monitor = stack.monitorSectionedList(
                From<Guest>().sectionBy(\.$initial) { name in name.map { "-" + $0 } }
                    .orderBy(.ascending(\.$name)))
            monitor.addObserver(recorder)
            #expect(monitor.sectionIndexTitles() == ["-A", "-B"])
            #expect(monitor.targetSection(forSectionIndexTitle: "-B", at: 1) == 1)
            return monitor
        }
        // From a thread on which getters must not run.
        try add("Axel")
        queue.sync {}
        queue.sync { #expect(recorder.takeEvents() == ["will", "+Axel 0.1", "did"]) }
        try queue.sync {
            try stack.perform(synchronous: { transaction in
                try transaction.fetchOne(From<Guest>().where(\.$name == "Bob"))?.name = "Abel"
            })
            #expect(recorder.takeEvents() == ["will", "~Abel 1.0>0.0", "-[B] 1", "did"])
            #expect(monitor.sections().map(\.name) == ["A"])
        }
    }

    @Test func `equal lists are kept once`() throws {
        let kennel = try Kennel([("a", 1)])
        try kennel.queue.sync {
            let monitors = (0..<20).map { _ in kennel.sectioned() }
            let recorders = monitors.map { monitor in
                let recorder = kennel.recorder()
                monitor.addObserver(recorder)
                return recorder
            }
            #expect(kennel.stack.viewSteps.lists.count == 1)
            try kennel.add([("b", 1)])
            for recorder in recorders {
                #expect(recorder.takeEvents() == ["will", "+b 0.1", "did"])
            }
            withExtendedLifetime(monitors) {}
        }
        #expect(kennel.stack.viewSteps.lists.isEmpty && kennel.stack.observers.isEmpty)
    }

    @Test func `observers can be added and removed in callbacks`() throws {
        let kennel = try Kennel([("a", 1)])
        try kennel.queue.sync {
            let monitor = kennel.sectioned()
            let (first, second, third) = (kennel.recorder(), kennel.recorder(), kennel.recorder())
            monitor.addObserver(first)
            monitor.addObserver(second)
            first.onEvent = { event, monitor in
                guard event == "will" else { return }
                monitor.removeObserver(second)
                monitor.addObserver(third)
            }
            try kennel.add([("b", 1)])
            #expect(first.takeEvents() == ["will", "+b 0.1", "did"])
            #expect(second.takeEvents().isEmpty)
            #expect(third.takeEvents().isEmpty)
            first.onEvent = { _, _ in }
            try kennel.add([("c", 1)])
            #expect(third.takeEvents() == ["will", "+c 0.2", "did"])
            var weakOne: ListRecorder<Dog>? = kennel.recorder()
            weak let released = weakOne
            if let weakOne { monitor.addObserver(weakOne) }
            weakOne = nil
            #expect(released == nil)
            try kennel.add([("d", 1)])
        }
    }

    @Test func `lists explain how they follow changes`() throws {
        let kennel = try Kennel([("a", 1)])
        try kennel.queue.sync {
            let order = OrderBy<Dog>(.ascending(\.$age))
            let kept = kennel.stack.monitorList(
                From<Dog>().where(\.$master ~ \.$name == "Ann").orderBy(order))
            #expect(kept.explain().hasPrefix("kept: ") && kept.explain().contains("1 path"))
            let chain = From<Person>().where(format: "ANY pets.color == 'red'")
                .orderBy(.ascending(\.$name))
            let refetched = kennel.stack.publishList(chain)
            #expect(refetched.explain().hasPrefix("fetched again and compared"))
            #expect(refetched.explain().contains("to-many relationship"))
            let transaction = kennel.stack.beginUnsafe()
            let edited = transaction.monitorList(From<Dog>(), order)
            #expect(edited.explain().contains("unsafe transaction"))
            let empty = DataStack(Zoo.schema(), viewContext: .queue(kennel.queue))
            #expect(empty.publishList(From<Dog>(), order).explain().hasPrefix("empty: "))
            // A refetched list follows other entities than its own.
            #expect(refetched.snapshot.isEmpty)
            try kennel.stack.perform(synchronous: { transaction in
                let dog = try transaction.fetchOne(From<Dog>())
                dog?.master = transaction.create(Into<Person>())
                dog?.color = "red"
            })
            #expect(refetched.snapshot.count == 1)
            try kennel.change(["a"]) { dog, _ in dog.color = "blue" }
            #expect(refetched.snapshot.isEmpty)
        }
    }

    @Test func `monitors are equal only if they are the same instance`() throws {
        let kennel = try Kennel([("a", 1)])
        kennel.queue.sync {
            let order = OrderBy<Dog>(.ascending(\.$age))
            let dogs = kennel.stack.monitorList(From<Dog>(), order)
            let others = kennel.stack.monitorList(From<Dog>(), order)
            let animals = kennel.stack.monitorList(
                From<Animal>(), OrderBy<Animal>(.ascending(\.$color)))
            #expect(dogs == dogs && dogs != others && dogs ~= dogs && !(dogs ~= others))
            #expect(!(dogs == animals) && !(animals ~= dogs))
            let dog = dogs[0]
            let monitor = kennel.stack.monitorObject(dog)
            #expect(monitor == monitor && monitor ~= monitor)
            #expect(!(monitor == kennel.stack.monitorObject(dog as Animal)))
            #expect(!(monitor ~= kennel.stack.monitorObject(dog as Animal)))
        }
    }

    @Test func `a refetch in a callback begins when the delivery has ended`() throws {
        let kennel = try Kennel([("a", 1), ("b", 5)])
        let (monitor, recorder) = kennel.queue.sync { (kennel.sectioned(), kennel.recorder()) }
        try kennel.queue.sync {
            recorder.onEvent = { event, monitor in
                guard event == "+c 0.1", !monitor.isPendingRefetch else { return }
                monitor.refetch(
                    Where<Dog>(\.$age > 1), OrderBy<Dog>(.ascending(\.$age)),
                    sourceIdentifier: "inside")
                #expect(monitor.isPendingRefetch && monitor.numberOfObjects() == 3)
            }
            monitor.addObserver(recorder)
            try kennel.add([("c", 1)])
            #expect(recorder.takeEvents() == ["will", "+c 0.1", "did", "willRefetch"])
        }
        while kennel.queue.sync(execute: { monitor.isPendingRefetch }) { usleep(1000) }
        kennel.queue.sync {
            #expect(recorder.takeEvents() == ["didRefetch inside"])
            #expect(names(monitor) == ["b"])
            let publisher = kennel.stack.publishList(From<Dog>().orderBy(.ascending(\.$age)))
            var calls: [String] = []
            publisher.addObserver(recorder) { publisher, source in
                if source == nil {
                    try? publisher.refetch(
                        From<Dog>().where(\.$age > 8).orderBy(.ascending(\.$age)),
                        sourceIdentifier: "again")
                }
                calls.append("\(source ?? "-") \(publisher.snapshot.count)")
            }
            try? kennel.add([("d", 9)])
            #expect(calls == ["- 1", "again 1"])
        }
    }

    /// A bug: another observer was told of the change, and then of the refetch before it.
    @Test func `a transaction in didRefetch is reported after it to all observers`() throws {
        let kennel = try Kennel([("a", 1)])
        let (first, second) = (kennel.recorder(), kennel.recorder())
        let monitor = kennel.queue.sync {
            let monitor = kennel.sectioned()
            monitor.addObserver(first)
            monitor.addObserver(second)
            first.onEvent = { event, monitor in
                guard event == "didRefetch x" else { return }
                try? kennel.add([("b", 1)])
                #expect(monitor.numberOfObjects() == 1)
            }
            monitor.refetch(
                OrderBy<Dog>(.ascending(\.$age), .ascending(\.$nickname)), sourceIdentifier: "x")
            return monitor
        }
        while kennel.queue.sync(execute: { monitor.numberOfObjects() < 2 }) { usleep(1000) }
        kennel.queue.sync {
            #expect(
                second.takeEvents() == ["willRefetch", "didRefetch x", "will", "+b 0.1", "did"])
            #expect(first.takeEvents().count == 5)
        }
    }

    /// It is called after the list is made, as a completion is.
    @Test func `a transaction in the callback with a new monitor is visible on return`() throws {
        let kennel = try Kennel([("a", 1)])
        let counts = Mutex<[Int]>([])
        kennel.queue.sync {
            kennel.stack.monitorList(
                createAsynchronously: { monitor in
                    try? kennel.add([("b", 2)])
                    let count = monitor.numberOfObjects()
                    counts.withLock { $0.append(count) }
                }, From<Dog>().orderBy(.ascending(\.$age)))
        }
        kennel.stack.drain(kennel.queue)
        #expect(counts.withLock { $0 } == [2])
    }

    // MARK: Requests that overlap

    /// A bug: the second fetch dropped the callback of the first.
    @Test func `a monitor arrives although a storage is added while its list is fetched`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        let made = Mutex<[UncheckedTransfer<ListMonitor<Dog>>]>([])
        try queue.sync {
            stack.monitorList(
                createAsynchronously: { monitor in
                    let monitor = UncheckedTransfer(monitor)
                    made.withLock { $0.append(monitor) }
                }, From<Dog>().orderBy(.ascending(\.$age)))
            try stack.addStorageAndWait(InMemoryStore())
        }
        stack.drain(queue)
        let monitors = made.withLock { $0 }
        try #require(monitors.count == 1)
        try stack.perform(synchronous: { _ = $0.create(Into<Dog>()) })
        stack.drain(queue)
        #expect(queue.sync { monitors[0].value.numberOfObjects() } == 1)
    }

    /// A bug: the list was fetched again by its earlier clauses, which won.
    @Test func `a storage that is added during a refetch does not undo it`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(Zoo.schema(), viewContext: .queue(queue))
        let recorder = ListRecorder<Dog> { "\($0.age)" }
        let monitor = try queue.sync {
            let order = OrderBy<Dog>(.ascending(\.$age))
            let monitor = stack.monitorList(From<Dog>(), order)
            monitor.addObserver(recorder)
            monitor.refetch(Where<Dog>(\.$age > 1), order, sourceIdentifier: "old dogs")
            try stack.addStorageAndWait(InMemoryStore())
            return monitor
        }
        try stack.perform(synchronous: { transaction in
            for age in [0, 5] { transaction.create(Into<Dog>()).age = age }
        })
        stack.drain(queue)
        queue.sync {
            #expect(monitor.numberOfObjects() == 1)
            let refetches = recorder.takeEvents().filter { $0.contains("Refetch") }
            #expect(refetches == ["willRefetch", "didRefetch old dogs"])
        }
    }

    /// A bug: the list had the clauses of the outer refetch and reported the inner one.
    @Test(arguments: [false, true])
    func `a refetch in willRefetch replaces the announced one`(isTransaction: Bool) throws {
        let kennel = try Kennel([("a", 1), ("b", 5), ("c", 9)])
        let order = OrderBy<Dog>(.ascending(\.$age))
        let transaction = kennel.stack.beginUnsafe()
        let recorder = kennel.recorder()
        recorder.onEvent = { event, monitor in
            guard event == "willRefetch" else { return }
            recorder.onEvent = { _, _ in }
            monitor.refetch(Where<Dog>(\.$age > 6), order, sourceIdentifier: "inner")
        }
        let monitor = kennel.queue.sync {
            let monitor =
                isTransaction
                ? transaction.monitorList(From<Dog>(), order)
                : kennel.stack.monitorList(From<Dog>(), order)
            monitor.addObserver(recorder)
            monitor.refetch(Where<Dog>(\.$age > 2), order, sourceIdentifier: "outer")
            return monitor
        }
        kennel.stack.drain(kennel.queue)
        kennel.queue.sync {
            #expect(names(monitor) == ["c"])
            #expect(recorder.takeEvents() == ["willRefetch", "didRefetch inner"])
        }
        withExtendedLifetime(transaction) {}
    }

    /// A bug: the new list was the old one, with the time at which that was fetched.
    @Test func `each list of a condition on now() has its own time`() throws {
        let (stack, queue) = try Zoo.stack()
        let due = Date(timeIntervalSinceNow: 0.3)
        try stack.perform(synchronous: { $0.create(Into<Person>()).born = due })
        func monitor() -> ListMonitor<Person> {
            stack.monitorList(
                From<Person>().where(format: "born < now()").orderBy(.ascending(\.$name)))
        }
        let early = queue.sync {
            let monitor = monitor()
            #expect(Date() >= due || !monitor.hasObjects())
            return monitor
        }
        while Date() <= due { usleep(10_000) }
        queue.sync {
            #expect(monitor().numberOfObjects() == 1)
            withExtendedLifetime(early) {}
        }
    }
}
