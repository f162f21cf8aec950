import Foundation
import MigrationProof
import PageStore
import SampleSchemas
import TestSupport
import Testing

@testable import RecordStore

/// Random models that change step by step, with objects written in between: the file equals a
/// migration of dictionaries.
@Suite struct LayoutMigrationModelTests {
    fileprivate struct Object: Equatable {
        var entityName: String
        var values: [String: Value] = [:]
        var links: [String: [UInt64]] = [:]
    }

    fileprivate struct Key: Hashable {
        var root: String
        var number: UInt64
    }

    @Test func `a file that is migrated to a model equals dictionaries`() throws {
        var random = SeededRandom(for: "LayoutMigrationModelTests")
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        for round in FuzzRounds(40) {
            let place = "seed \(random.seed), round \(round)"
            var schema = RandomModels.schema(&random)
            let files = MemoryFileSystem()
            var known: [Key: Object] = [:]
            for step in 0..<5 {
                if step > 0 {
                    var evolution = Evolution(schema, known, &random)
                    for _ in 0...random.below(3) { evolution.change(&random) }
                    (schema, known) = (evolution.schema, evolution.objects)
                }
                let database = try RecordDatabase.open(
                    .file("store"), schema: schema, options: options, files: files
                ) { _ in [MigrationStep(schema, allowedLoss: .all, isNamed: true)] }
                let found = try content(database)
                #expect(found == known, "\(place), step \(step)")
                guard found == known else { return }
                try RandomModels.change(database, &random)
                try rewriteSome(database, &random)
                known = try content(database)
                if random.below(2) == 0 { try database.checkpoint() }
                try database.close()
                for index in schema.entities.indices { schema.entities[index].forgetNames() }
            }
            let reader = try RecordDatabase.openReadOnly(path: "store", files: files)
            #expect(try content(reader) == known, "\(place)")
            try reader.close()
        }
    }

