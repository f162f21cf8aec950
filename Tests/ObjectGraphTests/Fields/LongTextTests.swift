import ObjectGraph
import Testing

private final class Page: CoreStoreObject {
    @Field.Stored("text") var text: String = ""
}

/// Texts that are too long for a regular expression.
@Suite struct LongTextTests {
    private let queue = DispatchQueue(label: "view")

    private func stack(_ pattern: String?) throws -> DataStack {
        let rules: [Validation<Page>] = pattern.map { [.pattern(\.$text, $0)] } ?? []
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1", entities: [Entity<Page>("Page", validations: rules)]),
            viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test func `a text that was too long for MATCHES was taken for one that does not match`()
        throws
    {
        let stack = try stack(nil)
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Page>()).text = String(repeating: "ab", count: 500_000)
        })
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Page>().where(format: "text MATCHES '[ab]+'")) == 1)
            #expect(try stack.fetchCount(From<Page>().where(format: "text MATCHES '[a]+'")) == 0)
            for format in ["text MATCHES '(a|b)*'", "NOT text MATCHES '(a|b)*'"] {
                let error = #expect(throws: CoreStoreError.self) {
                    try stack.fetchCount(From<Page>().where(format: format))
                }
                #expect(error?.description.contains("too long for the regular") == true)
            }
        }
    }

    @Test func `a pattern rule reports a text that is too long to compare`() throws {
        let stack = try stack("(a|b)*")
        try stack.perform(synchronous: { transaction in
            transaction.create(Into<Page>()).text = "abba"
        })
        let failure = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Page>()).text = String(repeating: "ab", count: 500_000)
            })
        }
        let violation = try #require(failure?.violations.first)
        #expect(violation.kind == .pattern && violation.keyPaths == ["text"])
        #expect(violation.message.contains("too long for the regular expression"))
        let other = #expect(throws: CoreStoreError.self) {
            try stack.perform(synchronous: { transaction in
                transaction.create(Into<Page>()).text = "abc"
            })
        }
        #expect(other?.violations.first?.message == "does not match (a|b)*")
    }
}
