import Dispatch
import Foundation
import PageStore
import Primitives
import RecordStore
import TestSupport
import Testing

@Suite struct NumberReserveTests {
    private typealias Store = NumberTests.Store

    private func numbers(_ block: NumberBlock) -> [ObjectNumber] {
        var block = block
        var numbers: [ObjectNumber] = []
        while let number = block.take() { numbers.append(number) }
        return numbers
    }

    @Test func `numbers are reserved while a transaction runs`() throws {
        let store = try Store()
        let transaction = try store.database.beginWrite()
        var given: [ObjectNumber] = []
        for count in [1, 5, 1000] {
            given.append(try transaction.allocateNumber(in: store.stone.hierarchy))
            given += numbers(
                try store.database.reserveNumbers(count, in: store.stone.hierarchy))
        }
        transaction.rollback()
        given += try store.add(10)
        #expect(Set(given).count == given.count)
        #expect(given.count == 3 + 1006 + 10)
        try store.database.close()
    }

    @Test(arguments: NumberTests.Ending.allCases)
    func `a reserved number is never given again`(ending: NumberTests.Ending) throws {
        var store = try Store()
        var given: Set<ObjectNumber> = []
        for _ in 0..<4 {
            let block = numbers(
                try store.database.reserveNumbers(100, in: store.stone.hierarchy))
            store = try ending.next(store)
            let later = try store.add()
            #expect(given.isDisjoint(with: block + later))
            given.formUnion(block + later)
        }
        #expect(given.count == 4 * 101)
        try store.database.close()
    }

