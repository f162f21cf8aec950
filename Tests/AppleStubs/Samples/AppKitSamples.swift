#if canImport(AppKit) && !canImport(UIKit)
    // The guide's sample of a collection view, as AppKit has it.

    import AppKit
    import ObjectGraph

    final class PersonItem: NSCollectionViewItem {
        func setPerson(_ person: Person) {}
    }

    final class PeopleViewController: NSViewController {
        let collectionView = NSCollectionView()
        let listPublisher = CoreStoreDefaults.dataStack.publishList(
            From<Person>().orderBy(.ascending(\.$lastName)))
        var dataSource: DiffableDataSource.CollectionViewAdapter<Person>?

        override func viewDidLoad() {
            super.viewDidLoad()
            self.dataSource = DiffableDataSource.CollectionViewAdapter<Person>(
                collectionView: self.collectionView,
                dataStack: CoreStoreDefaults.dataStack,
                itemProvider: { (collectionView, indexPath, person) in
                    let item =
                        collectionView.makeItem(
                            withIdentifier: NSUserInterfaceItemIdentifier("Person"), for: indexPath)
                        as! PersonItem
                    item.setPerson(person)
                    return item
                }
            )
            listPublisher.addObserver(self) { [weak self] (listPublisher) in
                self?.dataSource?.apply(
                    listPublisher.snapshot, animatingDifferences: true
                )
            }
        }
    }
#endif
