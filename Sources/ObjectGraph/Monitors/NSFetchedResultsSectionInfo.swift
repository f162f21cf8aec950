/// A section of a ``ListMonitor``, as it is when it was asked for.
public final class NSFetchedResultsSectionInfo {
    /// The value that the section's objects share, as a text.
    public let name: String
    /// What an index of the list shows for the section.
    public let indexTitle: String?
    /// How many objects the section has.
    public let numberOfObjects: Int
    private let make: () -> [Any]?

    init(name: String, indexTitle: String?, count: Int, objects: @escaping () -> [Any]?) {
        self.name = name
        self.indexTitle = indexTitle
        numberOfObjects = count
        make = objects
    }

    /// The section's objects; nil for a section that is gone.
    public var objects: [Any]? { make() }
}

#if !canImport(UIKit) && !canImport(AppKit)
    extension IndexPath {
        /// The path of an item in a list with sections.
        public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
        /// The same by the name that tables use.
        public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

        public var section: Int { self[0] }
        public var item: Int { self[1] }
        public var row: Int { self[1] }
    }
#endif
