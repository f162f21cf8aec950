import PageStore

/// Checks an unfinished migration, and searches for blobs that no record names: spec/07-catalog.md,
/// 7.6. The pages of its trees are checked like all pages.
struct MigrationCheck {
    private let catalog: Catalog
    private let view: PageView
    /// The blobs that records of the file's model name; nil if some records could not be read.
    private let blobs: Set<BlobID>?
    private var findings: [Finding] = []

    static func run(_ reader: RecordReader, blobs: Set<BlobID>?) -> [Finding] {
        var check = MigrationCheck(reader, blobs)
        do throws(StoreError) {
            try check.run()
        } catch {
            check.findings.append(Finding(error))
        }
        return check.findings
    }

    private init(_ reader: RecordReader, _ blobs: Set<BlobID>?) {
        (catalog, view) = (reader.catalog, reader.view)
        self.blobs = blobs
    }

    private mutating func report(_ message: String, page: PageID? = nil) {
        guard findings.count < TreeCheck.findingCountMax else { return }
        findings.append(Finding(page: page, message))
    }

    private mutating func run() throws(StoreError) {
        let phase = try catalog.migration(view)?.phase
        for (prefix, expected) in [
            (MigrationShadow.prefix, MigrationState.Phase.copying),
            (ReplacedTrees.prefix, .dropping),
        ] where phase != expected {
            for key in try catalog.keys(beginning: prefix, of: view) {
                report("\(prefix)\(key) is there without its migration")
            }
        }
        var others: Set<BlobID> = []
        switch phase {
        case .copying:
            let shadow = try MigrationShadow.open(beside: catalog, in: view)
            // This is the schema of an intermediate step.
            _ = try shadow.catalog.resolvedSchema(view)
            _ = try shadow.catalog.movedObjects(view)
            others = try names(in: shadow.ledger.made)
            if let blobs {
                for blob in try names(in: shadow.ledger.freed).subtracting(blobs) {
                    report("the migration drops a blob that the file's model does not have", blob)
                }
            }
        case .dropping:
            if let tree = try catalog.tree(ofKey: ReplacedTrees.blobsKey, of: view) {
                others = try names(in: tree)
            }
        case nil: break
        }
        try compare(others)
    }

    /// The names of blobs in a ledger.
    private mutating func names(in tree: TreeID) throws(StoreError) -> Set<BlobID> {
        var names: Set<BlobID> = []
        let cursor = Cursor(view, tree: tree)
        var isValid = try cursor.seekFirst()
        while isValid {
            let key = cursor.key.array()
            if key.count == 16, try cursor.value().isEmpty {
                names.insert(key.withView { BlobID($0) })
            } else {
                report("an entry of a migration's blobs is no name of one", page: tree.root)
            }
            isValid = try cursor.next()
        }
        return names
    }

    /// Every blob must belong either to the file's model or to the others.
    private mutating func compare(_ others: Set<BlobID>) throws(StoreError) {
        guard let blobs, let snapshot = view as? Snapshot else { return }
        let loose = try StoreCheck.looseBlobs(in: snapshot)
        let known = Set(blobs.map(\.page))
        for blob in others {
            if known.contains(blob.page) {
                report("a migration's blob is one of the file's model as well", blob)
            } else if !loose.contains(blob.page) {
                report("a migration names a blob that is not there", blob)
            }
        }
        for page in loose.subtracting(known).subtracting(others.map(\.page)).sorted() {
            report("nothing names the blob", page: page)
        }
    }

    private mutating func report(_ message: String, _ blob: BlobID) {
        report(message, page: blob.page)
    }
}
