import Query

/// A sort key where code expects a sort descriptor.
final class KeySortDescriptor: NSSortDescriptor {
    let sortKey: Query.SortKey

    init(_ sortKey: Query.SortKey) {
        self.sortKey = sortKey
        // A store sorts by the name; Foundation has no descriptor without a key path.
        super.init(keyPath: \NSObject.description, ascending: sortKey.isAscending)
    }

    required init?(coder: NSCoder) { nil }

    override func isEqual(_ object: Any?) -> Bool {
        (object as? KeySortDescriptor)?.sortKey == sortKey
    }

    override var hash: Int { sortKey.hashValue }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override var reversedSortDescriptor: Any {
        KeySortDescriptor(Query.SortKey(path: sortKey.path, isAscending: !sortKey.isAscending))
    }

    override var description: String {
        "(\(sortKey.path.joined(separator: ".")), \(ascending ? "ascending" : "descending"))"
    }

    /// The key of a descriptor that was made with one; any other is reported, and sorts nothing.
    static func sortKey(_ descriptor: NSSortDescriptor) -> Query.SortKey? {
        if let own = descriptor as? KeySortDescriptor { return own.sortKey }
        Log.assert(
            false, "\(descriptor) does not name a property: use NSSortDescriptor(key:ascending:)")
        return nil
    }
}

/// A class that sort keys by name extend: `NSSortDescriptor`.
public protocol NamedSortDescriptor {}

extension NSSortDescriptor: NamedSortDescriptor {}

extension NamedSortDescriptor where Self == NSSortDescriptor {
    /// An order by a property's name, for ``OrderBy``. Foundation has no such initialiser on this
    /// platform.
    public init(key: KeyPathString, ascending: Bool) {
        self = KeySortDescriptor(
            Query.SortKey(
                path: key.split(separator: ".").map(String.init), isAscending: ascending))
    }
}
