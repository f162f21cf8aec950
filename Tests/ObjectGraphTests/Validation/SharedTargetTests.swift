import Dispatch
import ObjectGraph
import Testing

private final class Vault: CoreStoreObject {
    @Field.Stored("label") var label: String = ""
    @Field.Relationship("shops") var shops: Set<Shop>
}

private final class Shop: CoreStoreObject {
    @Field.Stored("code") var code: String = ""
    @Field.Relationship("vault", inverse: \.$shops, deleteRule: .cascade) var vault: Vault?
    @Field.Relationship("safe", deleteRule: .cascade) var safe: Vault?
}

/// Both objects of a unique conflict lead to one object.
@Suite struct SharedTargetTests {
    /// A bug: it was deleted by the cascade of the one that lost, though the other one has it.
    @Test(arguments: [UniqueConflictPolicy.transactionWins, .storeWins], [false, true])
    func `what the survivor of a conflict leads to as well stays`(
        policy: UniqueConflictPolicy, isNew: Bool
    ) throws {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Vault>("Vault"),
                    Entity<Shop>(
                        "Shop", uniqueConstraints: [[\.$code]], conflictPolicies: [policy]),
                ]),
            viewContext: .queue(DispatchQueue(label: "view")))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let (vault, safe) = (
                transaction.create(Into<Vault>()), transaction.create(Into<Vault>())
            )
            (vault.label, safe.label) = ("vault", "safe")
            for code in isNew ? ["a"] : ["a", "b"] {
                let shop = transaction.create(Into<Shop>())
                (shop.code, shop.vault, shop.safe) = (code, vault, safe)
            }
        })
        try stack.perform(synchronous: { transaction in
            if isNew {
                let other = try transaction.fetchOne(From<Shop>())
                let shop = transaction.create(Into<Shop>())
                (shop.code, shop.vault, shop.safe) = ("a", other?.vault, other?.safe)
            } else {
                try transaction.fetchOne(From<Shop>().where(\.$code == "b"))?.code = "a"
            }
        })
        try stack.perform(synchronous: { transaction in
            let shops = try transaction.fetchAll(From<Shop>())
            #expect(shops.map { $0.vault?.label } == ["vault"])
            #expect(shops.map { $0.safe?.label } == ["safe"])
            #expect(try transaction.fetchCount(From<Vault>()) == 2)
        })
    }
}
