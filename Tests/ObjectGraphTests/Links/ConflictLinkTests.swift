import ObjectGraph
import Testing

private final class Tag: CoreStoreObject {
    @Field.Stored("name") var name: String = ""
}

private final class Note: CoreStoreObject {
    @Field.Stored("text") var text: String = ""
    @Field.Relationship("main") var main: Tag?
    @Field.Relationship("ordered") var ordered: [Tag]
    @Field.Relationship("loose") var loose: Set<Tag>
}

/// Links to an object that loses a unique conflict, which no inverse leads back to.
@Suite struct ConflictLinkTests {
    @Test func `links to the loser of a unique conflict move to the winner`() throws {
        let queue = DispatchQueue(label: "view")
        let stack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [
                    Entity<Tag>("Tag", uniqueConstraints: [[\.$name]]), Entity<Note>("Note"),
                ]), viewContext: .queue(queue))
        try stack.addStorageAndWait(InMemoryStore())
        for round in 0..<2 {
            try stack.perform(synchronous: { transaction in
                let tags = ["a", "b", "c"].map { name in
                    let tag = transaction.create(Into<Tag>())
                    tag.name = name
                    return tag
                }
                let note = transaction.create(Into<Note>())
                note.text = "\(round)"
                note.main = tags[1]
                note.ordered = [tags[2], tags[0]]
                note.loose = [tags[0], tags[1]]
            })
        }
        try queue.sync { () throws in
            #expect(try stack.fetchCount(From<Tag>()) == 3)
            for note in try stack.fetchAll(From<Note>()) {
                #expect(note.main?.name == "b", "note \(note.text)")
                #expect(note.ordered.map(\.name) == ["c", "a"], "note \(note.text)")
                #expect(Set(note.loose.map(\.name)) == ["a", "b"], "note \(note.text)")
            }
        }
    }
}
