import RecordStore

extension BaseDataTransaction {
    /// The object with an identity. Of several the first one in the storages of the preferred
    /// configurations; where these have none, the first one in the order of the storages.
    func existingObject<O: CoreStoreObject & ImportableUniqueObject>(
        _ id: O.UniqueIDType, _ type: O.Type, preferring preferred: [ModelConfiguration]?
    ) throws(CoreStoreError) -> O? {
        for place in places(type, preferred) {
            let found = try fetchOne(place, Where<O>(O.uniqueIDKeyPath, isEqualTo: id))
            if let found { return found }
        }
        return nil
    }

    /// The objects of identities, looked up together, as ``existingObject(_:_:preferring:)`` finds
    /// each.
    func existingObjects<O: CoreStoreObject & ImportableUniqueObject>(
        _ ids: [O.UniqueIDType], _ type: O.Type, preferring preferred: [ModelConfiguration]?
    ) throws(CoreStoreError) -> KnownObjects<O> {
        // By the values of the store: texts that Swift takes for equal may be two of its keys.
        let values = ids.map { ValueBridge.value($0) }
        let runner = FetchRunner(stack: stack, context: context)
        if let known = try runner.objects(type, where: O.uniqueIDKeyPath, isOneOf: values) {
            return known
        }
        // No index finds the identities.
        var known = KnownObjects<O>(count: ids.count)
        var positions: [Value: Int] = Dictionary(minimumCapacity: values.count)
        for (position, value) in values.enumerated() {
            if let first = positions[value] {
                known.repeats.append((position, first))
            } else {
                positions[value] = position
            }
        }
        let places = places(type, preferred)
        // A part at a time: a condition takes so many values.
        for start in stride(from: 0, to: ids.count, by: 10_000) {
            let part = Array(ids[start..<min(start + 10_000, ids.count)])
            let condition = Where<O>(O.uniqueIDKeyPath, isMemberOf: part)
            for place in places {
                for object in try fetchAll(place, condition) {
                    let value = ValueBridge.value(object.uniqueIDValue)
                    guard let position = positions[value] else { continue }
                    known.objects[position] = known.objects[position] ?? object
                }
            }
        }
        return known
    }

    /// Where the objects of a class are looked for, one after the other.
    private func places<O: CoreStoreObject>(
        _ type: O.Type, _ preferred: [ModelConfiguration]?
    ) -> [From<O>] {
        guard let preferred, stack.stores(for: type, in: nil).count > 1,
            !stack.stores(for: type, in: preferred).isEmpty
        else { return [From<O>()] }
        return [From<O>(preferred), From<O>()]
    }
}

extension Into {
    /// The configuration whose storage is preferred; nil where none is named.
    var preferred: [ModelConfiguration]? { infersStore ? nil : [configuration] }
}

/// The objects of a store with certain values.
struct KnownObjects<O: CoreStoreObject> {
    /// For each value its object, at the first of those that are equal; nil where there is none.
    var objects: [O?]
    /// Values that are equal to one before them.
    var repeats: [(position: Int, first: Int)] = []

    init(count: Int) { objects = [O?](repeating: nil, count: count) }

    /// For each value that equals one before it, the first of its kind.
    var firstPositions: [Int: Int] {
        Dictionary(uniqueKeysWithValues: repeats.map { ($0.position, $0.first) })
    }

    /// For each value that is the first of its kind, the last one that equals it; nil for others.
    /// Empty when all differ.
    var lastPositions: [Int?] {
        guard !repeats.isEmpty else { return [] }
        var last: [Int?] = Array(objects.indices)
        for (position, _) in repeats { last[position] = nil }
        for (position, first) in repeats { last[first] = max(last[first] ?? first, position) }
        return last
    }
}
