import ObjectGraph

/// A store of an earlier model that is filled, migrated with its objects rewritten, and described,
/// each in a separate process, so that the migration can be killed.
struct MigrateUse {
    enum V1 {
        final class Item: CoreStoreObject {
            @Field.Stored("number") var number: Int32 = 0
            @Field.Stored("name") var name: String = ""
            @Field.Stored("note") var note: Data?
            @Field.Relationship("previous", inverse: \.$next) var previous: Item?
            @Field.Relationship("next") var next: Item?
        }
        final class Box: CoreStoreObject {
            @Field.Stored("number") var number: Int32 = 0
            @Field.Relationship("item") var item: Item?
        }
    }

    enum V2 {
        /// A new superentity of both.
        class Thing: CoreStoreObject {
            @Field.Stored("weight") var weight: Double = 1
        }
        final class Item: Thing {
            @Field.Stored("number") var number: Double = 0
            @Field.Stored("givenName") var givenName: String = ""
            @Field.Stored("familyName") var familyName: String = ""
            @Field.Stored("note") var note: Data?
            @Field.Relationship("previous", inverse: \.$next) var previous: Item?
            @Field.Relationship("next") var next: Item?
        }
        final class Box: Thing {
            @Field.Stored("number") var number: Int32 = 0
            @Field.Relationship("item") var item: [Item]
        }
    }

    private static let first = CoreStoreSchema(
        modelVersion: "V1",
        entities: [Entity<V1.Item>("Item", indexes: [[\.$name]]), Entity<V1.Box>("Box")])
    private static let second = CoreStoreSchema(
        modelVersion: "V2",
        entities: [
            Entity<V2.Thing>("Thing", isAbstract: true),
            Entity<V2.Item>("Item", indexes: [[\.$number], [\.$familyName]]),
            Entity<V2.Box>("Box"),
        ])
    private static let mapping = CustomSchemaMappingProvider(
        from: "V1", to: "V2",
        entityMappings: [
            .transformEntity(
                sourceEntity: "Item", destinationEntity: "Item",
                transformer: { source, createDestination in
                    let names = (source["name"] as? String ?? "").split(separator: " ")
                    let item = createDestination()
                    (item["number"], item["note"]) = (source["number"], source["note"])
                    item["givenName"] = names.first.map(String.init)
                    item["familyName"] = names.last.map(String.init)
                })
        ])

    let path: String

    private static let queue = DispatchQueue(label: "view")

    private static func stack(_ schema: CoreStoreSchema) -> DataStack {
        DataStack(schemaHistory: SchemaHistory(schema), viewContext: .queue(queue))
    }

    private var url: URL { URL(fileURLWithPath: path) }

    func fill(_ count: Int) throws {
        let stack = Self.stack(Self.first)
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { transaction in
            var last: V1.Item?
            for number in 0..<count {
                let item = transaction.create(Into<V1.Item>())
                (item.number, item.name) = (Int32(number), "Given\(number % 100) Family\(number)")
                if number.isMultiple(of: 1000) { item.note = Data(count: 20_000) }
                item.previous = number.isMultiple(of: 5) ? nil : last
                last = item
                guard number.isMultiple(of: 4) else { continue }
                let box = transaction.create(Into<V1.Box>())
                (box.number, box.item) = (Int32(number), item)
            }
        })
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// Prints a line when it begins, then how long it took and its peak memory in KiB.
    func migrate(_ options: EngineOptions = EngineOptions()) throws {
        let stack = Self.stack(Self.second)
        let done = DispatchSemaphore(value: 0)
        KillChild.say("begins")
        let begin = ContinuousClock.now
        _ = stack.addStorage(
            LocalStore(
                fileURL: url, migrationMappingProviders: [Self.mapping], engineOptions: options)
        ) { result in
            if case .failure(let error) = result { KillChild.say("failed \(error)") }
            done.signal()
        }
        done.wait()
        let milliseconds = Int((ContinuousClock.now - begin) / .milliseconds(1))
        KillChild.say("done \(milliseconds) \(LoadUse.memory("VmHWM"))")
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// Prints the model of the file, and a line about its objects that is the same for both models.
    func tell() throws {
        let stack = Self.stack(Self.first)
        do throws(CoreStoreError) {
            try stack.addStorageAndWait(LocalStore(fileURL: url))
        } catch {
            let later = Self.stack(Self.second)
            try later.addStorageAndWait(LocalStore(fileURL: url))
            try Self.queue.sync { try tellLater(later) }
            later.unsafeRemoveAllPersistentStoresAndWait()
            return
        }
        try Self.queue.sync { try tellFirst(stack) }
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    private func tellFirst(_ stack: DataStack) throws {
        let items = try stack.fetchAll(From<V1.Item>().orderBy(.ascending(\.$number)))
        let boxes = try stack.fetchAll(From<V1.Box>().orderBy(.ascending(\.$number)))
        var hash: UInt64 = 0
        for item in items {
            Self.add("\(Int(item.number)) \(item.name) \(item.note?.count ?? -1)", to: &hash)
            Self.add("\(item.previous.map { Int($0.number) } ?? -1)", to: &hash)
            Self.add("\(item.next.map { Int($0.number) } ?? -1)", to: &hash)
        }
        for box in boxes {
            Self.add("\(box.number) \(box.item.map { Int($0.number) } ?? -1)", to: &hash)
        }
        KillChild.say("V1\n\(items.count) \(boxes.count) \(hash)")
    }

    private func tellLater(_ stack: DataStack) throws {
        let items = try stack.fetchAll(From<V2.Item>().orderBy(.ascending(\.$number)))
        let boxes = try stack.fetchAll(From<V2.Box>().orderBy(.ascending(\.$number)))
        var hash: UInt64 = 0
        for item in items {
            let name = "\(item.givenName) \(item.familyName)"
            Self.add("\(Int(item.number)) \(name) \(item.note?.count ?? -1)", to: &hash)
            Self.add("\(item.previous.map { Int($0.number) } ?? -1)", to: &hash)
            Self.add("\(item.next.map { Int($0.number) } ?? -1)", to: &hash)
        }
        for box in boxes {
            let number = box.item.count == 1 ? Int(box.item[0].number) : -1 - box.item.count
            Self.add("\(box.number) \(number)", to: &hash)
        }
        KillChild.say("V2\n\(items.count) \(boxes.count) \(hash)")
    }

    /// FNV-1a.
    private static func add(_ text: String, to hash: inout UInt64) {
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
