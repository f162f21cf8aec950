// The names of Apple's AppKit that the library and the guide's samples use, with the signatures
// and the isolation of the real ones and no behaviour. Requirements that are optional there are
// required here, so that a misspelt one is an error.

@_exported import Foundation

@MainActor @preconcurrency
open class NSResponder: NSObject {
    nonisolated public override init() {}
}

@MainActor @preconcurrency
open class NSWindow: NSResponder {}

public protocol NSAnimatablePropertyContainer {
    @MainActor @preconcurrency func animator() -> Self
}

@MainActor @preconcurrency
open class NSView: NSResponder, NSAnimatablePropertyContainer {
    open var window: NSWindow? { fatalError() }

    open func animator() -> Self { self }
}

open class NSAnimationContext: NSObject {
    open var duration: TimeInterval = 0

    open class func runAnimationGroup(_ changes: (NSAnimationContext) -> Void) {}
}

@MainActor @preconcurrency
open class NSViewController: NSResponder {
    open var view: NSView {
        get { fatalError() }
        set {}
    }

    open func viewDidLoad() {}
}

public struct NSUserInterfaceItemIdentifier: Hashable, RawRepresentable, Sendable {
    public let rawValue: String

    public init(_ rawValue: String) { self.rawValue = rawValue }
    public init(rawValue: String) { self.rawValue = rawValue }
}

@MainActor @preconcurrency
open class NSCollectionViewItem: NSViewController {}

@MainActor @preconcurrency
public protocol NSCollectionViewDataSource: NSObjectProtocol {
    func collectionView(
        _ collectionView: NSCollectionView, numberOfItemsInSection section: Int
    ) -> Int
    func collectionView(
        _ collectionView: NSCollectionView, itemForRepresentedObjectAt indexPath: IndexPath
    ) -> NSCollectionViewItem
    func numberOfSections(in collectionView: NSCollectionView) -> Int
    func collectionView(
        _ collectionView: NSCollectionView,
        viewForSupplementaryElementOfKind kind: NSCollectionView.SupplementaryElementKind,
        at indexPath: IndexPath
    ) -> NSView
}

@MainActor @preconcurrency
open class NSCollectionView: NSView {
    public typealias SupplementaryElementKind = String

    open weak var dataSource: (any NSCollectionViewDataSource)?

    open func makeItem(
        withIdentifier identifier: NSUserInterfaceItemIdentifier, for indexPath: IndexPath
    ) -> NSCollectionViewItem {
        fatalError()
    }

    open func performBatchUpdates(
        _ updates: (() -> Void)?, completionHandler: ((Bool) -> Void)? = nil
    ) {}
    open func insertSections(_ sections: IndexSet) {}
    open func deleteSections(_ sections: IndexSet) {}
    open func reloadSections(_ sections: IndexSet) {}
    open func moveSection(_ section: Int, toSection newSection: Int) {}
    open func insertItems(at indexPaths: Set<IndexPath>) {}
    open func deleteItems(at indexPaths: Set<IndexPath>) {}
    open func reloadItems(at indexPaths: Set<IndexPath>) {}
    open func moveItem(at indexPath: IndexPath, to newIndexPath: IndexPath) {}
    open func reloadData() {}
}
