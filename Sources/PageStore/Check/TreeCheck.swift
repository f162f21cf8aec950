/// Walks trees and blobs of one view and collects errors.
///
/// Never traps and never loops: every page is entered once. Memory grows with the number of pages,
/// and at most `findingCountMax` findings are kept.
package struct TreeCheck {
    package static let findingCountMax = 1000

    private let view: PageView
    /// The pages that a walk entered.
    package private(set) var visited: Set<PageID> = []
    package private(set) var findings: [Finding] = []
    /// Entries of the leaves that were walked.
    package private(set) var entryCount = 0

    package init(_ view: PageView) {
        self.view = view
    }

    package mutating func report(_ finding: Finding) {
        if findings.count < Self.findingCountMax { findings.append(finding) }
    }

    /// The properties that a page must have, by the page or record that names it.
    private struct Expectation {
        var id: PageID
        /// Nil for a root, which may have any level.
        var level: Int?
        var lower: [UInt8] = []
        var upper: [UInt8] = []
        var parent: PageID?
    }

    /// Walks a tree: its nodes, their order and fences, and the values that lie elsewhere.
    package mutating func checkTree(_ tree: TreeID) {
        var open = [Expectation(id: tree.root)]
        while let expected = open.popLast() {
            guard let page = enter(expected.id, from: expected.parent) else { continue }
            guard NodeView.isNode(page) else {
                report(Finding(NodeView.notANode(page.id)))
                continue
            }
            let node = NodeView(validated: page)
            if let level = expected.level, node.level != level {
                // Its children are not followed: levels bound the walk.
                report(Finding(NodeView.wrongLevel(page.id, expected: level)))
                continue
            }
            compareFences(of: node, with: expected)
            if node.isLeaf {
                entryCount += node.slotCount
                checkValues(of: node)
            } else {
                open += children(of: node)
            }
        }
    }

    private mutating func compareFences(of node: NodeView, with expected: Expectation) {
        guard node.lowerFence.array() != expected.lower || node.upperFence.array() != expected.upper
        else { return }
        let message =
            expected.level == nil
            ? "the root of a tree has fences" : "the node's fences are not the bounds in its parent"
        report(
            Finding(page: node.page.id, byteOffset: UInt64(NodeLayout.fences), message))
    }

    /// In reverse, so that the walk takes them in order of key.
    private func children(of node: NodeView) -> [Expectation] {
        let prefix = node.prefix.array()
        var bounds = [node.lowerFence.array()]
        for index in 0..<node.slotCount { bounds.append(prefix + node.suffix(index).array()) }
        bounds.append(node.upperFence.array())
        return (-1..<node.slotCount).reversed().map { index in
            Expectation(
                id: node.child(index), level: node.level - 1, lower: bounds[index + 1],
                upper: bounds[index + 2], parent: node.page.id)
        }
    }

    private mutating func checkValues(of leaf: NodeView) {
        for index in 0..<leaf.slotCount where leaf.isOverflowValue(index) {
            checkBlob(BlobID(leaf.storedValue(index)), from: leaf.page.id)
        }
    }

    /// Walks a blob: its pages, their sizes and their chunks.
    package mutating func checkBlob(_ blob: BlobID, from owner: PageID? = nil) {
        var pages = BlobPages(blob, in: view)
        var chunkNumber: UInt64 = 0
        do throws(StoreError) {
            var isFirst = true
            while let page = try pages.next() {
                guard enter(page.id, from: isFirst ? owner : blob.page) != nil else { return }
                isFirst = false
                guard pages.shape.isChunked else { continue }
                for chunk in BlobPages.chunks(of: page) {
                    let size = pages.shape.chunkPayloadSize(chunkNumber)
                    chunkNumber += 1
                    guard let image = enter(chunk, from: page.id) else { continue }
                    _ = try BlobPages.checkedChunk(page: image, payloadSize: size)
                }
            }
        } catch {
            report(Finding(error))
        }
    }

    /// Walks the linked pages of a blob whose size is not known here, as of one that a record
    /// names.
    mutating func checkBlobOfUnknownSize(_ first: PageID) {
        var next: PageID? = first
        while let id = next {
            guard let page = enter(id, from: id == first ? nil : first) else { return }
            guard let kind = PageKind(rawValue: page[0]), kind == .overflow || kind == .blobList
            else {
                return report(Finding(page: id, "the page does not belong to a blob's run"))
            }
            if kind == .blobList {
                for chunk in BlobPages.chunks(of: page) { _ = enter(chunk, from: id) }
            }
            let following = PageID(page.uint64(at: BlobLayout.next))
            next = following.rawValue == 0 ? nil : following
        }
    }

    /// The page, validated, unless it cannot be read or has been entered before.
    private mutating func enter(_ id: PageID, from owner: PageID?) -> PageBuffer? {
        guard visited.insert(id).inserted else {
            let who = owner.map { " by \($0)" } ?? ""
            report(Finding(page: id, "the page is named twice, the second time\(who)"))
            return nil
        }
        do throws(StoreError) {
            let page = try view.page(id)
            // Pages of an open transaction have not been validated.
            try PageCheck.validate(page)
            return page
        } catch {
            report(Finding(error))
            return nil
        }
    }
}

extension PageView {
    /// Walks a tree and throws the first thing that is wrong with it. For tests, at the end of
    /// whatever changed the tree. Returns the number of entries.
    @discardableResult
    package final func checkInvariants(of tree: TreeID) throws(StoreError) -> Int {
        var check = TreeCheck(self)
        check.checkTree(tree)
        if let finding = check.findings.first {
            throw StoreError(
                finding.code, finding.message, page: finding.page?.rawValue,
                byteOffset: finding.byteOffset)
        }
        return check.entryCount
    }
}