    /// A transaction that only updates does not wait for a reservation; one that creates does.
    @Test func `no object number is given out before its reservation is durable`() throws {
        let first = try Store()
        try first.add()
        let next = try Store(first.files.powerCut())
        let transaction = try next.database.beginWrite()
        // Nothing written from here on reaches the medium.
        next.files.fault = FaultyFileSystem.Fault(
            calls: [.write, .durableWrite, .sync], goesOn: true)
        let error = #expect(throws: StoreError.self) {
            try transaction.allocateNumber(in: next.stone.hierarchy)
        }
        #expect(error?.code == .io)
        #expect(throws: StoreError.self) {
            try next.database.reserveNumbers(1, in: next.stone.hierarchy)
        }
        transaction.rollback()
    }

    @Test func `an opening that only updates reserves numbers with its first write`() throws {
        let first = try Store()
        let number = try #require(try first.add().first)
        try first.database.close()
        let next = try Store(first.files)
        let transaction = try next.database.beginWrite()
        let before = next.files.callCount
        var batch = RecordBatch()
        let row = next.stone.emptyRow()
        defer { row.deallocate() }
        batch.update(next.stone, number, row: row)
        try transaction.apply(batch)
        try transaction.commit()
        #expect(next.files.callCount == before + 1)
        try next.database.close()
    }

    @Test func `a commit of one object is one write of the log`() throws {
        let store = try Store()
        try store.add()
        let before = store.files.callCount
        for _ in 0..<20 { try store.add() }
        #expect(store.files.callCount == before + 20)
        try store.database.close()
    }

    @Test func `numbers follow one another over openings that close`() throws {
        var store = try Store()
        for round in 0..<UInt64(3) {
            #expect(try store.add(2).map(\.rawValue) == [round * 5 + 1, round * 5 + 2])
            let block = try store.database.reserveNumbers(10, in: store.stone.hierarchy)
            store.database.returnNumbers(block)
            #expect(try store.add(3).map(\.rawValue) == [3, 4, 5].map { round * 5 + $0 })
            store = try NumberTests.Ending.close.next(store)
        }
        try store.database.close()
    }

    /// The next opening has no log to read.
    @Test func `a store that is closed after a checkpoint has an empty log`() throws {
        let store = try Store()
        try store.add(3)
        try store.database.checkpoint()
        try store.database.close()
        var options = EngineOptions()
        options.mode = .reading
        let engine = try Engine.open(path: "numbers", options: options, files: store.files)
        #expect(try engine.logFrames().isEmpty)
        try engine.close()
        let next = try Store(store.files)
        #expect(try next.add(2).map(\.rawValue) == [4, 5])
        try next.database.close()
    }

    @Test(arguments: NumberTests.Ending.allCases)
    func `numbers given before and after a checkpoint are never given again`(
        ending: NumberTests.Ending
    ) throws {
        var store = try Store()
        var given: Set<ObjectNumber> = []
        func give(_ found: [ObjectNumber]) {
            #expect(given.isDisjoint(with: found))
            given.formUnion(found)
        }
        for round in 0..<4 {
            give(numbers(try store.database.reserveNumbers(10, in: store.stone.hierarchy)))
            give(try store.add(5, commits: false))
            try store.database.checkpoint()
            if round % 2 == 0 {
                give(numbers(try store.database.reserveNumbers(10, in: store.stone.hierarchy)))
                give(try store.add(5, commits: false))
            }
            store = try ending.next(store)
        }
        give(try store.add())
        #expect(given.count == 4 * 15 + 2 * 15 + 1)
        try store.database.close()
    }

    @Test func `numbers are reserved while checkpoints are made`() throws {
        let store = try Store()
        let given = Mutex<[ObjectNumber]>([])
        let hierarchy = store.stone.hierarchy
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for _ in 0..<50 {
                if thread == 0 {
                    #expect(throws: Never.self) { try store.database.checkpoint() }
                    continue
                }
                let found =
                    thread == 1
                    ? try? store.add(3)
                    : (try? store.database.reserveNumbers(3, in: hierarchy)).map(numbers)
                given.withLock { $0 += found ?? [] }
            }
        }
        let all = given.withLock { $0 }
        #expect(all.count == 3 * 50 * 3)
        #expect(Set(all).count == all.count)
        try store.database.close()
    }

    /// If every number up to the last has a record, no read is needed; otherwise the transaction
    /// reads.
    @Test func `an object is known to exist without a read if every number has a record`() throws {
        let store = try Store()
        func known(_ numbers: [ObjectNumber]) throws -> [Bool] {
            let transaction = try store.database.beginWrite()
            defer { transaction.rollback() }
            return try numbers.map { try transaction.isKnownToExist($0, of: store.stone) }
        }
        let first = try store.add(3)
        let lost = try store.add(2, commits: false)
        #expect(try known(first) == [true, true, true])
        #expect(try known(lost) == [false, false])
        let later = try store.add(1)
        // The missing number could be any of them.
        #expect(try known(first + lost + later).allSatisfy { !$0 })
        try store.database.close()
    }

    @Test func `threads are never given the same number`() throws {
        let store = try Store()
        try store.database.close()
        let next = try Store(store.files)
        let given = Mutex<[ObjectNumber]>([])
        let hierarchy = next.stone.hierarchy
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<50 {
                var found: [ObjectNumber] = []
                if thread % 2 == 0 {
                    found = (try? next.add(round % 3 + 1, commits: round % 4 > 0)) ?? []
                } else if let block = try? next.database.reserveNumbers(
                    round % 7 + 1, in: hierarchy)
                {
                    found = numbers(block)
                }
                given.withLock { $0 += found }
            }
        }
        let all = given.withLock { $0 }
        let reserved = (0..<50).reduce(0) { $0 + $1 % 7 + 1 } * 4
        let added = (0..<50).reduce(0) { $0 + $1 % 3 + 1 } * 4
        #expect(all.count == reserved + added)
        #expect(Set(all).count == all.count)
        let largest = try #require(all.max())
        try next.database.close()
        let last = try Store(next.files)
        #expect(try last.add()[0] > largest)
        try last.database.close()
    }

    /// A bug: each of several threads that found no reserved number made a reservation, and one
    /// that was late to record its own moved the end of a later one back, so objects were refused
    /// as if all numbers were used up.
    @Test func `concurrent reservations leave no thread without a number`() throws {
        for round in 0..<300 {
            let store = try Store()
            // The checkpoint releases the reserved numbers, so that all threads find none.
            try store.database.checkpoint()
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                for _ in 0..<3 {
                    do { try store.add() } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
            let found = failures.withLock { $0 }
            #expect(found == [], "round \(round)")
            let snapshot = try store.database.snapshot()
            #expect(try snapshot.recordCount(of: store.stone) == 24)
            let cursor = snapshot.recordCursor(store.stone.hierarchy)
            var last = ObjectNumber(0)
            while try cursor.next() { last = cursor.number }
            // One reservation serves all threads.
            #expect(last.rawValue < 1 << 16)
            try store.database.close()
            guard found.isEmpty else { return }
        }
    }

    @Test func `a hierarchy without free numbers refuses objects`() throws {
        let store = try Store()
        let transaction = try store.database.beginWrite()
        transaction.useNumbers(
            upTo: ObjectNumber((1 << 62) - 2), in: store.stone.hierarchy)
        try transaction.commit()
        #expect(try store.add(2).map(\.rawValue) == [(1 << 62) - 1, 1 << 62])
        let error = #expect(throws: StoreError.self) { try store.add() }
        #expect(error?.code == .tooLarge)
        let next = try NumberTests.Ending.close.next(store)
        let again = #expect(throws: StoreError.self) { try next.add() }
        #expect(again?.code == .tooLarge)
        try next.database.close()
    }
}
