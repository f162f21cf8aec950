import Foundation
import ObjectGraph
import Primitives
import TestSupport

/// The traced program: random transactions of every durability, and maintenance of a store, through
/// the public API alone. It continues after errors, as programs do.
///
/// Arguments: `run FOLDER NOTES SEED close|die STEP…`, or `read FOLDER NOTES` for a process that
/// reads beside it and follows the commands of its input.
package final class DiskWorkload {
    /// One step of a program.
    enum Step: String, CaseIterable {
        case durable, relaxed, bulk, grouped, blob, delete, cancel, unsafe
        case checkpoint, beside, race, vacuum, shrink, backup, update, reopen
        case look, copyByReader
    }

    private let folder: URL
    private let notes: DiskNotes
    private var random: SeededRandom
    private var store: DiskStore?
    private var reader: DiskReaderProcess?
    private var errorCount = 0
    private let attempts = DiskAttempts()

    /// Runs the program for the arguments; the return value is for `exit`.
    package static func main(_ arguments: [String]) -> Int32 {
        do {
            switch arguments.first {
            case "read" where arguments.count == 3:
                try DiskReader(
                    URL(fileURLWithPath: arguments[1]), DiskNotes(path: arguments[2])
                ).run()
            case "run" where arguments.count > 4:
                guard let seed = UInt64(arguments[3]) else { return 2 }
                let program = DiskWorkload(
                    URL(fileURLWithPath: arguments[1]), try DiskNotes(path: arguments[2]), seed)
                program.run(
                    arguments.dropFirst(5).compactMap(Step.init), closes: arguments[4] == "close")
            default: return 2
            }
            return 0
        } catch {
            print("\(error)")
            return 3
        }
    }

    private init(_ folder: URL, _ notes: DiskNotes, _ seed: UInt64) {
        self.folder = folder
        self.notes = notes
        random = SeededRandom(seed: seed)
    }

    private func run(_ steps: [Step], closes: Bool) {
        notes.say("arm")
        open()
        for step in steps {
            if store == nil { open() }
            guard let store else { break }
            let errorCount = errorCount
            notes.say("step \(step.rawValue)")
            run(step, store)
            // After an error of the store the program reopens it.
            if self.errorCount > errorCount { close() }
        }
        if reader?.end() == false { notes.say("wrong: the reader's process did not end well") }
        if closes { close() }
    }

    private func run(_ step: Step, _ store: DiskStore) {
        switch step {
        case .durable: commit(store, .durable)
        case .relaxed: for _ in 0...random.below(2) { commit(store, .relaxed) }
        case .bulk: commit(store, .bulk, itemCount: 12)
        case .grouped: commitGrouped(store)
        case .blob: commit(store, .durable, blobBytesMax: 90_000)
        case .delete: commit(store, .durable, deletes: true)
        case .cancel: cancel(store)
        case .unsafe: commitUnsafely(store)
        case .checkpoint: task("checkpoint") { try store.stack.checkpoint() }
        case .beside: commitBesideCheckpoints(store)
        case .race: commitBesideCheckpoints(store, commitCount: 40)
        case .vacuum: task("vacuum") { _ = try store.stack.vacuum() }
        case .shrink: shrink(store)
        case .backup, .update: back(up: store, isIncremental: step == .update)
        case .reopen: close()
        case .look, .copyByReader: read(copies: step == .copyByReader)
        }
    }

    // MARK: Opening and closing

    private func open() {
        do {
            store = try DiskStore(folder.appendingPathComponent(DiskStore.name))
        } catch {
            errorCount += 1
            notes.say("error open \(notes.code(error))")
        }
    }

    private func close() {
        guard let store else { return }
        self.store = nil
        task("close") { try store.close() }
    }

    private func task(_ name: String, _ body: () throws -> Void) {
        if !notes.task(name, body) { errorCount += 1 }
    }

    // MARK: Transactions

    private func commit(
        _ store: DiskStore, _ durability: Durability, itemCount: Int = 4, blobBytesMax: Int = 600,
        deletes: Bool = false
    ) {
        let edit = DiskEdit(
            random: SeededRandom(seed: random.next()), itemCount: itemCount,
            blobBytesMax: blobBytesMax, deletes: deletes)
        if !attempts.commit(edit, store.stack, durability, notes) { errorCount += 1 }
    }

    /// Threads that commit at once share a write.
    private func commitGrouped(_ store: DiskStore) {
        let failed = Mutex(0)
        let stack = store.stack
        let edits = (0..<3).map { _ in DiskEdit(random: SeededRandom(seed: random.next())) }
        let (attempts, notes) = (attempts, notes)
        inThreads(edits.count) { index in
            let delay = Durability.grouped(maxDelay: .milliseconds(3))
            if !attempts.commit(edits[index], stack, delay, notes) { failed.withLock { $0 += 1 } }
        }
        errorCount += failed.withLock { $0 }
    }

    /// One thread makes checkpoints, others commit: some wait for the medium and some do not.
    private func commitBesideCheckpoints(_ store: DiskStore, commitCount: Int = 6) {
        let failed = Mutex(0)
        let stack = store.stack
        let edits = (0..<commitCount).map { _ in
            DiskEdit(random: SeededRandom(seed: random.next()), itemCount: 2)
        }
        let (attempts, notes) = (attempts, notes)
        inThreads(3) { index in
            if index == 0 {
                for _ in 0..<2 {
                    let isDone = notes.task("checkpoint") { try stack.checkpoint() }
                    if !isDone { failed.withLock { $0 += 1 } }
                }
                return
            }
            for (place, edit) in edits.enumerated() where place % 2 == index - 1 {
                let durability: Durability = place % 3 == 0 ? .durable : .relaxed
                if !attempts.commit(edit, stack, durability, notes) {
                    failed.withLock { $0 += 1 }
                }
            }
        }
        errorCount += failed.withLock { $0 }
    }

    private func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for index in 0..<count {
            group.enter()
            Thread.detachNewThread {
                body(index)
                group.leave()
            }
        }
        group.wait()
    }

    /// The changes of a cancelled transaction are never seen.
    private func cancel(_ store: DiskStore) {
        // A large value is in the file before the transaction ends.
        let edit = DiskEdit(
            random: SeededRandom(seed: random.next()), itemCount: 6,
            blobBytesMax: random.below(2) == 0 ? 600 : 300_000)
        do {
            try store.stack.perform(synchronous: { [notes, attempts] transaction in
                let attempt = try attempts.make(edit, transaction, notes)
                notes.say("failed \(attempt) cancelled")
                try transaction.cancel()
            })
        } catch {
            if notes.code(error) != "cancelled" { errorCount += 1 }
        }
    }

    private func commitUnsafely(_ store: DiskStore) {
        let transaction = store.stack.beginUnsafe()
        let edit = DiskEdit(random: SeededRandom(seed: random.next()))
        var attempt: Int?
        do {
            attempt = try attempts.make(edit, transaction, notes)
            try transaction.commitAndWait(durability: .durable)
            notes.say("acknowledged \(attempt ?? 0) durable")
        } catch {
            errorCount += 1
            notes.say("failed \(attempt ?? -1) \(notes.code(error))")
        }
    }

    /// Frees the file's end, so that it is returned to the system.
    private func shrink(_ store: DiskStore) {
        for byteCount in [1_500_000, 0] {
            let edit = DiskEdit(
                random: SeededRandom(seed: random.next()), largeBytes: byteCount)
            if !attempts.commit(edit, store.stack, .durable, notes) { errorCount += 1 }
            task("checkpoint") { try store.stack.checkpoint() }
        }
        task("vacuum") { _ = try store.stack.vacuum() }
        // The space at the end of the file is free when neither superblock refers to it.
        for _ in 0..<3 {
            commit(store, .durable, itemCount: 1)
            task("checkpoint") { try store.stack.checkpoint() }
        }
    }

    // MARK: Copies and readers

    private func back(up store: DiskStore, isIncremental: Bool) {
        let name = "copy\(random.below(2)).trellis"
        let url = folder.appendingPathComponent(name)
        let exists = FileManager.default.fileExists(atPath: url.path)
        task("backup \(name)") {
            try store.stack.backup(to: url, isIncremental: isIncremental || exists)
        }
    }

    private func read(copies: Bool) {
        if reader == nil { reader = try? DiskReaderProcess(folder) }
        guard let reader else { return notes.say("wrong: no reader could be started") }
        guard copies else { return reader.tell("look") }
        let name = "copy\(2 + random.below(2)).trellis"
        reader.tell("backup \(name)")
    }
}
