#if canImport(UIKit)
    // The guide's samples of table and collection views.

    import ObjectGraph
    import UIKit

    final class PersonCell: UICollectionViewCell {
        func setPerson(_ person: Person) {}
    }

    final class PeopleViewController: UIViewController {
        let collectionView = UICollectionView(
            frame: .zero, collectionViewLayout: UICollectionViewFlowLayout())
        let listPublisher = CoreStoreDefaults.dataStack.publishList(
            From<Person>().orderBy(.ascending(\.$lastName)))
        var dataSource: DiffableDataSource.CollectionViewAdapter<Person>?

        override func viewDidLoad() {
            super.viewDidLoad()
            self.dataSource = DiffableDataSource.CollectionViewAdapter<Person>(
                collectionView: self.collectionView,
                dataStack: CoreStoreDefaults.dataStack,
                cellProvider: { (collectionView, indexPath, person) in
                    let cell =
                        collectionView.dequeueReusableCell(
                            withReuseIdentifier: "PersonCell", for: indexPath) as! PersonCell
                    cell.setPerson(person)
                    return cell
                }
            )
            listPublisher.addObserver(self) { [weak self] (listPublisher) in
                self?.dataSource?.apply(
                    listPublisher.snapshot, animatingDifferences: true
                )
            }
        }
    }

    /// A data source of the program's own, with rows that the user moves and deletes.
    final class PeopleDataSource: DiffableDataSource.TableViewAdapter<Person> {
        override func tableView(
            _ tableView: UITableView, titleForHeaderInSection section: Int
        ) -> String? {
            sectionID(for: section).map { "\($0) years" }
        }

        override func tableView(
            _ tableView: UITableView, commit editingStyle: UITableViewCell.EditingStyle,
            forRowAt indexPath: IndexPath
        ) {
            guard editingStyle == .delete, let id = itemID(for: indexPath) else { return }
            dataStack?.perform(
                asynchronous: { $0.delete(objectIDs: [id]) }, completion: { _ in })
        }

        override func tableView(
            _ tableView: UITableView, canMoveRowAt indexPath: IndexPath
        ) -> Bool {
            true
        }
    }

    final class PeopleTableController: UIViewController {
        let tableView = UITableView()
        var dataSource: PeopleDataSource?

        override func viewDidLoad() {
            super.viewDidLoad()
            dataSource = PeopleDataSource(
                tableView: tableView, dataStack: CoreStoreDefaults.dataStack
            ) { tableView, indexPath, person in
                let cell = tableView.dequeueReusableCell(withIdentifier: "Person", for: indexPath)
                cell.textLabel?.text = person.fullName
                return cell
            }
            dataSource?.purge(animatingDifferences: false)
        }
    }

    /// The guide's controllers observe, and belong to the main actor.
    final class MonitoringViewController: UIViewController, @preconcurrency ListObserver {
        let monitor = CoreStoreDefaults.dataStack.monitorList(
            From<Person>()
                .where(\.$age > 30)
                .orderBy(.ascending(\.$lastName))
                .tweak { $0.fetchBatchSize = 20 }
        )
        let tableView = UITableView()

        override func viewDidLoad() {
            super.viewDidLoad()
            self.monitor.addObserver(self)
        }

        func listMonitorDidChange(_ monitor: ListMonitor<Person>) { tableView.reloadData() }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) { tableView.reloadData() }
    }
#endif
