import Dispatch

@testable import ObjectGraph

/// Records the notifications of a list.
class ListRecorder<O: CoreStoreObject>: ListSectionObserver {
    private(set) var events: [String] = []
    /// The name of an object in the record.
    private let name: (O) -> String
    /// Called by each event.
    var onEvent: (String, ListMonitor<O>) -> Void = { _, _ in }

    init(_ name: @escaping (O) -> String) { self.name = name }

    func takeEvents() -> [String] {
        defer { events = [] }
        return events
    }

    private func note(_ event: String, _ monitor: ListMonitor<O>) {
        events.append(event)
        onEvent(event, monitor)
    }

    private func text(_ path: IndexPath) -> String { "\(path[0]).\(path[1])" }

    func listMonitorWillChange(_ monitor: ListMonitor<O>, sourceIdentifier: Any?) {
        note("will" + (sourceIdentifier.map { " \($0)" } ?? ""), monitor)
    }
    func listMonitorDidChange(_ monitor: ListMonitor<O>) { note("did", monitor) }
    func listMonitorDidRefetch(_ monitor: ListMonitor<O>) { note("short", monitor) }
    func listMonitorWillRefetch(_ monitor: ListMonitor<O>) { note("willRefetch", monitor) }
    func listMonitorDidRefetch(_ monitor: ListMonitor<O>, sourceIdentifier: Any?) {
        note("didRefetch" + (sourceIdentifier.map { " \($0)" } ?? ""), monitor)
    }
    func listMonitor(
        _ monitor: ListMonitor<O>, didInsertObject object: O, toIndexPath indexPath: IndexPath
    ) {
        note("+\(name(object)) \(text(indexPath))", monitor)
    }
    func listMonitor(
        _ monitor: ListMonitor<O>, didDeleteObject object: O, fromIndexPath indexPath: IndexPath
    ) {
        note("-\(name(object)) \(text(indexPath))", monitor)
    }
    func listMonitor(
        _ monitor: ListMonitor<O>, didUpdateObject object: O, atIndexPath indexPath: IndexPath
    ) {
        note("=\(name(object)) \(text(indexPath))", monitor)
    }
    func listMonitor(
        _ monitor: ListMonitor<O>, didMoveObject object: O, fromIndexPath: IndexPath,
        toIndexPath: IndexPath
    ) {
        note("~\(name(object)) \(text(fromIndexPath))>\(text(toIndexPath))", monitor)
    }
    func listMonitor(
        _ monitor: ListMonitor<O>, didInsertSection sectionInfo: NSFetchedResultsSectionInfo,
        toSectionIndex sectionIndex: Int
    ) {
        note("+[\(sectionInfo.name)] \(sectionIndex)", monitor)
    }
    func listMonitor(
        _ monitor: ListMonitor<O>, didDeleteSection sectionInfo: NSFetchedResultsSectionInfo,
        fromSectionIndex sectionIndex: Int
    ) {
        note("-[\(sectionInfo.name)] \(sectionIndex)", monitor)
    }
}

/// Records the notifications of an object.
final class ObjectRecorder<O: CoreStoreObject>: ObjectObserver {
    private(set) var events: [String] = []
    private let name: (O) -> String
    var onEvent: (ObjectMonitor<O>) -> Void = { _ in }

    init(_ name: @escaping (O) -> String) { self.name = name }

    func takeEvents() -> [String] {
        defer { events = [] }
        return events
    }

    func objectMonitor(_ monitor: ObjectMonitor<O>, willUpdateObject object: O) {
        events.append("will \(name(object))")
        onEvent(monitor)
    }
    func objectMonitor(
        _ monitor: ObjectMonitor<O>, didUpdateObject object: O,
        changedPersistentKeys: Set<KeyPathString>, sourceIdentifier: Any?
    ) {
        let keys = changedPersistentKeys.sorted().joined(separator: ",")
        events.append(
            "did \(name(object)) \(keys)" + (sourceIdentifier.map { " \($0)" } ?? ""))
        onEvent(monitor)
    }
    func objectMonitor(_ monitor: ObjectMonitor<O>, didDeleteObject object: O) {
        events.append("deleted \(name(object))")
        onEvent(monitor)
    }
}

extension DataStack {
    /// Returns when the lists that are being fetched in the background are shown on the view's
    /// queue.
    func drain(_ queue: DispatchQueue) {
        for _ in 0..<3 {
            let reached = DispatchSemaphore(value: 0)
            viewSteps.compute(later: { reached.signal() })
            reached.wait()
            queue.sync {}
        }
    }
}
