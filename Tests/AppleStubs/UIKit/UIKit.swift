// The names of Apple's UIKit that the library and the guide's samples use, with the signatures and
// the isolation of the real ones and no behaviour. Requirements that are optional there are
// required here, so that a misspelt one is an error.

@_exported import Foundation

@MainActor @preconcurrency
open class UIResponder: NSObject {
    nonisolated public override init() {}
}

@MainActor @preconcurrency
open class UIWindow: UIView {}

@MainActor @preconcurrency
open class UIView: UIResponder {
    open var window: UIWindow? { fatalError() }

    open class func performWithoutAnimation(_ actionsWithoutAnimation: () -> Void) {}
}

@MainActor @preconcurrency
open class UIScrollView: UIView {}

@MainActor @preconcurrency
open class UILabel: UIView {
    open var text: String?
}

@MainActor @preconcurrency
open class UIViewController: UIResponder {
    open var view: UIView! { fatalError() }

    open func viewDidLoad() {}
}

// MARK: Tables

@MainActor @preconcurrency
open class UITableViewCell: UIView {
    public enum EditingStyle: Int, @unchecked Sendable {
        case none, delete, insert
    }

    open var textLabel: UILabel? { fatalError() }
}

@MainActor @preconcurrency
public protocol UITableViewDataSource: NSObjectProtocol {
    func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int
    func tableView(
        _ tableView: UITableView, cellForRowAt indexPath: IndexPath
    ) -> UITableViewCell
    func numberOfSections(in tableView: UITableView) -> Int
    func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String?
    func tableView(_ tableView: UITableView, titleForFooterInSection section: Int) -> String?
    func tableView(_ tableView: UITableView, canEditRowAt indexPath: IndexPath) -> Bool
    func tableView(_ tableView: UITableView, canMoveRowAt indexPath: IndexPath) -> Bool
    func sectionIndexTitles(for tableView: UITableView) -> [String]?
    func tableView(
        _ tableView: UITableView, sectionForSectionIndexTitle title: String, at index: Int
    ) -> Int
    func tableView(
        _ tableView: UITableView, commit editingStyle: UITableViewCell.EditingStyle,
        forRowAt indexPath: IndexPath)
    func tableView(
        _ tableView: UITableView, moveRowAt sourceIndexPath: IndexPath,
        to destinationIndexPath: IndexPath)
}

@MainActor @preconcurrency
public protocol UITableViewDelegate: NSObjectProtocol {}

@MainActor @preconcurrency
open class UITableView: UIScrollView {
    public enum RowAnimation: Int, @unchecked Sendable {
        case fade, right, left, top, bottom, none, middle
        case automatic = 100
    }

    open weak var dataSource: (any UITableViewDataSource)?

    open func dequeueReusableCell(withIdentifier identifier: String) -> UITableViewCell? {
        fatalError()
    }
    open func dequeueReusableCell(
        withIdentifier identifier: String, for indexPath: IndexPath
    ) -> UITableViewCell {
        fatalError()
    }

    open func performBatchUpdates(
        _ updates: (() -> Void)?, completion: ((Bool) -> Void)? = nil
    ) {}
    open func insertSections(_ sections: IndexSet, with animation: RowAnimation) {}
    open func deleteSections(_ sections: IndexSet, with animation: RowAnimation) {}
    open func reloadSections(_ sections: IndexSet, with animation: RowAnimation) {}
    open func moveSection(_ section: Int, toSection newSection: Int) {}
    open func insertRows(at indexPaths: [IndexPath], with animation: RowAnimation) {}
    open func deleteRows(at indexPaths: [IndexPath], with animation: RowAnimation) {}
    open func reloadRows(at indexPaths: [IndexPath], with animation: RowAnimation) {}
    open func moveRow(at indexPath: IndexPath, to newIndexPath: IndexPath) {}
    open func reloadData() {}
}

// MARK: Collections

@MainActor @preconcurrency
open class UICollectionReusableView: UIView {}

@MainActor @preconcurrency
open class UICollectionViewCell: UICollectionReusableView {}

@MainActor @preconcurrency
public protocol UICollectionViewDataSource: NSObjectProtocol {
    func collectionView(
        _ collectionView: UICollectionView, numberOfItemsInSection section: Int
    ) -> Int
    func collectionView(
        _ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath
    ) -> UICollectionViewCell
    func numberOfSections(in collectionView: UICollectionView) -> Int
    func collectionView(
        _ collectionView: UICollectionView, viewForSupplementaryElementOfKind kind: String,
        at indexPath: IndexPath
    ) -> UICollectionReusableView
    func collectionView(
        _ collectionView: UICollectionView, canMoveItemAt indexPath: IndexPath
    ) -> Bool
    func collectionView(
        _ collectionView: UICollectionView, moveItemAt sourceIndexPath: IndexPath,
        to destinationIndexPath: IndexPath)
}

@MainActor @preconcurrency
open class UICollectionViewLayout: NSObject {
    nonisolated public override init() {}
}

@MainActor @preconcurrency
open class UICollectionViewFlowLayout: UICollectionViewLayout {}

@MainActor @preconcurrency
open class UICollectionView: UIScrollView {
    public init(frame: CGRect, collectionViewLayout layout: UICollectionViewLayout) {}

    open weak var dataSource: (any UICollectionViewDataSource)?

    open func register(_ cellClass: AnyClass?, forCellWithReuseIdentifier identifier: String) {}
    open func dequeueReusableCell(
        withReuseIdentifier identifier: String, for indexPath: IndexPath
    ) -> UICollectionViewCell {
        fatalError()
    }

    open func performBatchUpdates(
        _ updates: (() -> Void)?, completion: ((Bool) -> Void)? = nil
    ) {}
    open func insertSections(_ sections: IndexSet) {}
    open func deleteSections(_ sections: IndexSet) {}
    open func reloadSections(_ sections: IndexSet) {}
    open func moveSection(_ section: Int, toSection newSection: Int) {}
    open func insertItems(at indexPaths: [IndexPath]) {}
    open func deleteItems(at indexPaths: [IndexPath]) {}
    open func reloadItems(at indexPaths: [IndexPath]) {}
    open func moveItem(at indexPath: IndexPath, to newIndexPath: IndexPath) {}
    open func reloadData() {}
}
