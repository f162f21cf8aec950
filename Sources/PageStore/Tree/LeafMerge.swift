/// A key without a value that is added to a tree or taken from it.
package struct KeyEdit {
    package let key: ByteView
    package let isRemoval: Bool

    package init(_ key: ByteView, isRemoval: Bool) {
        self.key = key
        self.isRemoval = isRemoval
    }
}

/// A leaf's entries and edits that fall into it, in one row, before any page changes.
struct LeafMerge {
    /// Where a new leaf begins, and the fence before it.
    struct Cut {
        var index: Int
        var separator: [UInt8]
    }

    /// A copy of the leaf.
    private let old: NodeView
    private let edits: ArraySlice<KeyEdit>
    /// In key order: a slot of the old leaf, or the complement of an edit's position.
    private var entries: [Int32] = []
    /// The size of the entries after the old leaf's prefix.
    private var sizeInBytes = 0
    /// The edits that add a key of which another one of the leaf differs in the suffix alone.
    private(set) var conflictCandidates: [Int] = []
    /// Those of which another leaf may have such a key.
    private(set) var undecided: [Int] = []

    /// Nil when a value that lies elsewhere would have to go.
    ///
    /// - Parameter shape: of the keys; nil when keys that differ in their suffix alone do not
    ///   matter.
    init?(_ old: NodeView, _ edits: ArraySlice<KeyEdit>, _ shape: KeyShape?) {
        self.old = old
        self.edits = edits
        entries.reserveCapacity(old.slotCount + edits.count)
        var slot = 0
        for position in edits.indices {
            let edit = edits[position]
            // Of one key the last edit counts.
            if position + 1 < edits.endIndex, edits[position + 1].key == edit.key { continue }
            let (index, isEqual) = old.search(edit.key, from: slot)
            keep(slot..<index)
            slot = index
            if isEqual {
                if old.isOverflowValue(slot) { return nil }
                slot += 1
            }
            if edit.isRemoval { continue }
            if let shape {
                look(for: shape.beginning(of: edit.key), of: position, before: slot)
            }
            entries.append(~Int32(position))
            sizeInBytes += NodeLayout.entrySize(
                keySize: edit.key.count - old.prefixSize, valueSize: 0)
        }
        keep(slot..<old.slotCount)
    }

    private mutating func keep(_ slots: Range<Int>) {
        for slot in slots {
            entries.append(Int32(slot))
            sizeInBytes += NodeLayout.slotSize + old.cellSize(slot)
        }
    }

    /// Keys with a common beginning are adjacent, so the neighbours suffice.
    private mutating func look(for beginning: ByteView, of position: Int, before slot: Int) {
        let isShared =
            entries.last.map { hasPrefix(beginning, $0) } == true
            || slot < old.slotCount && old.hasPrefix(beginning, at: slot)
        if isShared { return conflictCandidates.append(position) }
        // The fences say whether the leaves beside this one may hold such keys.
        let mayBeBefore = entries.isEmpty && old.lowerFence.compare(beginning) > 0
        let mayBeBehind = slot == old.slotCount && old.upperFence.hasPrefix(beginning)
        if mayBeBefore || mayBeBehind { undecided.append(position) }
    }

    private func hasPrefix(_ beginning: ByteView, _ entry: Int32) -> Bool {
        entry < 0
            ? edits[Int(~entry)].key.hasPrefix(beginning)
            : old.hasPrefix(beginning, at: Int(entry))
    }

    // MARK: Dividing

    /// Where the entries are divided evenly among as few leaves as have room for them and a little
    /// more; none when one has. Nil when large keys leave no such cuts.
    func cuts(pageSizeInBytes: Int) -> [Cut]? {
        let fencesSize = old.lowerFence.count + old.upperFence.count
        if NodeLayout.slotsStart(fencesSize: fencesSize) + sizeInBytes <= pageSizeInBytes {
            return []
        }
        let fillMax = SplitPlan.fillMax(pageSizeInBytes: pageSizeInBytes)
        let room = fillMax - NodeLayout.slotsStart(fencesSize: fencesSize)
        guard room > 0 else { return nil }
        let count = (sizeInBytes + room - 1) / room
        var cuts: [Cut] = []
        var (start, before, partSize) = (0, 0, 0)
        var lowerSize = old.lowerFence.count
        for index in entries.indices {
            let entrySize = size(entries[index])
            if index > start,
                SplitPlan.isPast(
                    share: cuts.count + 1, of: count, before: before, size: entrySize,
                    total: sizeInBytes)
            {
                let separator = separator(at: index)
                let size = lowerSize + separator.count
                guard NodeLayout.slotsStart(fencesSize: size) + partSize <= pageSizeInBytes else {
                    return nil
                }
                cuts.append(Cut(index: index, separator: separator))
                (start, partSize, lowerSize) = (index, 0, separator.count)
            }
            before += entrySize
            partSize += entrySize
        }
        let lastSize = NodeLayout.slotsStart(fencesSize: lowerSize + old.upperFence.count)
        return lastSize + partSize <= pageSizeInBytes ? cuts : nil
    }

    private func size(_ entry: Int32) -> Int {
        guard entry < 0 else { return NodeLayout.slotSize + old.cellSize(Int(entry)) }
        let suffixSize = edits[Int(~entry)].key.count - old.prefixSize
        return NodeLayout.entrySize(keySize: suffixSize, valueSize: 0)
    }

    private func separator(at index: Int) -> [UInt8] {
        let (left, right) = (key(entries[index - 1]), key(entries[index]))
        return left.withView { left in
            right.withView { SplitPlan.shortestSeparator(between: left, and: $0) }
        }
    }

    private func key(_ entry: Int32) -> [UInt8] {
        guard entry < 0 else { return old.prefix.array() + old.suffix(Int(entry)).array() }
        return edits[Int(~entry)].key.array()
    }

    // MARK: Writing

    /// Writes the entries to the leaf's page and to a new one for each cut. Returns these.
    func write(
        to leaf: PageBuffer, _ cuts: [Cut], _ editor: PageEditor
    ) throws(StoreError) -> [PageBuffer] {
        var added: [PageBuffer] = []
        var lower = old.lowerFence.array()
        for (place, cut) in cuts.enumerated() {
            let start = place == 0 ? 0 : cuts[place - 1].index
            fill(added.last ?? leaf, start..<cut.index, lower, cut.separator)
            added.append(try editor.allocatePage(.treeLeaf))
            lower = cut.separator
        }
        let start = cuts.last?.index ?? 0
        fill(added.last ?? leaf, start..<entries.count, lower, old.upperFence.array())
        return added
    }

    private func fill(
        _ page: PageBuffer, _ range: Range<Int>, _ lower: [UInt8], _ upper: [UInt8]
    ) {
        lower.withView { lower in
            upper.withView { upper in
                var builder = NodeBuilder(
                    page, level: 0, lower: lower, upper: upper, firstChild: nil)
                let skipped = builder.node.prefixSize - old.prefixSize
                for entry in entries[range] {
                    if entry < 0 {
                        let key = edits[Int(~entry)].key
                        builder.append(key, key.slice(from: 0, count: 0), isOverflow: false)
                    } else {
                        builder.append(Int(entry), of: old, skipping: skipped)
                    }
                }
                builder.finish()
            }
        }
    }
}
