extension DiffableDataSource {
    /// Has a view show the versions of a list, one after the other.
    ///
    /// It is used where the stack's view lives. What it answers is what the view shows: during a
    /// change, the list of the stage that is being shown. The data sources of Apple's views inherit
    /// from it, hence from `NSObject`.
    open class BaseAdapter<O: DynamicObject, T: Target>: NSObject {
        public typealias ObjectType = O

        /// The view; nil when a view that is an object is gone.
        public var target: T? { source() }
        /// The stack; nil when it is gone.
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

        /// - Parameter target: the view. One that is an object is not kept alive.
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
        /// A view that suspends batch updates is reloaded, as is one with more than 32 changes
        /// that are more than half of its items.
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
        open func purge(
            animatingDifferences: Bool = true, completion: @escaping () -> Void = {}
        ) {
            apply(
                makeEmptySnapshot(), animatingDifferences: animatingDifferences,
                completion: completion)
        }

        /// A list with nothing in it, for the program to fill.
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
                // Also a version without a difference has its own generation.
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

        public func numberOfSections() -> Int { shown.numberOfSections }

        /// Nil for a section that is outside.
        public func numberOfItems(inSection section: Int) -> Int? {
            shown.indices(ofSection: section)?.count
        }

        /// Nil for a section that is outside.
        public func sectionID(for section: Int) -> String? {
            section >= 0 && section < shown.numberOfSections ? shown.sectionIDs[section] : nil
        }

        /// Nil for a path that is outside.
        public func itemID(for indexPath: IndexPath) -> O.ObjectID? {
            guard indexPath.count == 2, let indices = shown.indices(ofSection: indexPath[0]),
                indexPath[1] >= 0, indexPath[1] < indices.count
            else { return nil }
            return shown.id(at: indices.lowerBound + indexPath[1])
        }

        /// Nil for an item that is not shown.
        public func indexPath(for itemID: O.ObjectID) -> IndexPath? {
            guard let index = shown.indexOfItem(withID: itemID) else { return nil }
            for section in 0..<shown.numberOfSections {
                guard let indices = shown.indices(ofSection: section), indices.contains(index)
                else { continue }
                return IndexPath(indexes: [section, index - indices.lowerBound])
            }
            return nil
        }

        /// What an index of the list shows for a section: the beginning of its name.
        open func sectionIndexTitle(for section: Int) -> String? {
            sectionID(for: section)?.first.map { String($0).uppercased() }
        }

        open func sectionIndexTitlesForAllSections() -> [String?] {
            (0..<numberOfSections()).map { sectionIndexTitle(for: $0) }
        }
    }
}
