import ObjectGraph
import Testing

private final class Account: CoreStoreObject {
    @Field.Stored("code") var code: String?
    @Field.Stored("name") var name: String = ""
    @Field.Stored("balance") var balance: Int = 0
    @Field.Relationship("owner") var owner: Holder?
    @Field.Relationship("entries", inverse: \.$account, deleteRule: .cascade)
    var entries: Set<Entry>
}

private final class Holder: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
}

private final class Entry: CoreStoreObject {
    @Field.Stored("text") var text: String = ""
    @Field.Relationship("account") var account: Account?
}

/// How a commit resolves a second object with the same key, by policy.
@Suite struct ConflictPolicyTests {
    private let queue = DispatchQueue(label: "view")

    /// A stack with one account "a", and its ID.
    private func stack(
        _ policy: UniqueConflictPolicy
    ) throws -> (DataStack, NSManagedObjectID) {
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Account>(
                        "Account", uniqueConstraints: [[\.$code]], conflictPolicies: [policy]),
                    Entity<Holder>("Holder"), Entity<Entry>("Entry"),
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        let id = try stack.perform(synchronous: { transaction in
            let account = transaction.create(Into<Account>())
            (account.code, account.name, account.balance) = ("a", "stored", 5)
            let owner = transaction.create(Into<Holder>())
            owner.name = "first"
            account.owner = owner
            let entry = transaction.create(Into<Entry>())
            entry.text = "old"
            entry.account = account
            return account.objectID()
        })
        return (stack, id)
    }

    /// An account of the code "b" with an owner of its own.
    private func addOther(_ stack: DataStack) throws -> NSManagedObjectID {
        try stack.perform(synchronous: { transaction in
            let account = transaction.create(Into<Account>())
            (account.code, account.name, account.balance) = ("b", "other", 9)
            let owner = transaction.create(Into<Holder>())
            owner.name = "second"
            account.owner = owner
            return account.objectID()
        })
    }

    private func addSecond(_ stack: DataStack) throws -> NSManagedObjectID {
        try stack.perform(synchronous: { transaction in
            let account = transaction.create(Into<Account>())
            (account.code, account.name) = ("a", "new")
            let owner = transaction.create(Into<Holder>())
            owner.name = "second"
            account.owner = owner
            let entry = transaction.create(Into<Entry>())
            entry.text = "new"
            entry.account = account
            return account.objectID()
        })
    }

    private struct Left: Equatable {
        var id: NSManagedObjectID
        var name: String
        var balance: Int
        var owner: String?
        var entries: Set<String>
    }

    private func left(_ stack: DataStack) throws -> [Left] {
        try queue.sync {
            try stack.fetchAll(From<Account>()).map { account in
                Left(
                    id: account.objectID(), name: account.name, balance: account.balance,
                    owner: account.owner?.name, entries: Set(account.entries.map(\.text)))
            }
        }
    }

    @Test func `by default the assigned values win and the identity stays`() throws {
        let (stack, id) = try stack(.transactionWins)
        _ = try addSecond(stack)
        let expected = Left(
            id: id, name: "new", balance: 5, owner: "second", entries: ["old", "new"])
        #expect(try left(stack) == [expected])
    }

    /// A bug: the older one stayed, whichever had been assigned the key.
    @Test(arguments: [false, true])
    func `a stored object stays when another takes its key`(isOlder: Bool) throws {
        let (stack, first) = try stack(.transactionWins)
        let second = try addOther(stack)
        let (changed, kept) = isOlder ? (first, second) : (second, first)
        try stack.perform(synchronous: { transaction in
            let account = try #require(transaction.fetchExisting(changed) as Account?)
            let owner = transaction.create(Into<Holder>())
            owner.name = "third"
            (account.code, account.owner) = (isOlder ? "b" : "a", owner)
        })
        let left = try left(stack)
        #expect(left.map(\.id) == [kept] && left.map(\.owner) == ["third"])
        #expect(left.map(\.name) == [isOlder ? "other" : "stored"])
        #expect(left.map(\.balance) == [isOlder ? 9 : 5])
    }

    @Test func `a link that the transaction did not assign replaced the kept one`() throws {
        let (stack, first) = try stack(.transactionWins)
        let second = try addOther(stack)
        try stack.perform(synchronous: { transaction in
            (transaction.fetchExisting(second) as Account?)?.code = "a"
        })
        let left = try left(stack)
        #expect(left.map(\.id) == [first] && left.map(\.owner) == ["first"])
    }