    @Test func `a reader of a later model sees a file as if it were migrated`() throws {
        var random = SeededRandom(for: "UnmigratedFileTests")
        var options = Engine.Options()
        options.pageSizeInBytes = 4096
        var (seenCount, refusedCount, followedCount, earlierCount) = (0, 0, 0, 0)
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("unmigrated-\(UUID().uuidString).trellis")
        defer { try? FileManager.default.removeItem(at: url) }
        for round in FuzzRounds(30) {
            var models = [RandomModels.schema(&random)]
            try? FileManager.default.removeItem(at: url)
            var known: [Key: Object] = [:]
            for step in 0..<5 {
                let place = "seed \(random.seed), round \(round), step \(step)"
                if step > 0 {
                    evolve(&models, &known, &random)
                }
                let path = models.dropFirst(step > 0 ? 1 : 0).map {
                    MigrationStep($0, allowedLoss: .all, isNamed: true)
                }
                var (reader, earlier): (RecordDatabase?, RecordDatabase?) = (nil, nil)
                if step > 0 {
                    earlier = try self.reader(url, [MigrationStep(models[0])])
                    let before = try Data(contentsOf: url)
                    reader = try self.reader(url, path)
                    let isSeen = isReadable(models)
                    #expect((reader != nil) == isSeen, "\(place)")
                    if let reader { #expect(try content(reader) == known, "\(place)") }
                    seenCount += isSeen ? 1 : 0
                    refusedCount += isSeen ? 0 : 1
                    #expect(try Data(contentsOf: url) == before, "\(place)")
                }
                let database = try RecordDatabase.open(
                    .file(url.path), schema: models[models.count - 1], options: options
                ) { _ in path }
                #expect(try content(database) == known, "\(place)")
                try RandomModels.change(database, &random)
                try rewriteSome(database, &random)
                known = try content(database)
                if let reader, let found = try followed(reader, to: database) {
                    #expect(found == known, "\(place), followed")
                    followedCount += 1
                }
                if let earlier {
                    let found = try followed(earlier, to: database)
                    let goesOn = isFollowed(models)
                    #expect((found != nil) == goesOn, "\(place), earlier")
                    let expected = known.visible(to: earlier.schema)
                    #expect(found == nil || found == expected, "\(place), earlier")
                    earlierCount += goesOn ? 1 : 0
                }
                try reader?.close()
                try earlier?.close()
                if random.below(2) == 0 { try database.checkpoint() }
                try database.close()
            }
        }
        #expect(min(seenCount, refusedCount, followedCount) > 10)
        #expect(earlierCount > 5)
    }

    /// Keeps the last model, and adds one or two that follow it.
    private func evolve(
        _ models: inout [SchemaDescription], _ known: inout [Key: Object],
        _ random: inout SeededRandom
    ) {
        models.removeFirst(models.count - 1)
        for _ in 0...random.below(2) {
            var last = models[models.count - 1]
            last.forgetNames()
            var evolution = Evolution(last, known, &random)
            for _ in 0...random.below(3) { evolution.change(&random) }
            models.append(evolution.schema)
            known = evolution.objects
        }
    }

    /// The content that a reader has at another opening's last commit; nil if the reader ends.
    private func followed(
        _ reader: RecordDatabase, to database: RecordDatabase
    ) throws -> [Key: Object]? {
        let commit = try database.snapshot().commitNumber
        let end = ContinuousClock.now + .seconds(60 * hangMinutes)
        do throws(StoreError) {
            while try reader.snapshot().commitNumber < commit, ContinuousClock.now < end {
                Thread.sleep(forTimeInterval: 0.002)
            }
        } catch {
            guard error.code == .schemaMismatch else { throw error }
            return nil
        }
        // A reader that does not know all properties does not know all blobs.
        return try content(reader, isChecked: false)
    }

    /// Whether a reader of the first model goes on when another process migrates to the last one.
    private func isFollowed(_ models: [SchemaDescription]) -> Bool {
        guard isAddition(models[0], models[models.count - 1]) else { return false }
        // A file that has the last model, but for indexes, is not migrated, whatever is between.
        return !SchemaDifference.needsMigration(from: models[0], to: models[models.count - 1])
            || zip(models, models.dropFirst()).allSatisfy { keepsIdentities($0, $1) }
    }

    /// Whether a model only adds properties, hierarchies and indexes to another one.
    private func isAddition(_ old: SchemaDescription, _ new: SchemaDescription) -> Bool {
        SchemaDifference.edits(from: old, to: new).allSatisfy { edit in
            switch edit {
            case .propertyAdded, .indexAdded: return true
            case .entityAdded(let name):
                var current = new.entities.first { $0.name == name }
                while let above = current?.superentityName {
                    if old.entities.contains(where: { $0.name == above }) { return false }
                    current = new.entities.first { $0.name == above }
                }
                return true
            default: return false
            }
        }
    }

    /// Whether a migration renames and removes no entity. Doing so begins a generation of
    /// identities that earlier readers do not know, even if the same path has added the entity.
    private func keepsIdentities(_ old: SchemaDescription, _ new: SchemaDescription) -> Bool {
        SchemaDifference.edits(from: old, to: new).allSatisfy { edit in
            switch edit {
            case .entityRemoved, .entityRenamed: false
            default: true
            }
        }
    }

    /// Opens a file for reading by the last model of a path; nil if that is refused.
    private func reader(
        _ url: URL, _ path: [MigrationStep]
    ) throws -> RecordDatabase? {
        var options = Engine.Options()
        options.mode = .reading
        let schema = try #require(path.last?.schema)
        do throws(StoreError) {
            let reader = try RecordDatabase.open(
                .file(url.path), schema: schema, options: options
            ) { _ in path }
            reader.follow { _ in }
            return reader
        } catch {
            guard error.code == .schemaMismatch else { throw error }
            return nil
        }
    }

    /// Whether no migration of a path writes or checks a record.
    private func isReadable(_ models: [SchemaDescription]) -> Bool {
        // A path that leads back to the file's model migrates nothing.
        zip(models, models.dropFirst()).allSatisfy { isReadable($0, $1) }
            || !SchemaDifference.needsMigration(from: models[0], to: models[models.count - 1])
    }

    /// Whether a migration neither writes nor checks a record.
    private func isReadable(_ old: SchemaDescription, _ new: SchemaDescription) -> Bool {
        let edits = SchemaDifference.edits(from: old, to: new)
        return edits.allSatisfy { edit in
            switch edit {
            case .propertyRemoved, .entityRemoved, .optionalityChanged(_, isOptional: false):
                return false
            case .propertyAdded(let path):
                let attribute = new.entities.first { $0.name == path.entityName }?
                    .attributes.first { $0.name == path.name }
                return attribute?.hasLongDefault != true
                    || edits.contains(.entityAdded(path.entityName))
            default: return true
            }
        }
    }

    /// Rewrites some objects, which gives them the newest layout.
    private func rewriteSome(
        _ database: RecordDatabase, _ random: inout SeededRandom
    ) throws {
        let transaction = try database.beginWrite()
        for entity in database.schema.entities.sorted(by: { $0.name < $1.name }) {
            var numbers: [ObjectNumber] = []
            let cursor = transaction.recordCursor(entity.hierarchy)
            while try cursor.next() {
                if try cursor.row().entityTag == entity.tag { numbers.append(cursor.number) }
            }
            var batch = RecordBatch()
            for number in numbers where random.below(3) == 0 {
                guard var row = try transaction.row(number, in: entity.hierarchy) else { continue }
                defer { row.deallocate() }
                let attributes = entity.fields.filter { $0.type != nil }.sorted {
                    $0.name < $1.name
                }
                if let field = attributes.randomElement(using: &random), let type = field.type {
                    row.setValue(
                        RandomModels.value(type, isOptional: field.isOptional, &random), field)
                }
                batch.update(entity, number, row: row)
            }
            try transaction.apply(batch)
        }
        try transaction.commit()
    }

    private func content(
        _ database: RecordDatabase, isChecked: Bool = true
    ) throws -> [Key: Object] {
        let reader = try database.snapshot()
        if isChecked { #expect(reader.check() == []) }
        var content: [Key: Object] = [:]
        for root in database.schema.entities where root.superentityTag == nil {
            let cursor = reader.recordCursor(root.hierarchy)
            while try cursor.next() {
                let row = try cursor.row()
                let entity = database.schema.knownEntity(tag: row.entityTag)
                var object = Object(entityName: entity.name)
                for field in entity.fields {
                    object.values[field.name] = try reader.value(field, of: row)
                }
                for relationship in entity.relationships where relationship.field == nil {
                    object.links[relationship.name] = try reader.linkedNumbers(
                        relationship, of: cursor.number
                    ).map(\.rawValue)
                }
                content[Key(root: root.name, number: cursor.number.rawValue)] = object
                try compareLent(cursor.number, entity, row, reader)
            }
            try compareColumns(root, reader)
        }
        return content
    }

    /// A record found by its number equals the one that a cursor reads.
    private func compareLent(
        _ number: ObjectNumber, _ entity: EntityLayout, _ row: RowView, _ reader: RecordReader
    ) throws {
        let isSame = try reader.withRow(number, in: entity.hierarchy) { $0.bytes == row.bytes }
        #expect(isSame == true)
        let isFound = try reader.rowLookup(entity.hierarchy).withRow(number) {
            $0.bytes == row.bytes
        }
        #expect(isFound == true)
    }

    /// The columns of leaves equal their rows.
    private func compareColumns(_ root: EntityLayout, _ reader: RecordReader) throws {
        let schema = reader.schema
        for entity in schema.entities where entity.hierarchy == root.hierarchy {
            var columns = entity.fields.filter { !$0.isVariable }
                .map { (field: $0, column: LeafColumn($0)) }
            // Twice: the second time the pages are cached.
            for _ in 0..<2 {
                let scan = reader.recordScan(root.hierarchy)
                while let leaf = try scan.next() {
                    for index in columns.indices { columns[index].column.read(leaf) }
                    for index in 0..<leaf.count {
                        let row = leaf.row(index)
                        guard entity.tags.contains(row.entityTag) else { continue }
                        for (field, column) in columns {
                            let isNull = row.isNull(at: field.byteOffset)
                            #expect(column.isNull(index) == isNull)
                            if !isNull { #expect(column[index] == row.uint(at: field.byteOffset)) }
                        }
                    }
                }
            }
        }
    }

    // MARK: Models that change

    /// A model and its objects, which get the same changes.
    private struct Evolution {
        var schema: SchemaDescription
        var objects: [Key: Object]
        /// Names of attributes that existed before this step.
        private let earlierNames: Set<String>

        init(
            _ schema: SchemaDescription, _ objects: [Key: Object], _ random: inout SeededRandom
        ) {
            self.schema = schema
            self.objects = objects
            earlierNames = Set(schema.entities.flatMap(\.attributes).map(\.name))
            self.schema.entities.shuffle(using: &random)
        }

        private func newName(_ random: inout SeededRandom) -> String {
            "n\(random.next() % 1_000_000_000)"
        }

        private func isKind(_ name: String, of other: String) -> Bool {
            var current: String? = name
            while let owner = current {
                if owner == other { return true }
                current = schema.entities.first { $0.name == owner }?.superentityName
            }
            return false
        }

        private mutating func changeObjects(
            of entityName: String, _ body: (inout Object) -> Void
        ) {
            for key in objects.keys {
                guard let name = objects[key]?.entityName, isKind(name, of: entityName) else {
                    continue
                }
                body(&objects[key, default: Object(entityName: name)])
            }
        }

        mutating func change(_ random: inout SeededRandom) {
            let index = random.below(schema.entities.count)
            switch random.below(13) {
            case 0, 1: addAttribute(index, &random)
            case 2: addRelationship(index, &random)
            case 3: addMirror(index, &random)
            case 4: renameProperty(index, &random)
            case 5: renameEntity(index, &random)
            case 6: widen(index, &random)
            case 7: addEntity(&random)
            case 8: removeAttribute(index, &random)
            case 9: removeRelationship(index, &random)
            case 10: removeEntity(index, &random)
            case 11: require(index, &random)
            default: changeIndexes(index, &random)
            }
        }

        private mutating func addAttribute(_ index: Int, _ random: inout SeededRandom) {
            let type = AttributeType.allCases[random.below(AttributeType.allCases.count)]
            let value = RandomModels.value(type, &random)
            let attribute = AttributeDescription(
                name: newName(&random), type: type,
                isOptional: value == .null || random.below(2) == 0, defaultValue: value)
            schema.entities[index].attributes.insert(
                attribute, at: random.below(schema.entities[index].attributes.count + 1))
            changeObjects(of: schema.entities[index].name) { $0.values[attribute.name] = value }
        }

        private mutating func addRelationship(_ index: Int, _ random: inout SeededRandom) {
            let kinds: [RelationshipDescription.Kind] = [.toOne, .toManyUnordered, .toManyOrdered]
            let kind = kinds[random.below(3)]
            let name = newName(&random)
            schema.entities[index].relationships.append(
                RelationshipDescription(
                    name: name,
                    destinationEntityName: schema.entities[random.below(schema.entities.count)]
                        .name, kind: kind))
            changeObjects(of: schema.entities[index].name) { object in
                if kind == .toOne { object.values[name] = .null } else { object.links[name] = [] }
            }
        }

        /// Adds a to-many that mirrors an existing to-one.
        private mutating func addMirror(_ index: Int, _ random: inout SeededRandom) {
            let entity = schema.entities[index]
            let paired = Set(
                schema.entities.flatMap(\.relationships).compactMap(\.inverseName))
            let free = entity.relationships.filter {
                $0.kind == .toOne && $0.inverseName == nil && !paired.contains($0.name)
            }
            guard let relationship = free.randomElement(using: &random) else { return }
            let name = newName(&random)
            guard
                let target = schema.entities.firstIndex(where: {
                    $0.name == relationship.destinationEntityName
                })
            else { return }
            schema.entities[target].relationships.append(
                .toManyUnordered(name, to: entity.name, inverse: relationship.name))
            let root = root(of: schema.entities[target].name)
            for key in objects.keys {
                guard let owner = objects[key]?.entityName,
                    isKind(owner, of: schema.entities[target].name), key.root == root
                else { continue }
                let sources = objects.filter {
                    isKind($0.value.entityName, of: entity.name)
                        && $0.value.values[relationship.name]
                            == .object(ObjectNumber(key.number))
                }
                objects[key]?.links[name] = sources.keys.map(\.number).sorted()
            }
        }

        private func root(of name: String) -> String {
            var current = name
            while let above = schema.entities.first(where: { $0.name == current })?.superentityName
            {
                current = above
            }
            return current
        }

        private mutating func renameProperty(_ index: Int, _ random: inout SeededRandom) {
            let name = newName(&random)
            let entity = schema.entities[index]
            let old: String
            if random.below(2) == 0,
                let number = entity.attributes.indices.randomElement(using: &random)
            {
                guard entity.attributes[number].previousName == nil else { return }
                old = entity.attributes[number].name
                schema.entities[index].attributes[number].name = name
                schema.entities[index].attributes[number].previousName = old
            } else if let number = entity.relationships.indices.randomElement(using: &random) {
                guard entity.relationships[number].previousName == nil else { return }
                old = entity.relationships[number].name
                schema.entities[index].relationships[number].name = name
                schema.entities[index].relationships[number].previousName = old
                for other in schema.entities.indices {
                    for inverse in schema.entities[other].relationships.indices
                    where schema.entities[other].relationships[inverse].inverseName == old {
                        schema.entities[other].relationships[inverse].inverseName = name
                    }
                }
            } else {
                return
            }
            for other in schema.entities.indices
            where isKind(schema.entities[other].name, of: entity.name) {
                let indexes = schema.entities[other].indexes
                schema.entities[other].indexes = indexes.map { $0.map { $0 == old ? name : $0 } }
            }
            changeObjects(of: entity.name) { object in
                object.values[name] = object.values.removeValue(forKey: old)
                object.links[name] = object.links.removeValue(forKey: old)
            }
        }

        private mutating func renameEntity(_ index: Int, _ random: inout SeededRandom) {
            guard schema.entities[index].previousName == nil else { return }
            let (old, name) = (schema.entities[index].name, newName(&random))
            schema.entities[index].name = name
            schema.entities[index].previousName = old
            for other in schema.entities.indices {
                if schema.entities[other].superentityName == old {
                    schema.entities[other].superentityName = name
                }
                for number in schema.entities[other].relationships.indices
                where schema.entities[other].relationships[number].destinationEntityName == old {
                    schema.entities[other].relationships[number].destinationEntityName = name
                }
            }
            objects = Dictionary(
                uniqueKeysWithValues: objects.map { key, object in
                    var (key, object) = (key, object)
                    if key.root == old { key.root = name }
                    if object.entityName == old { object.entityName = name }
                    return (key, object)
                })
        }

        private mutating func widen(_ index: Int, _ random: inout SeededRandom) {
            guard
                let number = schema.entities[index].attributes.indices.randomElement(using: &random)
            else { return }
            let attribute = schema.entities[index].attributes[number]
            let wider = AttributeType.allCases.filter {
                LayoutEdits.isWider($0, than: attribute.type)
            }
            guard let type = wider.randomElement(using: &random) else { return }
            func widened(_ value: Value) -> Value {
                switch value {
                case .bool(let flag): type.isSigned ? .int(flag ? 1 : 0) : .uint(flag ? 1 : 0)
                case .uint(let number): type.isSigned ? .int(Int64(number)) : value
                case .url(let text): type == .data ? .data(Array(text.utf8)) : .string(text)
                case .string(let text): type == .data ? .data(Array(text.utf8)) : value
                default: value
                }
            }
            // A default that the file has stays; the default of the class changes with the type.
            schema.entities[index].attributes[number].type = type
            schema.entities[index].attributes[number].defaultValue =
                widened(attribute.defaultValue)
            changeObjects(of: schema.entities[index].name) { object in
                object.values[attribute.name] = object.values[attribute.name].map(widened)
            }
        }

        private mutating func removeAttribute(_ index: Int, _ random: inout SeededRandom) {
            let entity = schema.entities[index]
            guard let name = entity.attributes.randomElement(using: &random)?.name else { return }
            schema.entities[index].attributes.removeAll { $0.name == name }
            removeColumn(name, of: entity.name)
            changeObjects(of: entity.name) { $0.values[name] = nil }
        }

        private mutating func removeColumn(_ name: String, of entityName: String) {
            for other in schema.entities.indices
            where isKind(schema.entities[other].name, of: entityName) {
                schema.entities[other].indexes.removeAll { $0.contains(name) }
            }
        }

        private mutating func removeRelationship(_ index: Int, _ random: inout SeededRandom) {
            let entity = schema.entities[index]
            guard let name = entity.relationships.randomElement(using: &random)?.name else {
                return
            }
            removeRelationship(name, of: entity.name)
        }

        /// Removes a mirroring list too; the inverse of a removed relationship stays.
        private mutating func removeRelationship(_ name: String, of entityName: String) {
            for other in schema.entities {
                for mirror in other.relationships where mirror.inverseName == name {
                    removeRelationship(mirror.name, of: other.name)
                }
            }
            for index in schema.entities.indices where schema.entities[index].name == entityName {
                schema.entities[index].relationships.removeAll { $0.name == name }
            }
            removeColumn(name, of: entityName)
            changeObjects(of: entityName) { object in
                object.values[name] = nil
                object.links[name] = nil
            }
        }

        private mutating func removeEntity(_ index: Int, _ random: inout SeededRandom) {
            let gone = schema.entities[index]
            guard schema.entities.count > 2,
                !schema.entities.contains(where: { $0.superentityName == gone.name })
            else { return }
            for entity in schema.entities {
                for relationship in entity.relationships
                where relationship.destinationEntityName == gone.name {
                    removeRelationship(relationship.name, of: entity.name)
                }
            }
            for relationship in gone.relationships {
                removeRelationship(relationship.name, of: gone.name)
            }
            let root = root(of: gone.name)
            let numbers = Set(
                objects.filter { $0.value.entityName == gone.name }.keys.map(\.number))
            objects = objects.filter { $0.value.entityName != gone.name }
            for entity in schema.entities {
                for relationship in entity.relationships
                where self.root(of: relationship.destinationEntityName) == root {
                    let name = relationship.name
                    changeObjects(of: entity.name) { object in
                        if case .object(let target)? = object.values[name],
                            numbers.contains(target.rawValue)
                        {
                            object.values[name] = .null
                        }
                        object.links[name]?.removeAll { numbers.contains($0) }
                    }
                }
            }
            schema.entities.remove(at: index)
        }

        /// Nil values become the default.
        private mutating func require(_ index: Int, _ random: inout SeededRandom) {
            let entity = schema.entities[index]
            guard let number = entity.attributes.indices.randomElement(using: &random),
                entity.attributes[number].isOptional,
                // An attribute that is new in this step has the last default only.
                earlierNames.contains(entity.attributes[number].name)
            else { return }
            let value = RandomModels.value(
                entity.attributes[number].type, isOptional: false, &random)
            schema.entities[index].attributes[number].isOptional = false
            schema.entities[index].attributes[number].defaultValue = value
            let name = entity.attributes[number].name
            changeObjects(of: entity.name) { object in
                if object.values[name] == .null { object.values[name] = value }
            }
        }

        private mutating func addEntity(_ random: inout SeededRandom) {
            let name = newName(&random)
            var entity = EntityDescription(name)
            if random.below(2) == 0 {
                entity.superentityName = schema.entities[random.below(schema.entities.count)].name
            }
            schema.entities.insert(entity, at: random.below(schema.entities.count + 1))
            guard let index = schema.entities.firstIndex(where: { $0.name == name }) else { return }
            for _ in 0..<random.below(3) { addAttribute(index, &random) }
            if random.below(2) == 0 { addRelationship(index, &random) }
        }

        private mutating func changeIndexes(_ index: Int, _ random: inout SeededRandom) {
            let entity = schema.entities[index]
            if !entity.indexes.isEmpty, random.below(2) == 0 {
                schema.entities[index].indexes.remove(at: random.below(entity.indexes.count))
            } else if let attribute = entity.attributes.randomElement(using: &random) {
                schema.entities[index].indexes.append([attribute.name])
            }
        }
    }
}

extension [LayoutMigrationModelTests.Key: LayoutMigrationModelTests.Object] {
    /// The part that a schema knows.
    fileprivate func visible(to schema: Schema) -> Self {
        compactMapValues { object in
            guard let entity = schema.entity(named: object.entityName) else { return nil }
            var visible = object
            visible.values = object.values.filter { entity.field(named: $0.key) != nil }
            visible.links = object.links.filter { entity.relationship(named: $0.key) != nil }
            return visible
        }
    }
}

extension SchemaDescription {
    fileprivate mutating func forgetNames() {
        for index in entities.indices { entities[index].forgetNames() }
    }
}

extension EntityDescription {
    /// The next model version is compared with this one.
    fileprivate mutating func forgetNames() {
        previousName = nil
        for index in attributes.indices { attributes[index].previousName = nil }
        for index in relationships.indices { relationships[index].previousName = nil }
    }
}
