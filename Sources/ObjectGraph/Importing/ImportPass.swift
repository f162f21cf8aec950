import RecordStore

/// Links of one relationship of one object, which wait for objects that come later in a pass.
struct PassLink {
    enum Target {
        case object(CoreStoreObject)
        case reference(PassObjects, Value)
    }

    var owner: CoreStoreObject
    var slot: UInt16
    var isToOne: Bool
    var targets: [Target]
}

/// Imports whose sources may name objects that others of them make: one call of an import, or all
/// in a closure of ``BaseDataTransaction/importRelatedObjects(_:)``.
///
/// Links to objects that are known when a batch has been imported are set then. Others are kept by
/// the names of their objects, which may be evicted meanwhile, and are set at the end.
final class ImportPass {
    private enum WaitingTarget {
        case object(NSManagedObjectID)
        case reference(PassObjects, Value)
    }

    private struct WaitingLink {
        var place: LinkPlace
        var isToOne: Bool
        var targets: [WaitingTarget]
    }

    private struct LinkPlace: Hashable {
        var owner: NSManagedObjectID
        var slot: UInt16
    }

    unowned let transaction: BaseDataTransaction
    /// Those that links wait for.
    private var awaited: [ImportScope: PassTable] = [:]
    private var relationships: [ObjectIdentifier: Any] = [:]
    /// In the order of their sources; nil where a later source said something else.
    private var waiting: [WaitingLink?] = []
    private var waitingPlaces: [LinkPlace: Int] = [:]

    init(_ transaction: BaseDataTransaction) { self.transaction = transaction }

    func relationships<O: CoreStoreObject & ImportableObject>(
        of type: O.Type
    ) -> [ImportableRelationship<O.ImportSource>] {
        let known = relationships[ObjectIdentifier(type)]
        if let known = known as? [ImportableRelationship<O.ImportSource>] { return known }
        let new = O.importableRelationships
        relationships[ObjectIdentifier(type)] = new
        return new
    }

    /// The destination of a nested class's objects.
    ///
    /// - Parameter scope: of the sources around it, whose storage takes them.
    func into<O: CoreStoreObject>(
        _ type: O.Type, in scope: ImportScope
    ) throws(CoreStoreError) -> Into<O> {
        let stack = transaction.stack
        let stores = scope.stores(for: type, in: stack)
        guard stores.count == 1 else {
            throw .failure(
                .coding,
                "sources of \(type) are nested in others, and "
                    + (stores.isEmpty ? "no storage takes" : "several storages take") + " both")
        }
        return scope.configurations == nil && stack.stores(for: type, in: nil).count == 1
            ? Into<O>() : Into<O>(stores[0].configuration)
    }

    // MARK: Links

    /// Sets links now, or at the end when a target is not there yet.
    func set(_ link: PassLink, in scope: ImportScope) throws(CoreStoreError) {
        try check(link)
        if !waitingPlaces.isEmpty {
            let place = LinkPlace(owner: link.owner.objectID(), slot: link.slot)
            if let earlier = waitingPlaces.removeValue(forKey: place) { waiting[earlier] = nil }
        }
        var targets: [CoreStoreObject] = []
        targets.reserveCapacity(link.targets.count)
        for case .object(let object) in link.targets { targets.append(object) }
        guard targets.count < link.targets.count else {
            return try assign(targets, to: link.owner, link.slot, isToOne: link.isToOne)
        }
        let place = LinkPlace(owner: link.owner.objectID(), slot: link.slot)
        waitingPlaces[place] = waiting.count
        let kept = link.targets.map { target -> WaitingTarget in
            switch target {
            case .object(let object): .object(object.objectID())
            case .reference(let objects, let value):
                .reference(objects.ask(for: value, in: awaited(scope)), value)
            }
        }
        waiting.append(WaitingLink(place: place, isToOne: link.isToOne, targets: kept))
    }

    private func awaited(_ scope: ImportScope) -> PassTable {
        if let known = awaited[scope] { return known }
        let new = PassTable(transaction, scope)
        awaited[scope] = new
        return new
    }

    private func check(_ link: PassLink) throws(CoreStoreError) {
        guard link.isToOne, link.targets.count > 1 else { return }
        throw .failure(
            .coding,
            "a source names \(link.targets.count) targets of \(name(link.owner, link.slot)), which "
                + "leads to one object")
    }

    private func assign(
        _ targets: [CoreStoreObject], to owner: CoreStoreObject, _ slot: UInt16, isToOne: Bool
    ) throws(CoreStoreError) {
        for target in targets where target.raw?.store !== owner.raw?.store {
            throw .failure(
                .coding,
                "\(name(owner, slot)) is to lead to an object of another storage: "
                    + "\(target.objectID())")
        }
        if isToOne {
            owner.setLinkedObject(targets.first, slot)
        } else {
            owner.setLinkedObjects(targets, slot)
        }
    }

    private func name(_ owner: CoreStoreObject, _ slot: UInt16) -> String {
        guard let raw = owner.raw else { return "a relationship" }
        let relationship = raw.context.relationship(Int(slot), raw)
        return "\(raw.entity.name).\(relationship?.name ?? "")"
    }

    // MARK: End

    /// Sets the links that wait. An object that is not there now will not come any more.
    func finish() throws(CoreStoreError) {
        let links = waiting.compactMap { $0 }
        (waiting, waitingPlaces) = ([], [:])
        for start in stride(from: 0, to: links.count, by: Self.partCount) {
            let part = links[start..<min(start + Self.partCount, links.count)]
            for case .reference(let objects, let value) in part.lazy.flatMap(\.targets) {
                objects.askAgain(for: value)
            }
            for table in awaited.values { try table.lookUp() }
            for link in part { try setWaiting(link) }
            for table in awaited.values { table.forget() }
        }
    }

    private static var partCount: Int { 10_000 }

    private func setWaiting(_ link: WaitingLink) throws(CoreStoreError) {
        // The program may have deleted either side since.
        guard let owner: CoreStoreObject = transaction.fetchExisting(link.place.owner) else {
            return
        }
        var targets: [CoreStoreObject] = []
        for target in link.targets {
            switch target {
            case .object(let id):
                if let object: CoreStoreObject = transaction.fetchExisting(id) {
                    targets.append(object)
                }
            case .reference(let objects, let value):
                guard let object = try objects.known(value) else {
                    throw CoreStoreError(
                        StoreError(
                            .notFound,
                            "\(name(owner, link.place.slot)) is to lead to an object that is not "
                                + "there: \(objects.absence(of: value))"))
                }
                targets.append(object)
            }
        }
        try assign(targets, to: owner, link.place.slot, isToOne: link.isToOne)
    }
}
