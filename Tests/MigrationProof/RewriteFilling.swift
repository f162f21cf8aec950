import PageStore
import Proof
import RecordStore
import TestSupport

/// Writes random objects into a store, or those of a dictionary.
struct RewriteFilling {
    private let transaction: RecordTransaction
    private var places: [Int64: ObjectNumber] = [:]
    private var entityNames: [Int64: String] = [:]

    private var schema: Schema { transaction.schema }

    private init(_ transaction: RecordTransaction, _ world: RewriteWorld) {
        self.transaction = transaction
        places = world.places.mapValues { ObjectNumber($0.number) }
        entityNames = world.objects.mapValues(\.entityName)
    }

    /// Adds objects to a store that already has some, links some, and rewrites some; `lastUID`
    /// grows by one for each new object.
    static func fill(
        _ database: RecordDatabase, _ world: RewriteWorld, _ lastUID: inout Int64,
        _ random: inout SeededRandom
    ) throws {
        let transaction = try database.beginWrite()
        var filling = RewriteFilling(transaction, world)
        for entity in database.schema.entities.sorted(by: { $0.name < $1.name })
        where !entity.isAbstract {
            for _ in 0..<random.below(5) {
                lastUID += 1
                var values: [String: Value] = ["uid": .int(lastUID)]
                for field in entity.fields.sorted(by: { $0.name < $1.name })
                where field.name != "uid" {
                    guard let type = field.type else { continue }
                    values[field.name] = RewriteFilling.value(
                        type, isOptional: field.isOptional, &random)
                }
                try filling.insert(entity, lastUID, values)
            }
        }
        try filling.rewriteSome(&random)
        try filling.linkSome(&random)
        // The highest numbers need not belong to existing objects.
        let goneUIDs = filling.places.keys.sorted().filter { _ in random.below(9) == 0 }
        try filling.deleteUnlinked(goneUIDs)
        try transaction.commit()
    }

    /// Writes objects into an empty store.
    static func write(
        _ objects: [Int64: RewriteObject], into database: RecordDatabase
    ) throws {
        let transaction = try database.beginWrite()
        var filling = RewriteFilling(transaction, RewriteWorld())
        for (uid, object) in objects.sorted(by: { $0.key < $1.key }) {
            let entity = try known(database.schema.entity(named: object.entityName))
            try filling.insert(entity, uid, object.values)
        }
        for (uid, object) in objects.sorted(by: { $0.key < $1.key }) {
            let entity = try known(database.schema.entity(named: object.entityName))
            for relationship in entity.relationships {
                for target in object.links[relationship.name] ?? [] {
                    try filling.link(relationship, uid, target)
                }
            }
        }
        try filling.order(objects)
        try transaction.commit()
    }

    static func value(
        _ type: AttributeType, isOptional: Bool, _ random: inout SeededRandom
    ) -> Value {
        while true {
            let value = random.below(20) == 0 ? extreme(type) : RandomModels.value(type, &random)
            if isOptional || value != .null { return value }
        }
    }

    private static func extreme(_ type: AttributeType) -> Value {
        switch type {
        case .int64: .int(.min)
        case .uint64: .uint(.max)
        case .int32: .int(Int64(Int32.max))
        case .string: .string("")
        case .double: .double(-0.0)
        default: .null
        }
    }

    // MARK: Objects

    private mutating func insert(
        _ entity: EntityLayout, _ uid: Int64, _ values: [String: Value]
    ) throws {
        var row = entity.emptyRow()
        defer { row.deallocate() }
        for (name, value) in values {
            row.setValue(value, try known(entity.field(named: name)))
        }
        let number = try transaction.allocateNumber(in: entity.hierarchy)
        var batch = RecordBatch()
        batch.insert(entity, number, row: row)
        try transaction.apply(batch)
        (places[uid], entityNames[uid]) = (number, entity.name)
    }

    /// Rewrites some objects, which gives them the newest layout.
    private func rewriteSome(_ random: inout SeededRandom) throws {
        for uid in places.keys.sorted() where random.below(4) == 0 {
            let entity = try entity(of: uid)
            let attributes = entity.fields.filter { $0.type != nil && $0.name != "uid" }
                .sorted { $0.name < $1.name }
            let field = attributes.randomElement(using: &random)
            let value = field.flatMap { field in
                field.type.map {
                    Self.value($0, isOptional: field.isOptional, &random)
                }
            }
            try update(uid) { row in
                if let field, let value { row.setValue(value, field) }
            }
        }
    }

