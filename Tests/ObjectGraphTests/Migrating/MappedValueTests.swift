import Foundation
import ObjectGraph
import Primitives
import Testing

/// The values that mappings read and set without a type.
@Suite struct MappedValueTests {
    private enum V1 {
        final class Gauge: CoreStoreObject {
            @Field.Stored("age") var age: Int = 36
            @Field.Stored("small") var small: Int16 = -7
            @Field.Stored("wide") var wide: UInt64 = .max
            @Field.Stored("isOpen") var isOpen: Bool = true
            @Field.Stored("ratio") var ratio: Float = 0.1
            @Field.Stored("level") var level: Double = -0.0
            @Field.Stored("whole") var whole: Double = 1
        }
    }

    private enum V2 {
        final class Gauge: CoreStoreObject {
            @Field.Stored("age") var age: Int = 5
            @Field.Stored("small") var small: Int16 = 0
            @Field.Stored("wide") var wide: UInt64 = 0
            @Field.Stored("isOpen") var isOpen: Bool = false
            @Field.Stored("ratio") var ratio: Float = 0
            @Field.Stored("level") var level: Double = 1
            @Field.Stored("whole") var whole: Double = 0
            @Field.Stored("notes") var notes: String = ""
            @Field.Stored("site") var site: URL?
        }
    }

    private let first = CoreStoreSchema(
        modelVersion: "V1", entities: [Entity<V1.Gauge>("Gauge")])
    private let second = CoreStoreSchema(
        modelVersion: "V2", entities: [Entity<V2.Gauge>("Gauge")])

    /// Checks the object after a migration by a transformer.
    private func migrated(
        by transformer: @escaping CustomSchemaMappingProvider.CustomMapping.Transformer,
        _ check: (V2.Gauge) throws -> Void
    ) throws {
        try migrate(by: transformer) { stack, _ in
            try stack.perform(synchronous: { transaction in
                try check(try #require(try transaction.fetchOne(From<V2.Gauge>())))
            })
        }
    }

    private func migrate(
        by transformer: @escaping CustomSchemaMappingProvider.CustomMapping.Transformer,
        _ check: (DataStack, CoreStoreError?) throws -> Void
    ) throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("mapped-\(UUID().uuidString).trellis")
        defer { try? FileManager.default.removeItem(at: url) }
        let old = DataStack(first)
        try old.addStorageAndWait(LocalStore(fileURL: url))
        try old.perform(synchronous: { _ = $0.create(Into<V1.Gauge>()) })
        old.unsafeRemoveAllPersistentStoresAndWait()
        let stack = DataStack(
            second, first, migrationChain: ["V1", "V2"],
            viewContext: .queue(DispatchQueue(label: "view")))
        let storage = LocalStore(
            fileURL: url,
            migrationMappingProviders: [
                CustomSchemaMappingProvider(
                    from: "V1", to: "V2",
                    entityMappings: [
                        .transformEntity(
                            sourceEntity: "Gauge", destinationEntity: "Gauge",
                            transformer: transformer)
                    ])
            ])
        let migrated = DispatchSemaphore(value: 0)
        let failure = Mutex<CoreStoreError?>(nil)
        _ = stack.addStorage(storage) { result in
            if case .failure(let error) = result { failure.withLock { $0 = error } }
            migrated.signal()
        }
        migrated.wait()
        try check(stack, failure.withLock { $0 })
        stack.unsafeRemoveAllPersistentStoresAndWait()
    }

    /// A bug: an infinite number was stored.
    @Test func `a mapping ends where an attribute cannot hold a value`() throws {
        try migrate(
            by: { _, create in create()["ratio"] = 1e300 },
            { _, error in #expect(error != nil) })
    }

    @Test func `a mapping rounds to what a number holds`() throws {
        try migrated(
            by: { _, create in
                let gauge = create()
                (gauge["ratio"], gauge["level"]) = (0.1, Int64.max)
                gauge["site"] = "https://example.com"
            },
            { gauge in
                #expect(gauge.ratio == 0.1 && gauge.level == 0x1p63)
                #expect(gauge.site?.host == "example.com")
            })
    }

    @Test func `a number of a mapping casts to each type that can hold it`() throws {
        @Sendable func notes(
            _ source: CustomSchemaMappingProvider.UnsafeSourceObject
        ) -> [String] {
            [
                "\(source["age"] as? Int ?? 0)", "\(source["age"] as? Int16 ?? 0)",
                "\(source["age"] as? Int64 ?? 0)", "\(source["age"] as? Double ?? 0)",
                "\(source["small"] as? Int ?? 0)", "\(source["small"] as? Int8 ?? 0)",
                "\(source["isOpen"] as? Bool ?? false)", "\(source["ratio"] as? Float ?? 0)",
                "\(source["wide"] as? UInt64 ?? 0)", "\(source["wide"] as? Int ?? 0)",
            ]
        }
        let noting: CustomSchemaMappingProvider.CustomMapping.Transformer = { source, create in
            let gauge = create()
            let before = gauge["age"] as? Int
            gauge["notes"] = (notes(source) + ["\(before ?? -1)"]).joined(separator: " ")
        }
        try migrated(by: noting) { gauge in
            #expect(
                gauge.notes == "36 36 36 36.0 -7 -7 true 0.1 18446744073709551615 0 5")
        }
    }

    @Test func `an attribute of a mapping has its default and its earlier name`() throws {
        let noting: CustomSchemaMappingProvider.CustomMapping.Transformer = { _, create in
            let gauge = create()
            gauge.enumerateAttributes { attribute, _ in
                guard attribute.name == "age" else { return }
                let initial = attribute.defaultValue as? Int ?? -1
                gauge["notes"] = "\(initial) \(attribute.renamingIdentifier ?? "")"
            }
        }
        try migrated(by: noting) { gauge in
            #expect(gauge.notes == "5 age")
        }
    }

    @Test func `values that a mapping carries over stay as they were`() throws {
        let carried: CustomSchemaMappingProvider.CustomMapping.Transformer = { source, create in
            let gauge = create()
            gauge.enumerateAttributes { attribute, sourceAttribute in
                if let sourceAttribute { gauge[attribute] = source[sourceAttribute] }
            }
        }
        for transformer in [
            carried, CustomSchemaMappingProvider.CustomMapping.inferredTransformation,
        ] {
            try migrated(by: transformer) { gauge in
                #expect(gauge.age == 36 && gauge.small == -7 && gauge.wide == .max)
                #expect(gauge.isOpen && gauge.ratio == 0.1 && gauge.whole == 1)
                #expect(gauge.level == 0 && gauge.level.sign == .minus)
            }
        }
    }
}
