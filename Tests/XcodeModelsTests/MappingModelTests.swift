import Foundation
import ObjectGraph
import Testing

@testable import XcodeModels

/// Files follow by the mapping models that Xcode saves.
@Suite struct MappingModelTests {
    private enum V1 {
        class Customer: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("visits") var visits: Int = 0
            @Field.Stored("note") var note: String?
            @Field.Relationship("items", inverse: \.$customer) var items: Set<Item>
        }
        class Item: CoreStoreObject {
            @Field.Stored("title") var title: String = ""
            @Field.Stored("price") var price: Double = 0
            @Field.Relationship("customer") var customer: Customer?
        }
        class Scrap: CoreStoreObject {
            @Field.Stored("text") var text: String = ""
        }
        class Clerk: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
    }

    private enum V2 {
        class Client: CoreStoreObject {
            @Field.Stored("fullName") var fullName: String = ""
            @Field.Stored("visits") var visits: Int = 0
            @Field.Stored("kind") var kind: String = ""
            @Field.Stored("isActive") var isActive: Bool = false
            @Field.Stored("rating") var rating: Double = 0
            @Field.Stored("note") var note: String?
            @Field.Relationship("items", inverse: \.$customer) var items: Set<Item>
        }
        class Item: CoreStoreObject {
            @Field.Stored("label") var label: String = ""
            @Field.Stored("price") var price: Double = 0
            @Field.Stored("tax") var tax: Int16 = 0
            @Field.Relationship("customer") var customer: Client?
        }
        class Shelf: CoreStoreObject {
            @Field.Stored("code") var code: String = ""
        }
        class Clerk: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
        }
    }

    private static func first() -> CoreStoreSchema {
        CoreStoreSchema(
            modelVersion: "Shop",
            entities: [
                Entity<V1.Customer>("Customer"), Entity<V1.Item>("Item"),
                Entity<V1.Scrap>("Scrap"), Entity<V1.Clerk>("Clerk"),
            ])
    }

    private static let queue = DispatchQueue(label: "view")

    private static func stack() -> DataStack {
        DataStack(
            schemaHistory: SchemaHistory(
                first(),
                CoreStoreSchema(
                    modelVersion: "Shop 2",
                    entities: [
                        Entity<V2.Client>("Client"), Entity<V2.Item>("Item"),
                        Entity<V2.Shelf>("Shelf"), Entity<V2.Clerk>("Clerk"),
                    ]),
                migrationChain: ["Shop", "Shop 2"]),
            viewContext: .queue(queue))
    }

    private func withStore<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let folder = try ModelFiles.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "shop.trellis")
        let stack = DataStack(Self.first(), viewContext: .queue(Self.queue))
        try stack.addStorageAndWait(LocalStore(fileURL: url))
        try stack.perform(synchronous: { transaction in
            let customer = transaction.create(Into<V1.Customer>())
            (customer.name, customer.visits, customer.note) = ("Ada", 7, "old")
            for (title, price) in [("Lamp", 12.5), ("Rope", 3)] {
                let item = transaction.create(Into<V1.Item>())
                (item.title, item.price, item.customer) = (title, price, customer)
            }
            transaction.create(Into<V1.Scrap>()).text = "gone"
            transaction.create(Into<V1.Clerk>()).name = "Cleo"
        })
        try stack.close()
        return try await body(url)
    }

    @Test func `a file follows by copies, new names, removals, additions and constants`()
        async throws
    {
        let bundle = try #require(Bundle(path: ModelFiles.folder.path))
        try await withStore { url in
            let storage = LocalStore(
                fileURL: url,
                migrationMappingProviders: [
                    try XcodeSchemaMappingProvider(
                        from: "Shop", to: "Shop 2", mappingModelBundle: bundle)
                ])
            let stack = Self.stack()
            #expect(
                try stack.requiredMigrationsForStorage(storage) == [
                    .heavyweight(sourceVersion: "Shop", destinationVersion: "Shop 2")
                ])
            let _: LocalStore = try await stack.async.addStorage(storage)
            try Self.queue.sync {
                let client = try #require(try stack.fetchOne(From<V2.Client>()))
                #expect(client.fullName == "Ada")
                #expect(client.visits == 7)
                #expect(client.kind == "regular")
                #expect(client.isActive)
                #expect(client.rating == 2.5)
                #expect(client.note == nil)
                let items = client.items.sorted { $0.label < $1.label }
                #expect(items.map(\.label) == ["Lamp", "Rope"])
                #expect(items.map(\.price) == [12.5, 3])
                #expect(items.map(\.tax) == [25, 25])
                #expect(try stack.fetchCount(From<V2.Shelf>()) == 0)
                #expect(try stack.fetchOne(From<V2.Clerk>())?.name == "Cleo")
            }
            try stack.close()
        }
    }

    @Test func `a mapping model is read as it is written`() throws {
        let file = try MappingReader.read(MappingFiles.shop.appending(path: "xcmapping.xml"))
        #expect(file.sourceVersion == "Shop")
        #expect(file.destinationVersion == "Shop 2")
        #expect(
            file.entityMappings == [
                EntityMappingModel(
                    sourceName: "Customer", destinationName: "Client",
                    values: [
                        "fullName": .source("name"), "kind": .string("regular"),
                        "isActive": .bool(true), "rating": .double(2.5), "note": .null,
                    ]),
                EntityMappingModel(
                    sourceName: "Item", destinationName: "Item",
                    values: ["label": .source("title"), "tax": .int(25)]),
                EntityMappingModel(sourceName: "Scrap", destinationName: nil, values: [:]),
                EntityMappingModel(sourceName: nil, destinationName: "Shelf", values: [:]),
                EntityMappingModel(sourceName: "Clerk", destinationName: "Clerk", values: [:]),
            ])
    }

    @Test func `a mapping model by its location is for the versions that the program names`() throws
    {
        let provider = try XcodeSchemaMappingProvider(
            from: "A", to: "B", mappingModelURL: MappingFiles.shop)
        #expect(provider.sourceVersion == "A" && provider.destinationVersion == "B")
        let same = try XcodeSchemaMappingProvider(
            from: "A", to: "B",
            mappingModelURL: MappingFiles.shop.appending(path: "xcmapping.xml"))
        #expect(provider == same)
        #expect(provider.hashValue == same.hashValue)
    }

    @Test func `a bundle without a mapping model of two versions is an error`() throws {
        let bundle = try #require(Bundle(path: ModelFiles.folder.path))
        let error = #expect(throws: XcodeModelError.self) {
            try XcodeSchemaMappingProvider(
                from: "Shop 2", to: "Shop", mappingModelBundle: bundle)
        }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("Shop 2") == true)
    }

    @Test func `an attribute that no entity has ends the migration with the file unchanged`()
        async throws
    {
        let text = try MappingFiles.shopText.replacing(">tax<", with: ">toll<")
        let provider = try MappingFiles.withMapping(text) { url in
            try XcodeSchemaMappingProvider(from: "Shop", to: "Shop 2", mappingModelURL: url)
        }
        try await withStore { url in
            let stack = Self.stack()
            let error = await #expect(throws: CoreStoreError.self) {
                let _: LocalStore = try await stack.async.addStorage(
                    LocalStore(fileURL: url, migrationMappingProviders: [provider]))
            }
            #expect("\(try #require(error))".contains("toll"))
            let first = DataStack(Self.first(), viewContext: .queue(Self.queue))
            #expect(try first.requiredMigrationsForStorage(LocalStore(fileURL: url)) == [])
            try first.addStorageAndWait(LocalStore(fileURL: url))
            let count = try Self.queue.sync { try first.fetchCount(From<V1.Item>()) }
            #expect(count == 2)
            try first.close()
        }
    }
}