    private mutating func deleteUnlinked(_ uids: [Int64]) throws {
        let linked = try linkedPlaces()
        for uid in uids {
            let entity = try entity(of: uid)
            let number = try known(places[uid])
            let place = Place(root: entity.hierarchy.rootTag, number: number.rawValue)
            guard !linked.contains(place) else { continue }
            var batch = RecordBatch()
            batch.delete(number, in: entity.hierarchy)
            try transaction.apply(batch)
            (places[uid], entityNames[uid]) = (nil, nil)
        }
    }

    private struct Place: Hashable {
        var root: UInt16
        var number: UInt64
    }

    /// The objects at either end of a link.
    private func linkedPlaces() throws -> Set<Place> {
        var linked: Set<Place> = []
        for (uid, number) in places {
            let entity = try entity(of: uid)
            for relationship in entity.relationships {
                let target = schema.knownEntity(tag: relationship.destinationTag).hierarchy
                let numbers = try transaction.linkedNumbers(relationship, of: number)
                guard !numbers.isEmpty else { continue }
                linked.insert(Place(root: entity.hierarchy.rootTag, number: number.rawValue))
                for other in numbers {
                    linked.insert(Place(root: target.rootTag, number: other.rawValue))
                }
            }
        }
        return linked
    }

    private func entity(of uid: Int64) throws -> EntityLayout {
        let name = try known(entityNames[uid])
        return try known(schema.entity(named: name))
    }

    private func update(_ uid: Int64, _ body: (inout RowBuffer) -> Void) throws {
        let entity = try entity(of: uid)
        let number = try known(places[uid])
        var row = try known(try transaction.row(number, in: entity.hierarchy))
        defer { row.deallocate() }
        body(&row)
        var batch = RecordBatch()
        batch.update(entity, number, row: row)
        try transaction.apply(batch)
    }

    // MARK: Links

    private func linkSome(_ random: inout SeededRandom) throws {
        let relationships = schema.relationships.map {
            ($0, schema.knownEntity(tag: $0.sourceTag).name + "." + $0.name)
        }.sorted { $0.1 < $1.1 }
        for (relationship, _) in relationships {
            let owners = try uids(of: relationship.sourceTag)
            let targets = try uids(of: relationship.destinationTag)
            // Some have one link at most, so that a to-one may follow.
            let countMax = [1, 1, 3, 6][random.below(4)]
            for owner in owners where random.below(2) == 0 {
                for _ in 0...random.below(countMax) {
                    guard let target = targets.randomElement(using: &random) else { continue }
                    try link(relationship, owner, target)
                }
            }
        }
    }

    private func uids(of tag: UInt16) throws -> [Int64] {
        try places.keys.sorted().filter { try entity(of: $0).isKind(of: tag) }
    }

    /// Adds a link in both directions, unless a to-one side has one.
    private func link(
        _ relationship: RelationshipLayout, _ owner: Int64, _ target: Int64
    ) throws {
        let inverse = relationship.inverseID.map { schema.relationship(id: $0) }
        // An inverse may be declared below the destination, or lead to fewer entities.
        if let inverse,
            try !entity(of: target).isKind(of: inverse.sourceTag)
                || !entity(of: owner).isKind(of: inverse.destinationTag)
        {
            return
        }
        let ownerNumber = try known(places[owner])
        let targetNumber = try known(places[target])
        if relationship.kind != .toOne, let inverse, inverse.kind == .toOne {
            return try link(inverse, target, owner)
        }
        guard let field = relationship.field else {
            var batch = RecordBatch()
            batch.addLink(relationship, owner: ownerNumber, target: targetNumber)
            return try transaction.apply(batch)
        }
        guard try transaction.linkCount(relationship, of: ownerNumber) == 0 else { return }
        if let inverse, let inverseField = inverse.field {
            guard try transaction.linkCount(inverse, of: targetNumber) == 0 else { return }
            try update(target) { $0.setLink(ownerNumber, at: inverseField.byteOffset) }
        }
        try update(owner) { $0.setLink(targetNumber, at: field.byteOffset) }
        guard let inverse, inverse.kind == .toManyOrdered else { return }
        var batch = RecordBatch()
        batch.addLink(inverse, owner: targetNumber, target: ownerNumber)
        try transaction.apply(batch)
    }

    private func order(_ objects: [Int64: RewriteObject]) throws {
        for (uid, object) in objects.sorted(by: { $0.key < $1.key }) {
            let entity = try entity(of: uid)
            for relationship in entity.relationships where relationship.kind == .toManyOrdered {
                let targets = (object.links[relationship.name] ?? []).compactMap { places[$0] }
                var batch = RecordBatch()
                let owner = try known(places[uid])
                batch.setLinks(relationship, owner: owner, targets)
                try transaction.apply(batch)
            }
        }
    }
}
