import Primitives
import Query

/// The content of a list with what makes IDs of its items. Versions of a list share nearly all of
/// it, and none needs a store.
final class ListedContent: Sendable {
    let content: ListContent
    private let storeEntities: [StoreEntity]
    /// The items that came, moved or changed since the content before.
    private let changedItems: [ListItem]
    /// Objects that changed in the list in whose place this one was fetched.
    private let carriedIDs: Set<NSManagedObjectID>
    /// Made by the first question for an ID.
    private let indices = Mutex<[ListItem: Int]?>(nil)
    /// Made by the first question for a name.
    private let sections = Mutex<[String: Int]?>(nil)

    /// - Parameters:
    ///   - change: what led here from the content before.
    ///   - carriedIDs: objects that changed in the list in whose place this one was fetched.
    init(
        _ content: ListContent, _ storeEntities: [StoreEntity], _ change: ListChangeSet?,
        carrying carriedIDs: Set<NSManagedObjectID> = []
    ) {
        self.content = content
        self.storeEntities = storeEntities
        self.carriedIDs = carriedIDs
        func item(_ path: ListPath, _ content: ListContent) -> ListItem {
            content.item(at: content.indices(ofSection: path.section).lowerBound + path.item)
        }
        guard let change else {
            changedItems = []
            return
        }
        let difference = change.difference
        changedItems =
            difference.insertions.map { item($0, change.after) }
            + difference.moves.map { item($0.to, change.after) }
            + difference.updates.map { item($0, change.before) }
    }

    var count: Int { content.count }

    /// A list without sections has one, unless it is empty.
    var sectionCount: Int { content.count == 0 ? 0 : content.sectionCount }

    func id(_ item: ListItem) -> NSManagedObjectID {
        NSManagedObjectID(item.number, in: storeEntities[item.store])
    }

    func id(at index: Int) -> NSManagedObjectID { id(content.item(at: index)) }

    func id(at path: ListPath) -> NSManagedObjectID {
        id(at: content.indices(ofSection: path.section).lowerBound + path.item)
    }

    func ids(_ indices: Range<Int>) -> [NSManagedObjectID] {
        indices.map { id(at: $0) }
    }

    /// The index of an object; nil when it is not in the list.
    func index(of id: NSManagedObjectID) -> Int? {
        guard
            let store = storeEntities.firstIndex(where: {
                $0.storeID == id.storeID && $0.entity.hierarchy == id.hierarchy
            }), let item = ListItem(id.number, store: store)
        else { return nil }
        return indices.withLock { known in
            if let known { return known[item] }
            var made: [ListItem: Int] = [:]
            made.reserveCapacity(content.count)
            for (index, item) in content.items().enumerated() { made[item] = index }
            known = made
            return made[item]
        }
    }

    /// The index of the first section with a name; nil for an unknown one.
    func section(named name: String) -> Int? {
        sections.withLock { known in
            if let known { return known[name] }
            let names = (0..<sectionCount).map { (content.sectionName($0), $0) }
            let made = Dictionary(names) { first, _ in first }
            known = made
            return made[name]
        }
    }

    /// Objects that came, moved or changed on the way from the content before.
    var changedIDs: Set<NSManagedObjectID> {
        Set(changedItems.map(id)).union(carriedIDs.filter { index(of: $0) != nil })
    }
}

/// A list as the program has edited it: sections of IDs.
struct EditedList: Sendable {
    struct Section: Sendable {
        var id: String
        var items: [NSManagedObjectID]
        /// Whether the program wants the section shown anew.
        var isReloaded = false
    }

    var sections: [Section]
    /// The content that the program began with; nil for an empty list.
    private(set) var origin: ListedContent?
    /// Objects that the program wants shown anew.
    var reloaded: Set<NSManagedObjectID>

    init(_ list: ListedContent) {
        sections = (0..<list.sectionCount).map { index in
            Section(
                id: list.content.sectionName(index),
                items: list.ids(list.content.indices(ofSection: index)))
        }
        reloaded = list.changedIDs
        origin = list
    }

    init() { (sections, reloaded) = ([], []) }

    // MARK: Places

    typealias Place = (section: Int, item: Int)

    func place(of id: NSManagedObjectID) -> Place? {
        for (index, section) in sections.enumerated() {
            if let item = section.items.firstIndex(of: id) { return (index, item) }
        }
        return nil
    }

    /// The place of an item that has to be there.
    func place(known id: NSManagedObjectID) -> Place {
        guard let place = place(of: id) else { Log.abort("a snapshot has no item \(id)") }
        return place
    }

    func section(known id: String) -> Int {
        guard let index = sections.firstIndex(where: { $0.id == id }) else {
            Log.abort("a snapshot has no section “\(id)”")
        }
        return index
    }

    func place(at index: Int) -> Place {
        var rest = index
        for (section, entry) in sections.enumerated() {
            if rest < entry.items.count { return (section, rest) }
            rest -= entry.items.count
        }
        preconditionFailure("an index is outside its list")
    }

    func start(of section: Int) -> Int {
        sections[..<section].reduce(0) { $0 + $1.items.count }
    }

    // MARK: Items

    mutating func insert(_ ids: some Collection<NSManagedObjectID>, at place: Place) {
        sections[place.section].items.insert(contentsOf: ids, at: place.item)
    }

    mutating func remove(_ ids: Set<NSManagedObjectID>) {
        for index in sections.indices { sections[index].items.removeAll { ids.contains($0) } }
    }
}
