extension DiffableDataSource {
    /// Shows the versions of a list in a view, one after the other.
    ///
    /// It is used where the stack's view lives. Its counts, IDs and paths are those of the version
    /// that the view shows: during a change, of the stage that is being shown. The data sources of
    /// Apple's views inherit from it, hence from `NSObject`.
    open class BaseAdapter<O: DynamicObject, T: Target>: NSObject {
        public typealias ObjectType = O

        /// The view; nil when a view that is an object is gone.
        public var target: T? { source() }
        /// The stack; nil when it has ended.
        public private(set) weak var dataStack: DataStack?

        private struct Request {
            var snapshot: ListSnapshot<O>
            var animated: Bool
            var completion: () -> Void
        }

        private let source: () -> T?
        private var shown = ListSnapshot<O>()
        private var requests: [Request] = []
        private var isApplying = false

        /// An adapter that shows an empty list first.
        ///
        /// - Parameters:
        ///   - target: the view. One that is an object is not retained.
        ///   - dataStack: the stack of the lists, which is not retained.
        public init(target: T, dataStack: DataStack) {
            self.dataStack = dataStack
            if type(of: target) is AnyClass {
                let object = target as AnyObject
                source = { [weak object] in object as? T }
            } else {
                source = { target }
            }
            super.init()
        }

        // MARK: Showing

        /// Shows a version of the list. Versions are shown in the order of the calls; one that
        /// comes while another is being shown waits for its end.
        ///
        /// A view that suspends batch updates is reloaded, as is one with more than 32 changes that
        /// are more than half of its items.
        ///
        /// - Parameters:
        ///   - snapshot: the version.
        ///   - animatingDifferences: whether the view animates the changes.
        ///   - completion: called when the version is shown.
        open func apply(
            _ snapshot: ListSnapshot<O>, animatingDifferences: Bool = true,
            completion: @escaping () -> Void = {}
        ) {
            Log.assert(
                dataStack?.viewExecutor.isCurrent ?? true,
                "a data source is used from where the stack's view lives")
            requests.append(
                Request(
                    snapshot: snapshot, animated: animatingDifferences, completion: completion))
            if !isApplying { applyNext() }
        }

        /// Shows an empty list.
        ///
        /// - Parameters:
        ///   - animatingDifferences: whether the view animates the changes.
        ///   - completion: called when the empty list is shown.
        open func purge(
            animatingDifferences: Bool = true, completion: @escaping () -> Void = {}
        ) {
            apply(
                makeEmptySnapshot(), animatingDifferences: animatingDifferences,
                completion: completion)
        }

        /// An empty list, for the program to fill.
        public func makeEmptySnapshot() -> ListSnapshot<O> {
            guard let dataStack else { return ListSnapshot() }
            return ListSnapshot(of: dataStack)
        }

        private func applyNext() {
            guard !requests.isEmpty else { return }
            isApplying = true
            let request = requests.removeFirst()
            let finish = { [self] in
                isApplying = false
                request.completion()
                if !isApplying { applyNext() }
            }
            guard let target else {
                shown = request.snapshot
                return finish()
            }
            let changes = StagedChanges(from: shown, to: request.snapshot)
            let changeCount = changes.reduce(0) { $0 + $1.count }
            guard !target.shouldSuspendBatchUpdates,
                changeCount * 2 <= max(shown.numberOfItems, request.snapshot.numberOfItems, 64)
            else {
                shown = request.snapshot
                target.reloadData()
                return finish()
            }
            show(changes[...], request, on: target, finish)
        }

        private func show(
            _ stages: Slice<StagedChanges<O>>, _ request: Request, on target: T,
            _ finish: @escaping () -> Void
        ) {
            guard let stage = stages.first else {
                // A version without a difference has its own generation too.
                shown = request.snapshot
                return finish()
            }
            target.perform(stage, animated: request.animated) {
                self.shown = stage.snapshot
            } completion: { [self] in
                show(stages.dropFirst(), request, on: target, finish)
            }
        }

        // MARK: What is shown

        /// The number of sections that are shown.
        public func numberOfSections() -> Int { shown.numberOfSections }

        /// The number of items of a section; nil for an index out of range.
        public func numberOfItems(inSection section: Int) -> Int? {
            shown.indices(ofSection: section)?.count
        }

        /// The name of a section; nil for an index out of range.
        public func sectionID(for section: Int) -> String? {
            section >= 0 && section < shown.numberOfSections ? shown.sectionID(at: section) : nil
        }

        /// The ID of the item at a path; nil for a path out of range.
        public func itemID(for indexPath: IndexPath) -> O.ObjectID? {
            guard indexPath.count == 2 else { return nil }
            return shown.index(ofItem: indexPath[1], inSection: indexPath[0])
                .map { shown.id(at: $0) }
        }

        /// The path of an item; nil when it is not shown.
        public func indexPath(for itemID: O.ObjectID) -> IndexPath? {
            shown.place(of: itemID).map { IndexPath(indexes: [$0.section, $0.item]) }
        }

        /// The title of a section in an index of the list, which the `sectionIndexTransformer` of
        /// the list's ``SectionBy`` makes; nil for none.
        open func sectionIndexTitle(for section: Int) -> String? {
            section >= 0 && section < shown.numberOfSections
                ? shown.indexTitle(ofSection: section) : nil
        }

        /// The titles of all sections in an index of the list.
        open func sectionIndexTitlesForAllSections() -> [String?] {
            (0..<numberOfSections()).map { sectionIndexTitle(for: $0) }
        }
    }
}
