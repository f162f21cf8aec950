import Dispatch
import ObjectGraph
import Proof

/// An object in the store of the traced program.
final class DiskItem: CoreStoreObject {
    @Field.Stored("number") var number: Int = 0
    @Field.Stored("tag") var tag: Int = 0
    @Field.Stored("text") var text: String = ""
    @Field.Stored("blob") var blob: Data?
    @Field.Relationship("owner") var owner: DiskItem?
    @Field.Relationship("owned", inverse: \.$owner) var owned: Set<DiskItem>
}

/// The single object that names the transaction which made the present content.
final class DiskHead: CoreStoreObject {
    @Field.Stored("attempt") var attempt: Int = 0
}

/// The content of one object as plain values.
struct DiskRow: Equatable {
    var number: Int
    var tag: Int
    var owner: Int?
    var text: String
    var blob: Data?

    var description: String {
        "\(number): tag \(tag), owner \(owner ?? -1), \(text.prefix(24)), "
            + "\(blob?.count ?? -1) bytes"
    }

    static func text(_ number: Int, seed: Int) -> String {
        "item \(number) of \(seed)" + String(repeating: " and on", count: seed % 23)
    }

    /// Bytes that do not shrink when they are compressed.
    static func blob(_ count: Int, seed: Int) -> Data? {
        guard count >= 0 else { return nil }
        var state = UInt64(truncatingIfNeeded: seed) | 1
        var bytes = Data(count: count)
        bytes.withUnsafeMutableBytes { buffer in
            for index in buffer.indices {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                buffer[index] = UInt8(truncatingIfNeeded: state >> 56)
            }
        }
        return bytes
    }

    /// A digest that is equal for equal rows, in every process.
    static func digest(_ rows: [DiskRow]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ value: UInt64) { hash = (hash ^ value) &* 0x100_0000_01b3 }
        for row in rows {
            add(UInt64(truncatingIfNeeded: row.number))
            add(UInt64(truncatingIfNeeded: row.tag))
            add(UInt64(truncatingIfNeeded: row.owner ?? -1))
            for byte in row.text.utf8 { add(UInt64(byte)) }
            add(UInt64(truncatingIfNeeded: row.blob?.count ?? -1))
            for byte in row.blob ?? Data() { add(UInt64(byte)) }
        }
        return hash
    }
}

/// The store as the public API opens it.
struct DiskStore {
    static let name = "store.trellis"

    let stack: DataStack
    private let queue = DispatchQueue(label: "view")

    init(_ url: URL, isReadOnly: Bool = false) throws(CoreStoreError) {
        var options = EngineOptions()
        options.pageSizeInBytes = 4096
        options.cacheSizeInBytes = 8 << 20
        options.isReadOnly = isReadOnly
        let schema = CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<DiskItem>(
                    "Item", indexes: [[\.$tag]], uniqueConstraints: [[\.$number]]),
                Entity<DiskHead>("Head"),
            ],
            // Without the lock each opening would print it.
            versionLock: [
                "Head": [
                    0xdcfe_fc85_ec1d_7655, 0x248b_3ca3_d12b_3570, 0x9da_4d4f_4f64_4ad8,
                    0x8318_51c6_b33f_f0d3,
                ],
                "Item": [
                    0x33eb_1623_c0a8_6d51, 0x4f81_4e18_d8d8_75c7, 0xdcb_5691_66ef_599b,
                    0x9887_a9ab_d485_f14b,
                ],
            ])
        stack = DataStack(schema, viewContext: .queue(queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url, engineOptions: options))
    }

    /// The transaction that made the content, 0 for none, and the content by number. Both are read
    /// from one commit: the stack's own view may move between two fetches.
    func content() throws -> (head: Int, rows: [DiskRow]) {
        let view = try stack.beginRead()
        let heads = try view.fetchAll(From<DiskHead>())
        guard heads.count < 2 else { throw ProofFailure("there are \(heads.count) heads") }
        let items = try view.fetchAll(From<DiskItem>().orderBy(.ascending(\.$number)))
        let rows = items.map { item in
            DiskRow(
                number: item.number, tag: item.tag, owner: item.owner?.number,
                text: item.text, blob: item.blob)
        }
        try Self.checkQueries(view, items, rows)
        return (heads.first?.attempt ?? 0, rows)
    }

    /// Checks that the index, the inverse links and the counts agree; the fetches throw read errors
    /// of getters before them.
    private static func checkQueries(
        _ view: ReadView, _ items: [DiskItem], _ rows: [DiskRow]
    ) throws {
        var owned: [Int: Set<Int>] = [:]
        for row in rows { row.owner.map { _ = owned[$0, default: []].insert(row.number) } }
        for item in items where Set(item.owned.map(\.number)) != owned[item.number] ?? [] {
            try throwFault(view)
            throw ProofFailure("item \(item.number) does not own what says that it does")
        }
        for tag in 0..<4 {
            let count = try view.fetchCount(From<DiskItem>().where(\.$tag == tag))
            let expected = rows.count { $0.tag == tag }
            guard count == expected else {
                try throwFault(view)
                throw ProofFailure("the index has \(count) items of tag \(tag), not \(expected)")
            }
        }
        guard try view.fetchCount(From<DiskItem>()) == rows.count else {
            throw ProofFailure("the count is not that of the items")
        }
    }

    /// The next fetch throws the read error of a getter, whose link is nil until then.
    private static func throwFault(_ view: ReadView) throws {
        _ = try view.fetchCount(From<DiskItem>())
    }

    func close() throws(CoreStoreError) { try stack.close() }
}
