import PageStore

/// Judges the answers of a store in which one field was changed and every hash made correct again,
/// where opening and `check` report nothing.
///
/// Each answer must be that of the commit whose number the snapshot has, or an error, except where
/// the changed bytes make another store that is as valid. Only these do:
///
/// - In a superblock, the commit's number: the content is that of any one commit, as a whole.
/// - In a leaf, its keys and values: entries of this leaf differ, and new ones lie between the keys
///   of its neighbours.
/// - In a page of a long value, its bytes: this value differs.
/// - In the log, all of it: it is another history, whose versions of pages are those of the true
///   one. Each key has a value that it has in some commit, or none if it is missing in one.
///
/// Branches, the map and the allocation state have no such fields. In every case a lookup of a key
/// agrees with a scan.
struct LieJudge {
    /// What was changed.
    enum Field {
        /// Offsets of bytes in it.
        case superblock([Int])
        case leaf(page: UInt64)
        case longValue
        case structure
        case log
    }

    private typealias Content = [[UInt8]: [UInt8]]

    private let sample: DamageProof.Sample
    /// By commit.
    private let contents: [Content]
    /// The keys of the newest commit's leaves.
    private let leaves: [UInt64: [[UInt8]]]
    private let kinds: [UInt64: PageKind]

    init(_ sample: DamageProof.Sample) throws {
        self.sample = sample
        contents = sample.contents.map { content in
            Dictionary(uniqueKeysWithValues: content.map { ($0.key.key, $0.value.bytes) })
        }
        guard case .shows(let engine) = try DamageVerdict.of(sample.bytes, seed: 1) else {
            throw ProofFailure("\(sample.name) is not sound")
        }
        let snapshot = try engine.snapshot()
        var leaves: [UInt64: [[UInt8]]] = [:]
        if let root = snapshot.catalogRoot {
            let cursor = Cursor(snapshot, tree: TreeID(root: root))
            var isMore = try cursor.seekFirst()
            while isMore {
                let page = cursor.publishedPage?.id.rawValue ?? 0
                leaves[page, default: []].append(cursor.key.array())
                isMore = try cursor.next()
            }
        }
        self.leaves = leaves
        var kinds: [UInt64: PageKind] = [:]
        for extent in StoreSeal(sample.bytes).extents {
            let id = Self.pageID(extent, sample.bytes)
            guard id > 0, let page = try? snapshot.page(PageID(id)) else { continue }
            kinds[id] = PageKind(rawValue: page[0])
        }
        self.kinds = kinds
    }

    /// The page whose image an extent has; 0 for an extent of the map or of the allocation state.
    private static func pageID(_ extent: Range<Int>, _ bytes: [UInt8]) -> UInt64 {
        bytes.withView { view in
            let kind = view.uint16(at: extent.lowerBound + ExtentLayout.kind)
            guard kind == ExtentKind.page.rawValue else { return 0 }
            return view.uint64(at: extent.lowerBound + ExtentLayout.pageID)
        }
    }

    func field(in extent: Range<Int>) -> Field {
        let id = Self.pageID(extent, sample.bytes)
        switch kinds[id] {
        case .treeLeaf: return .leaf(page: id)
        case .overflow, .blobList, .blobChunk: return .longValue
        case .treeBranch, nil: return .structure
        }
    }

    /// Returns false when an error reports the damage: of reading, or of the catalog, which only a
    /// store of commit 0 may lack. Throws when an answer is neither
    /// right nor explained by the field.
    func judge(_ engine: Engine, _ field: Field) throws -> Bool {
        let snapshot = try engine.snapshot()
        // spec/07-catalog.md: the catalog is opened by RecordStore, and refused there.
        if snapshot.catalogRoot == nil, snapshot.commitNumber > 0 { return false }
        let shown: Content
        let contradicted: [UInt8]?
        do throws(StoreError) {
            shown = try content(snapshot)
            contradicted = try firstKey(whereLookupsContradict: shown, in: snapshot)
        } catch {
            guard [.corrupt, .truncated].contains(error.code),
                error.page != nil || error.byteOffset != nil
            else { throw ProofFailure("an error that does not say what is damaged: \(error)") }
            return false
        }
        if let contradicted {
            throw ProofFailure("a lookup of key \(contradicted) does not agree with a scan")
        }
        let number = Int(clamping: snapshot.commitNumber)
        let expected = contents.indices.contains(number) ? contents[number] : nil
        guard shown != expected, !isExplained(shown, instead: expected, by: field) else {
            return true
        }
        let keys = difference(expected ?? [:], shown).sorted { $0.lexicographicallyPrecedes($1) }
        throw ProofFailure(
            "commit \(number) shows other content and nothing is reported: \(keys.count) keys, "
                + "the first \(keys.first ?? [])")
    }

    private func isExplained(
        _ shown: Content, instead expected: Content?, by field: Field
    ) -> Bool {
        switch field {
        case .structure: return false
        case .superblock(let bytes):
            let number = SuperblockLayout.commitNumber
            return bytes.contains { (number..<(number + 8)).contains($0) }
                && contents.contains(shown)
        case .leaf(let page):
            return expected.map { isChangedOnly(in: page, $0, shown) } ?? false
        case .longValue:
            guard let expected else { return false }
            return Set(expected.keys) == Set(shown.keys)
                && difference(expected, shown).count == 1
        case .log:
            return Set(shown.keys).union(contents.flatMap(\.keys)).allSatisfy { key in
                contents.contains { $0[key] == shown[key] }
            }
        }
    }

    private func difference(_ expected: Content, _ shown: Content) -> [[UInt8]] {
        Set(expected.keys).union(shown.keys).filter { expected[$0] != shown[$0] }
    }

    /// Whether only keys of a leaf differ, and new ones lie between those of its neighbours.
    private func isChangedOnly(
        in page: UInt64, _ expected: Content, _ shown: Content
    ) -> Bool {
        guard let own = leaves[page], let first = own.first, let last = own.last else {
            return false
        }
        let others = leaves.filter { $0.key != page }.values.flatMap(\.self)
        let before = others.filter { $0.lexicographicallyPrecedes(first) }
            .max { $0.lexicographicallyPrecedes($1) }
        let after = others.filter { last.lexicographicallyPrecedes($0) }
            .min { $0.lexicographicallyPrecedes($1) }
        return difference(expected, shown).allSatisfy { key in
            if own.contains(key) { return true }
            guard expected[key] == nil else { return false }
            return before?.lexicographicallyPrecedes(key) ?? true
                && after.map { key.lexicographicallyPrecedes($0) } ?? true
        }
    }

    // MARK: Reading

    private func content(_ snapshot: Snapshot) throws(StoreError) -> Content {
        var content: Content = [:]
        guard let root = snapshot.catalogRoot else { return content }
        let cursor = Cursor(snapshot, tree: TreeID(root: root))
        var isMore = try cursor.seekFirst()
        while isMore {
            content[cursor.key.array()] = try cursor.value().array()
            isMore = try cursor.next()
        }
        return content
    }

    /// - Parameter shown: what a scan has found.
    private func firstKey(
        whereLookupsContradict shown: Content, in snapshot: Snapshot
    ) throws(StoreError) -> [UInt8]? {
        guard let root = snapshot.catalogRoot else { return nil }
        for key in Set(shown.keys).union(contents.flatMap(\.keys)) {
            let found = try snapshot.withValue(for: key.span, in: TreeID(root: root)) {
                $0.array()
            }
            if found != shown[key] { return key }
        }
        return nil
    }
}
