import Primitives

/// The versions of pages that commits made since a checkpoint.
///
/// The newest version of a page is stored inline, because nearly every lookup reads it; older
/// versions form a linked list, newest first, until no snapshot can see them.
struct VersionTable {
    struct Entry {
        private(set) var newest: PageVersion
        var older = OlderVersions.none
        /// Of an image: asking the version itself for it would count a reference first.
        private(set) var location: ImageAddress?

        init(_ newest: PageVersion, older: Int32 = OlderVersions.none) {
            self.newest = newest
            self.older = older
            location = newest.location
        }
    }

    // A lookup reads these where they are (``Generation/version(of:upTo:)``): a method would take
    // the lists in them as arguments, and count a reference to each.
    private(set) var entries = IntegerMap<Entry>()
    private(set) var older = OlderVersions()

    /// The pages that have versions, in no particular order.
    var ids: [PageID] {
        entries.slots.compactMap { $0.value == nil ? nil : PageID($0.number) }
    }

    /// The newest version of each page, in no particular order.
    var newest: [(id: PageID, version: PageVersion)] {
        entries.slots.compactMap { slot in
            slot.value.map { (id: PageID(slot.number), version: $0.newest) }
        }
    }

    func newest(of id: PageID) -> PageVersion? { entries[id.rawValue]?.newest }

    /// Each version of each page, in no particular order.
    func visit(_ body: (PageVersion) -> Void) {
        for slot in entries.slots {
            guard let entry = slot.value else { continue }
            body(entry.newest)
            older.visit(from: entry.older, body)
        }
    }

    /// Adds a page's newest version and prunes those that no reader can see any more. Returns the
    /// version that it replaces, which snapshots show until the new commit is published.
    mutating func append(
        _ version: PageVersion, of id: PageID, keeping shown: VisibleCommits
    ) -> (replaced: PageVersion?, freedBytes: Int) {
        guard let place = entries.index(of: id.rawValue), var entry = entries.take(at: place)
        else {
            entries[id.rawValue] = Entry(version)
            return (nil, 0)
        }
        let replaced = entry.newest
        let freed = older.prune(from: &entry.older, until: replaced.commit, keeping: shown)
        let link = older.add(replaced, before: entry.older)
        entries.put(Entry(version, older: link), at: place)
        return (replaced, freed)
    }

    /// Prunes the versions of all pages that no reader can see any more; returns the bytes of
    /// their images.
    mutating func trim(keeping shown: VisibleCommits) -> Int {
        var freed = 0
        for place in entries.slots.indices {
            guard let link = entries.slots[place].value?.older, link != OlderVersions.none,
                var entry = entries.take(at: place)
            else { continue }
            freed += older.prune(
                from: &entry.older, until: entry.newest.commit, keeping: shown)
            entries.put(entry, at: place)
        }
        return freed
    }

    /// The versions that some commits show.
    func shown(by commits: VisibleCommits) -> VersionTable {
        var shown = VersionTable()
        for slot in entries.slots {
            guard let entry = slot.value else { continue }
            var (list, end): ([PageVersion], UInt64) = ([], .max)
            func add(_ version: PageVersion) {
                if commits.contains(from: version.commit, until: end) { list.append(version) }
                end = version.commit
            }
            add(entry.newest)
            older.visit(from: entry.older, add)
            guard let newest = list.first else { continue }
            var link = OlderVersions.none
            for version in list.dropFirst().reversed() {
                link = shown.older.add(version, before: link)
            }
            shown.entries[slot.number] = Entry(newest, older: link)
        }
        return shown
    }

    /// The versions that were committed after a commit.
    func behind(_ commit: UInt64) -> VersionTable {
        var later = VersionTable()
        for slot in entries.slots {
            guard let entry = slot.value, entry.newest.commit > commit else { continue }
            var list: [PageVersion] = []
            older.visit(from: entry.older) { if $0.commit > commit { list.append($0) } }
            var link = OlderVersions.none
            for version in list.reversed() { link = later.older.add(version, before: link) }
            later.entries[slot.number] = Entry(entry.newest, older: link)
        }
        return later
    }
}

/// Commits that readers see or will see.
struct VisibleCommits {
    private static let unsortedCountMax = 8

    /// Many of them are in ascending order: there may be many readers, each of another commit.
    private let numbers: [UInt64]

    init(_ numbers: [UInt64]) {
        self.numbers = numbers.count > Self.unsortedCountMax ? numbers.sorted() : numbers
    }

    /// Whether one of them shows a version that one commit made and another replaced.
    func contains(from first: UInt64, until end: UInt64) -> Bool {
        if numbers.count <= Self.unsortedCountMax {
            return numbers.contains { $0 >= first && $0 < end }
        }
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < first { low = middle + 1 } else { high = middle }
        }
        return low < numbers.count && numbers[low] < end
    }
}

/// Versions that newer ones replaced, in chains, in one list whose places are used again.
struct OlderVersions {
    struct Element {
        var version: PageVersion
        /// The version before.
        var next: Int32
    }

    static let none: Int32 = -1

    private var elements: [Element?] = []
    private var freePlaces: [Int32] = []

    mutating func add(_ version: PageVersion, before next: Int32) -> Int32 {
        let element = Element(version: version, next: next)
        if let place = freePlaces.popLast() {
            elements[Int(place)] = element
            return place
        }
        elements.append(element)
        return Int32(elements.count - 1)
    }

    func version(from first: Int32?, upTo commit: UInt64) -> PageVersion? {
        var link = first ?? Self.none
        while link != Self.none, let element = elements[Int(link)] {
            if element.version.commit <= commit { return element.version }
            link = element.next
        }
        return nil
    }

    func visit(from first: Int32, _ body: (PageVersion) -> Void) {
        var link = first
        while link != Self.none, let element = elements[Int(link)] {
            body(element.version)
            link = element.next
        }
    }

    /// Takes invisible versions out of a chain; returns the bytes of their images.
    /// - Parameter end: the commit that replaced the chain's first.
    mutating func prune(
        from first: inout Int32, until end: UInt64, keeping shown: VisibleCommits
    ) -> Int {
        var (end, link, kept, freed) = (end, first, Self.none, 0)
        while link != Self.none {
            let place = Int(link)
            guard let commit = elements[place]?.version.commit, let next = elements[place]?.next
            else { break }
            if shown.contains(from: commit, until: end) {
                kept = link
            } else {
                freed += elements[place]?.version.imageSizeInBytes ?? 0
                elements[place] = nil
                freePlaces.append(link)
                if kept == Self.none { first = next } else { elements[Int(kept)]?.next = next }
            }
            (end, link) = (commit, next)
        }
        return freed
    }
}