    /// A bug: only a link that led to an object counted as assigned.
    @Test(arguments: [false, true], [false, true])
    func `a cleared link leaves the kept object its own`(isNew: Bool, isUnsafe: Bool) throws {
        let (stack, id) = try stack(.transactionWins)
        let other = isNew ? nil : try addOther(stack)
        try edit(stack, isUnsafe: isUnsafe) { transaction in
            let known: Account? = other.flatMap { transaction.fetchExisting($0) }
            let account = known ?? transaction.create(Into<Account>())
            (account.code, account.owner) = ("a", nil)
        }
        #expect(try left(stack).map(\.id) == [id])
        #expect(try left(stack).map(\.owner) == [nil])
    }

    /// A deletion assigns nothing.
    @Test(arguments: [false, true])
    func `a deleted target takes the kept object's link too`(isUnsafe: Bool) throws {
        let (stack, id) = try stack(.transactionWins)
        let other = try addOther(stack)
        try edit(stack, isUnsafe: isUnsafe) { transaction in
            let account = try #require(transaction.fetchExisting(other) as Account?)
            account.code = "a"
            transaction.delete(account.owner)
        }
        #expect(try left(stack).map(\.id) == [id])
        #expect(try left(stack).map(\.owner) == ["first"])
    }

    /// A bug: a merge left out what others had committed, or what was there.
    @Test(arguments: [false, true])
    func `an equal value of an unsafe transaction is not assigned`(isCommitted: Bool) throws {
        let (stack, id) = try stack(.transactionWins)
        let other = try addOther(stack)
        let unsafe = stack.beginUnsafe()
        let account = try #require(unsafe.fetchExisting(other) as Account?)
        (account.code, account.name) = ("a", isCommitted ? "both" : "other")
        account.owner = account.owner
        if isCommitted {
            try stack.perform(synchronous: { transaction in
                (transaction.fetchExisting(other) as Account?)?.name = "both"
            })
        }
        try unsafe.commitAndWait()
        #expect(try left(stack).map(\.id) == [id])
        #expect(try left(stack).map(\.name) == [isCommitted ? "both" : "other"])
        #expect(try left(stack).map(\.owner) == ["second"])
    }

    private func edit(
        _ stack: DataStack, isUnsafe: Bool, _ body: (BaseDataTransaction) throws -> Void
    ) throws {
        guard isUnsafe else { return try stack.perform(synchronous: { try body($0) }) }
        let transaction = stack.beginUnsafe()
        try body(transaction)
        try transaction.commitAndWait()
    }

    @Test func `a store that wins keeps its values and its to-one links`() throws {
        let (stack, id) = try stack(.storeWins)
        _ = try addSecond(stack)
        let expected = Left(
            id: id, name: "stored", balance: 5, owner: "first", entries: ["old", "new"])
        #expect(try left(stack) == [expected])
    }

    @Test func `a replacement has its own ID and none of the old values`() throws {
        let (stack, _) = try stack(.replace)
        let id = try addSecond(stack)
        let expected = Left(id: id, name: "new", balance: 0, owner: "second", entries: ["new"])
        #expect(try left(stack) == [expected])
        #expect(try queue.sync { try stack.fetchCount(From<Entry>()) } == 1)
    }

    @Test func `an error names the object and the properties and changes nothing`() throws {
        let (stack, id) = try stack(.error)
        let failure = #expect(throws: CoreStoreError.self) { _ = try addSecond(stack) }
        #expect(failure?.violations.isEmpty == false)
        #expect(failure?.violations.allSatisfy { $0.kind == .unique } == true)
        #expect(failure?.violations.first?.keyPaths == ["code"])
        #expect(try left(stack).map(\.id) == [id])
        #expect(try left(stack).map(\.name) == ["stored"])
    }

    @Test(arguments: [UniqueConflictPolicy.storeWins, .replace])
    func `an update into a taken key follows the policy`(policy: UniqueConflictPolicy) throws {
        let (stack, id) = try stack(policy)
        let other = try stack.perform(synchronous: { transaction in
            let account = transaction.create(Into<Account>())
            (account.code, account.name) = ("b", "other")
            return account.objectID()
        })
        try stack.perform(synchronous: { transaction in
            let account: Account? = transaction.fetchExisting(other)
            account?.code = "a"
        })
        #expect(try left(stack).map(\.id) == [policy == .replace ? other : id])
        #expect(try left(stack).map(\.name) == [policy == .replace ? "other" : "stored"])
    }
}
