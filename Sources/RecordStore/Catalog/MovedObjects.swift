import PageStore

/// Byte offsets within an entry of the moved objects: spec/07-catalog.md, 7.8.
package enum MoveLayout {
    package static let generation = 0
    package static let earlierNameSize = 4
    package static let laterNameSize = 6
    package static let offset = 8
    package static let earlierName = 16
}

/// How migrations have changed the identities of objects, so that those that programs have saved
/// lead to the same objects: an entity got another name, its objects got other numbers because
/// their hierarchy joined another one, or it was removed. See spec/07-catalog.md, 7.8.
///
/// Each migration that does so begins a generation of identities. An identity is resolved by the
/// moves of later generations than its own. So a name or a number that is used again leads to
/// another object only in an identity of the later generation.
package struct MovedObjects: Equatable, Sendable {
    /// A move of all objects of exactly one entity.
    package struct Move: Equatable, Sendable {
        package var generation: UInt32
        package var earlierName: String
        /// Nil if the entity was removed, with its objects.
        package var laterName: String?
        /// The number that is added to those of the objects.
        package var offset: UInt64

        /// A move of a migration that is not recorded yet.
        init(_ earlierName: String, _ laterName: String?, offset: UInt64 = 0) {
            generation = 0
            (self.earlierName, self.laterName) = (earlierName, laterName)
            self.offset = offset
        }

        fileprivate var changesAny: Bool { offset > 0 || earlierName != laterName }
    }

    static let form = 1
    private static let headerSize = 4
    private typealias Layout = MoveLayout

    /// In the order of their generations, and in each in that of the bytes of their earlier names.
    package private(set) var moves: [Move] = []

    package init() {}

    // MARK: Use

    /// The generations of the identities that name an entity, by its name: that of the last move
    /// from it, so that a move leaves the identities of other entities as they are. Others have 0.
    package var generations: [String: UInt32] {
        Dictionary(moves.map { ($0.earlierName, $0.generation) }) { _, last in last }
    }

    /// The present entity and number of an object; nil if it was removed with its entity, and for
    /// an identity that no object can have.
    package func resolve(
        _ entity: String, _ number: ObjectNumber, generation: UInt32
    ) -> (entity: String, number: ObjectNumber)? {
        guard !moves.isEmpty else { return generation == 0 ? (entity, number) : nil }
        guard generation <= moves[moves.count - 1].generation else { return nil }
        var (name, number, reached) = (entity, number.rawValue, generation)
        for move in moves where move.generation > reached && move.earlierName == name {
            let (later, isTooLarge) = number.addingReportingOverflow(move.offset)
            guard let laterName = move.laterName, !isTooLarge, later <= NumberReserve.numberMax
            else { return nil }
            (name, number, reached) = (laterName, later, move.generation)
        }
        return (name, ObjectNumber(number))
    }

    /// Adds the moves of one migration as a generation; without any it adds none.
    mutating func add(_ added: [Move]) {
        let generation = (moves.last?.generation ?? 0) + 1
        let changes = added.filter(\.changesAny)
            .sorted { $0.earlierName.utf8.lexicographicallyPrecedes($1.earlierName.utf8) }
        for var move in changes {
            move.generation = generation
            moves.append(move)
        }
    }

    // MARK: Saved form

    init(_ bytes: [UInt8], page: PageID) throws(StoreError) {
        func damage(_ message: String) -> StoreError {
            .corrupt(page, "the catalog's entry \(Catalog.movedKey) \(message)")
        }
        guard bytes.count >= Self.headerSize else { throw damage("is too short") }
        let form = bytes.withView { $0.uint16(at: 0) }
        guard form == Self.form else {
            throw StoreError(
                .newerFormat,
                "the list of moved objects has version \(form); this program knows \(Self.form)",
                page: page.rawValue)
        }
        var start = Self.headerSize
        while start < bytes.count {
            guard start + Layout.earlierName <= bytes.count else { throw damage("is cut off") }
            let (generation, first, last, offset) = bytes.withView { bytes in
                (
                    bytes.uint32(at: start + Layout.generation),
                    Int(bytes.uint16(at: start + Layout.earlierNameSize)),
                    Int(bytes.uint16(at: start + Layout.laterNameSize)),
                    bytes.uint64(at: start + Layout.offset)
                )
            }
            let middle = start + Layout.earlierName + first
            guard middle + last <= bytes.count else { throw damage("is cut off") }
            let earlier = String(
                validating: bytes[(start + Layout.earlierName)..<middle], as: UTF8.self)
            let later = String(validating: bytes[middle..<(middle + last)], as: UTF8.self)
            guard let earlier, let later, first > 0 else {
                throw damage("has a name that no entity can have")
            }
            let previous = moves.last?.generation ?? 0
            // Generations follow each other without a gap.
            guard generation == previous + 1 || generation == previous && generation > 0 else {
                throw damage("has the generation \(generation) after \(previous)")
            }
            if generation == previous, let former = moves.last?.earlierName {
                guard former.utf8.lexicographicallyPrecedes(earlier.utf8) else {
                    throw damage("moves “\(earlier)” after “\(former)” in generation \(generation)")
                }
            }
            var move = Move(earlier, last > 0 ? later : nil, offset: offset)
            guard move.changesAny, offset <= (last > 0 ? NumberReserve.numberMax : 0) else {
                throw damage("moves “\(earlier)” by \(offset)")
            }
            move.generation = generation
            moves.append(move)
            start = middle + last
        }
    }

    var bytes: [UInt8] {
        let buffer = ByteBuffer(capacity: Self.headerSize + moves.count * 3 * Layout.earlierName)
        buffer.appendUInt16(UInt16(Self.form))
        buffer.appendUInt16(0)
        for move in moves {
            let earlier = Array(move.earlierName.utf8)
            let later = Array((move.laterName ?? "").utf8)
            buffer.appendUInt32(move.generation)
            buffer.appendUInt16(UInt16(earlier.count))
            buffer.appendUInt16(UInt16(later.count))
            buffer.appendUInt64(move.offset)
            earlier.withView { buffer.append($0) }
            later.withView { buffer.append($0) }
        }
        return buffer.view.array()
    }
}

extension Catalog {
    static let movedKey = "moved"

    /// How migrations have changed identities. Of the later model in a migration's copy.
    func movedObjects(_ view: PageView) throws(StoreError) -> MovedObjects {
        guard let bytes = try entry(prefix + Self.movedKey, of: view) else {
            return MovedObjects()
        }
        return try MovedObjects(bytes, page: root.root)
    }

    /// Records the moves of a step of a migration, in the transaction that makes them.
    func addMoves(
        _ moves: [MovedObjects.Move], in editor: WriteTransaction
    ) throws(StoreError) {
        var moved = try movedObjects(editor)
        let count = moved.moves.count
        moved.add(moves)
        guard moved.moves.count > count else { return }
        try setEntry(prefix + Self.movedKey, moved.bytes, in: editor)
    }
}
