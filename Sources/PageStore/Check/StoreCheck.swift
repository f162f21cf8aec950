/// Checks a whole store as one snapshot shows it.
///
/// Knows no meaning of trees: a tree's root is a node that no other page names and that has no
/// fences. Reads every page, so it compares every hash that the cache has not compared.
package enum StoreCheck {
    /// Returns the errors found, none when the store is right. `knownTrees`, when given, are all
    /// trees that should be there, as the catalog names them: a tree twice is a tree that has two
    /// names.
    package static func run(
        _ snapshot: Snapshot, knownTrees: [TreeID]? = nil
    ) -> [Finding] {
        var check = TreeCheck(snapshot)
        let content: StoreContent
        do throws(StoreError) {
            content = try snapshot.content()
        } catch {
            return [Finding(error)]
        }
        for finding in content.overlaps() { check.report(finding) }
        checkSpace(of: snapshot, &check)
        checkTrees(knownTrees ?? [], in: snapshot, &check)
        let named = references(content.pages, in: snapshot)
        for id in content.pages where !named.contains(id) && !check.visited.contains(id) {
            checkUnnamed(id, in: snapshot, &check, isTreeExpected: knownTrees == nil)
        }
        for id in content.pages where !check.visited.contains(id) {
            check.report(Finding(page: id, "nothing that can be reached leads to the page"))
        }
        return check.findings
    }

    /// The first pages of the blobs that no tree has as a value: records name them, a room above.
    /// Pages that cannot be read are passed over. Reads every page.
    package static func looseBlobs(in snapshot: Snapshot) throws(StoreError) -> Set<PageID> {
        let pages = try snapshot.content().pages
        let named = references(pages, in: snapshot)
        var loose: Set<PageID> = []
        for id in pages where !named.contains(id) {
            guard let page = try? snapshot.page(id), !NodeView.isNode(page),
                page[0] != PageKind.blobChunk.rawValue,
                page[BlobLayout.flags] & BlobLayout.flagFirst != 0
            else { continue }
            loose.insert(id)
        }
        return loose
    }

    /// Only of a store without a writer: a writer's next checkpoint has a state of its own.
    private static func checkSpace(of snapshot: Snapshot, _ check: inout TreeCheck) {
        let pager = snapshot.pager
        guard pager.context.options.mode.follows, pager.withPublished({ $0.damage.isEmpty }),
            let content = try? snapshot.mapContent()
        else { return }
        for finding in SpaceCheck.run(pager, content) { check.report(finding) }
    }

    /// The catalog's tree first: it may be among the known ones or not.
    private static func checkTrees(
        _ trees: [TreeID], in snapshot: Snapshot, _ check: inout TreeCheck
    ) {
        var seen: Set<TreeID> = []
        var open = trees.sorted { $0.root < $1.root }
        if let root = snapshot.catalogRoot.map({ TreeID(root: $0) }) {
            if let index = open.firstIndex(of: root) { open.remove(at: index) }
            open.insert(root, at: 0)
        }
        for tree in open {
            if !seen.insert(tree).inserted {
                check.report(Finding(page: tree.root, "two names lead to one root"))
            } else if check.visited.contains(tree.root) {
                check.report(Finding(page: tree.root, "the root is part of another tree as well"))
            } else {
                check.checkTree(tree)
            }
        }
    }

    /// All pages that some page names. A page that cannot be read names none; the walks report it.
    private static func references(
        _ pages: [PageID], in view: PageView
    ) -> Set<PageID> {
        var named: Set<PageID> = []
        for id in pages {
            guard let page = try? view.page(id), let kind = PageKind(rawValue: page[0]) else {
                continue
            }
            switch kind {
            case .treeBranch:
                let node = NodeView(validated: page)
                for index in -1..<node.slotCount { named.insert(node.child(index)) }
            case .treeLeaf:
                let node = NodeView(validated: page)
                for index in 0..<node.slotCount where node.isOverflowValue(index) {
                    named.insert(BlobID(node.storedValue(index)).page)
                }
            case .overflow, .blobList:
                named.insert(PageID(page.uint64(at: BlobLayout.next)))
                if kind == .blobList { named.formUnion(BlobPages.chunks(of: page)) }
            case .blobChunk: break
            }
        }
        return named
    }

    private static func checkUnnamed(
        _ id: PageID, in view: PageView, _ check: inout TreeCheck, isTreeExpected: Bool
    ) {
        let page: PageBuffer
        do throws(StoreError) {
            page = try view.page(id)
        } catch {
            return check.report(Finding(error))
        }
        if NodeView.isNode(page), NodeView(validated: page).isUnbounded {
            if !isTreeExpected {
                check.report(Finding(page: id, "the catalog does not know this tree"))
            }
            check.checkTree(TreeID(root: id))
        } else if page[0] != PageKind.blobChunk.rawValue, !NodeView.isNode(page),
            page[BlobLayout.flags] & BlobLayout.flagFirst != 0
        {
            // A record may name it; records are checked a room above.
            check.checkBlobOfUnknownSize(id)
        }
    }
}

/// Which pages a snapshot has and where extents lie.
struct StoreContent {
    struct Place {
        var unit: UInt64
        var unitCount: UInt64
        var holder: Holder

        var page: PageID? {
            guard case .page(let id) = holder else { return nil }
            return id
        }
    }

    /// What lies in an extent.
    enum Holder {
        case page(PageID)
        /// A node of the map, by the ID that it is stored under, and a page below it; nil if there
        /// is none.
        case node(UInt64, above: (page: PageID, address: ExtentAddress)?)
        case zone(Int)
    }

    /// In order of id.
    var pages: [PageID]
    var places: [Place]
    var unitSizeInBytes: Int

    /// Extents that share units with another, or with the superblocks.
    func overlaps() -> [Finding] {
        var found: [Finding] = []
        var end = UInt64(2 * Limits.blockSizeInBytes / unitSizeInBytes)
        for place in places.sorted(by: { $0.unit < $1.unit }) {
            if place.unit < end {
                found.append(
                    Finding(
                        page: place.page, byteOffset: place.unit * UInt64(unitSizeInBytes),
                        "the extent lies on another one"))
            }
            end = max(end, place.unit + place.unitCount)
        }
        return found
    }
}
