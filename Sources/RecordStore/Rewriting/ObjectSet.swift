import PageStore
import Primitives

/// The numbers of a hierarchy's objects that belong to some of its entities, to be asked for many
/// of them.
struct ObjectSet {
    private enum Numbers {
        /// All numbers up to one: the hierarchy has never lost an object.
        case all(upTo: UInt64)
        case some(BitMap)
        /// The bits would take too much memory, so each record is looked up.
        case unread
    }

    /// The largest number for which bits are kept, which take an eighth of it in bytes.
    private static let bitCountMax: UInt64 = 1 << 28

    private let reader: RecordReader
    private let hierarchy: HierarchyID
    private let tags: Set<UInt16>
    private var numbers: Numbers

    init(
        _ hierarchy: HierarchyID, _ tags: Set<UInt16>, _ run: MigrationRun
    ) throws(StoreError) {
        let reader = try run.transaction
        (self.reader, self.hierarchy, self.tags) = (reader, hierarchy, tags)
        numbers = .unread
        let root = reader.schema.knownEntity(tag: hierarchy.rootTag)
        let last = try reader.catalog.counter(Catalog.numberKey(hierarchy), of: reader.view)
        var count: UInt64 = 0
        for tag in root.tags.intersection(tags) {
            count &+= try reader.catalog.counter(Catalog.countKey(tag), of: reader.view)
        }
        if count == last {
            numbers = .all(upTo: last)
        } else if last <= Self.bitCountMax {
            var bits = BitMap(bitCount: Int(last) + 1)
            let cursor = reader.recordCursor(hierarchy, isScan: true)
            while try cursor.next() {
                try run.count()
                let number = cursor.number
                guard number.rawValue <= last else {
                    throw .corrupt(nil, "\(root.name) \(number.rawValue) was never given out")
                }
                if try tags.contains(cursor.row().entityTag) { bits.insert(number.rawValue, 1) }
            }
            numbers = .some(bits)
        }
    }

    func contains(_ number: ObjectNumber) throws(StoreError) -> Bool {
        switch numbers {
        case .all(let last): number.rawValue > 0 && number.rawValue <= last
        case .some(let bits): bits.contains(number.rawValue)
        case .unread:
            try reader.withRow(number, in: hierarchy) { tags.contains($0.entityTag) } ?? false
        }
    }
}
