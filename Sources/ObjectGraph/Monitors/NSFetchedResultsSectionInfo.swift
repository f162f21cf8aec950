/// A section of a ``ListMonitor``, as it was when it was asked for.
public protocol NSFetchedResultsSectionInfo: AnyObject {
    /// The value that the section's objects share, as a text; empty for nil.
    var name: String { get }
    /// The title of the section in an index of the list; nil for none.
    var indexTitle: String? { get }
    /// The number of objects in the section.
    var numberOfObjects: Int { get }
    /// The section's objects; nil once the list was fetched again, or is gone.
    var objects: [Any]? { get }
}

/// A section of a monitor's list.
final class MonitoredSection: NSFetchedResultsSectionInfo {
    let name: String
    let indexTitle: String?
    let numberOfObjects: Int
    private let make: () -> [Any]?

    init(name: String, indexTitle: String?, count: Int, objects: @escaping () -> [Any]?) {
        self.name = name
        self.indexTitle = indexTitle
        numberOfObjects = count
        make = objects
    }

    var objects: [Any]? { make() }
}

#if !canImport(UIKit) && !canImport(AppKit)
    extension IndexPath {
        /// The path of an item in a list with sections.
        public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
        /// The path of a row in a table with sections.
        public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

        /// The first index of the path.
        public var section: Int { self[0] }
        /// The second index of the path.
        public var item: Int { self[1] }
        /// The second index of the path.
        public var row: Int { self[1] }
    }
#endif
