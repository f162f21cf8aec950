import PageStore
import TestSupport
import Testing

/// Proves that no bytes of a tree, overflow or blob page make the engine trap, read outside a
/// page or run for ever:
/// - random bytes and mutated pages are refused with `corrupt`, or can be searched, walked,
///   changed, split, merged and deleted without a trap;
/// - pages of several kinds mixed into one tree end in typed errors.
@Suite struct TreePageFuzzTests {
    private static var options: Engine.Options {
        var options = Engine.Options()
        options.pageSizeInBytes = 512
        options.unitSizeInBytes = 128
        return options
    }

    private func key(_ random: inout SeededRandom) -> [UInt8] {
        random.below(4) == 0
            ? random.bytes(random.below(20)) : Array("key \(random.below(300))".utf8)
    }

    /// Pages as the tree writes them, of all kinds.
    private func originals(_ random: inout SeededRandom) throws -> [PageBuffer] {
        let engine = try Engine.inMemory(options: Self.options)
        let transaction = try engine.beginWrite()
        let tree = try transaction.createTree()
        for _ in 0..<400 {
            let value = random.bytes(random.below(12) == 0 ? 900 : random.below(30))
            try transaction.insert(key(&random).span, value.span, into: tree)
        }
        _ = try transaction.createBlob(random.bytes(70_000).span)
        _ = try transaction.commit()
        let snapshot = try engine.snapshot()
        return (1..<80 as Range<UInt64>).compactMap { number in
            guard let page = try? snapshot.page(PageID(number)), page.count == 512 else {
                return nil
            }
            return PageBuffer(copying: page)
        }
    }

    private func mutate(_ page: PageBuffer, _ random: inout SeededRandom) {
        for _ in 0...random.below(4) {
            // The header and the slots are mutated most, because most depends on them.
            let offset = random.below(3) == 0 ? random.below(page.count) : random.below(120)
            switch random.below(4) {
            case 0: page[offset] = UInt8(truncatingIfNeeded: random.next())
            case 1: page[offset] ^= 1 << UInt8(random.below(8))
            case 2: page[offset] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5)]
            default:
                let count = min(8, page.count - offset)
                let source = random.below(page.count - count)
                page.move(from: source, to: offset, count: count)
            }
        }
    }

    private func isAccepted(_ page: PageBuffer) -> Bool {
        do throws(StoreError) {
            try PageCheck.validate(page)
            return true
        } catch {
            #expect(error.code == .corrupt)
            return false
        }
    }

    @Test func `a mutated page is refused or safe to use`() throws {
        var random = SeededRandom(for: "TreePageFuzzTests")
        let pages = try originals(&random)
        var acceptedCount = 0
        for _ in FuzzRounds(400) {
            let engine = try Engine.inMemory(options: Self.options)
            let transaction = try engine.beginWrite()
            let tree = try transaction.createTree()
            for _ in 0..<120 { _ = try transaction.allocatePage(.treeLeaf) }
            // A whole neighbourhood of pages, some of them mutated; refused ones stay empty.
            for original in pages {
                let copy = PageBuffer(copying: original)
                if random.below(3) == 0 { mutate(copy, &random) }
                guard isAccepted(copy) else {
                    try transaction.editablePage(copy.id).fill(0, from: 0, count: 512)
                    continue
                }
                acceptedCount += 1
                try transaction.editablePage(copy.id).copy(copy.view, to: 0)
            }
            use(tree, in: transaction, &random)
        }
        #expect(acceptedCount > 1000)
    }

    private func use(
        _ tree: TreeID, in transaction: WriteTransaction, _ random: inout SeededRandom
    ) {
        var check = TreeCheck(transaction)
        check.checkTree(tree)
        let cursor = Cursor(transaction, tree: tree)
        var stepCount = 0
        if (try? cursor.seekFirst()) == true {
            repeat {
                _ = cursor.key.array()
                _ = try? cursor.value().array()
                stepCount += 1
            } while (try? cursor.next()) == true
        }
        // Fences are compared on the way, so no leaf is met twice.
        #expect(stepCount < 10_000)
        let writer = TreeWriter(transaction, tree: tree)
        for _ in 0..<60 {
            let key = key(&random)
            let value = random.bytes(random.below(16) == 0 ? 700 : random.below(90))
            switch random.below(5) {
            case 0: _ = try? transaction.remove(key.span, from: tree)
            case 1: _ = try? writer.remove(key.span)
            case 2: _ = try? writer.insert(key.span, value.span)
            case 3: _ = try? cursor.seek(key.span)
            default: _ = try? transaction.insert(key.span, value.span, into: tree)
            }
            _ = try? transaction.withValue(for: key.span, in: tree) { $0.array() }
            if cursor.isValid { _ = try? cursor.previous() }
        }
        try? transaction.deleteTree(tree)
    }

    @Test(arguments: [512, 4096])
    func `random bytes are refused as a page of every kind`(_ size: Int) {
        var random = SeededRandom(for: "TreePageFuzzTests random bytes")
        let kinds: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 255]
        for round in FuzzRounds(500 * kinds.count) {
            let page = PageBuffer(id: PageID(9), count: size)
            let density = random.below(4)
            for offset in 1..<size where random.below(1 << (3 * density)) == 0 {
                page[offset] = UInt8(truncatingIfNeeded: random.next())
            }
            let kind = kinds[round % kinds.count]
            page[0] = kind
            let known = PageKind(rawValue: kind) != nil
            #expect(isAccepted(page) == false || known)
        }
    }
}
