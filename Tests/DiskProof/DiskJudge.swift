import Foundation
import ObjectGraph
import PageStore
import Proof
import RecordStore
import TestSupport

/// Opens images with the public API and compares their content with the ledger.
struct DiskJudge {
    /// The content of a valid image.
    struct Finding {
        /// The transaction that made the content; nil without a store.
        var head: Int?
        var copies: [String: Int] = [:]
    }

    var ledger = DiskLedger()
    private(set) var report = ProofReport()
    private let folder: URL
    /// The known content of files by hash: equal bytes have equal content.
    private var known: [UInt64: Int] = [:]
    private var seenImages: Set<UInt64> = []
    private var imageCount = 0

    init(folder: URL) { self.folder = folder }

    mutating func count(_ name: String) { report.count(name) }

    /// - Parameter bound: the transaction that must be there.
    mutating func judge(
        _ image: DiskMedium.Image, from bound: Int, _ random: inout SeededRandom
    ) throws -> Finding {
        report.count("images")
        if seenImages.insert(Self.fingerprint(image)).inserted { report.count("different images") }
        var finding = Finding()
        if let bytes = image[DiskStore.name] {
            let head = try head(of: bytes, image, from: bound, &random)
            try ledger.require(head, from: bound, "the store")
            finding.head = head
        } else if bound != 0 {
            throw ProofFailure("the store has lost its name")
        }
        for (name, copy) in ledger.copies {
            guard let bytes = image[name] else {
                guard copy.mayBeAbsent else { throw ProofFailure("\(name) is gone") }
                continue
            }
            let head = try copyHead(name, bytes)
            try ledger.require(head, from: 0, name)
            guard copy.heads.contains(head) else {
                throw ProofFailure("\(name) shows \(head), and was not made of it")
            }
            guard ledger.descends(finding.head ?? 0, from: head) else {
                throw ProofFailure("\(name) shows \(head), which the store has lost")
            }
            finding.copies[name] = head
        }
        return finding
    }

    private static func fingerprint(_ image: DiskMedium.Image) -> UInt64 {
        image.sorted { $0.key < $1.key }.reduce(0) { hash, file in
            let name = Array(file.key.utf8).withView { Checksum.hash($0, seed: hash) }
            return file.value.withView { Checksum.hash($0, seed: name) }
        }
    }

    // MARK: The store

    private mutating func head(
        of bytes: [UInt8], _ image: DiskMedium.Image, from bound: Int, _ random: inout SeededRandom
    ) throws -> Int {
        let fingerprint = bytes.withView { Checksum.hash($0, seed: 0) }
        if let head = known[fingerprint] { return head }
        let home = try place(image)
        defer { try? FileManager.default.removeItem(at: home) }
        let url = home.appendingPathComponent(DiskStore.name)
        report.count("stores opened")
        let isUnborn = try check(url, mayBeUnborn: bound == 0)
        let isReadOnly = !isUnborn && random.below(3) == 0
        let store = try DiskStore(url, isReadOnly: isReadOnly)
        let (head, rows) = try store.content()
        try compare(rows, head, "the store")
        if !isReadOnly && random.below(4) == 0 {
            try goOn(store, home, rows, &random)
        } else {
            try store.close()
        }
        known[fingerprint] = head
        return head
    }

    private mutating func compare(_ rows: [DiskRow], _ head: Int, _ name: String) throws {
        try ledger.require(head, from: 0, name)
        if let difference = ledger.difference(rows, head) {
            throw ProofFailure("\(name) shows \(head), but not what that has: \(difference)")
        }
    }

    /// A new folder with an image's files.
    private mutating func place(_ image: DiskMedium.Image) throws -> URL {
        imageCount += 1
        let home = folder.appendingPathComponent("image\(imageCount)")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        try DiskFolder.write(image, to: home)
        return home
    }

    /// Checks the whole file, as `trellis check` does. Returns whether it is a store whose creation
    /// had not ended.
    private func check(_ url: URL, mayBeUnborn: Bool) throws -> Bool {
        var options = Engine.Options()
        options.mode = .reading
        options.cacheSizeInBytes = 8 << 20
        let engine: Engine
        do throws(StoreError) {
            engine = try Engine.open(path: url.path, options: options)
        } catch {
            guard mayBeUnborn, [.notAStore, .corrupt, .truncated].contains(error.code) else {
                throw error
            }
            return true
        }
        let snapshot = try engine.snapshot()
        var findings = StoreCheck.run(snapshot)
        if snapshot.catalogRoot != nil {
            findings += try RecordDatabase.openReadOnly(engine).snapshot().check()
        }
        try engine.close()
        if let finding = findings.first { throw ProofFailure("check: \(finding)") }
        return snapshot.catalogRoot == nil
    }

    /// The store and its copies can be written after the cut.
    private mutating func goOn(
        _ store: DiskStore, _ home: URL, _ rows: [DiskRow], _ random: inout SeededRandom
    ) throws {
        report.count("continued")
        var expected = Dictionary(rows.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        for _ in 0...random.below(2) {
            let edit = DiskEdit(random: SeededRandom(seed: random.next()))
            let changes = try store.stack.perform(synchronous: { try edit.apply($0) })
            for change in changes { change.apply(to: &expected) }
        }
        let after = expected.values.sorted { $0.number < $1.number }
        let copies = ledger.copies.keys.sorted().map(home.appendingPathComponent)
            .filter { FileManager.default.fileExists(atPath: $0.path) }
        if let copy = copies.first {
            report.count("copies continued")
            try store.stack.backup(to: copy, isIncremental: true)
        }
        if random.below(2) == 0 { try store.stack.checkpoint() }
        try store.close()
        for url in copies.prefix(1) + [home.appendingPathComponent(DiskStore.name)] {
            let again = try DiskStore(url, isReadOnly: true)
            guard try again.content().rows == after else {
                throw ProofFailure("what was committed after the cut is not in \(url.path)")
            }
            try again.close()
        }
    }

    // MARK: Copies

    private mutating func copyHead(_ name: String, _ bytes: [UInt8]) throws -> Int {
        let fingerprint = bytes.withView { Checksum.hash($0, seed: 0) }
        if let head = known[fingerprint] { return head }
        let home = try place([name: bytes])
        defer { try? FileManager.default.removeItem(at: home) }
        report.count("copies opened")
        let url = home.appendingPathComponent(name)
        _ = try check(url, mayBeUnborn: false)
        let store = try DiskStore(url, isReadOnly: true)
        let (head, rows) = try store.content()
        try store.close()
        try compare(rows, head, name)
        known[fingerprint] = head
        return head
    }
}
