import ObjectGraph
import Testing

/// The code of the article Coming from Core Data.
@MainActor @Suite struct ComingFromCoreDataArticle {
    private enum Model {
        // @objc(Person) final class Person: NSManagedObject {
        //     @NSManaged var name: String
        //     @NSManaged var pets: Set<Pet>
        // }
        final class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("pets", inverse: \.$owner, deleteRule: .cascade) var pets: Set<Pet>
        }

        final class Pet: CoreStoreObject {
            @Field.Relationship("owner") var owner: Person?
        }
    }

    @Test func `a change and a fetch are written beside Core Data's`() throws {
        typealias Person = Model.Person
        let dataStack = DataStack(
            CoreStoreSchema(
                modelVersion: "V1",
                entities: [Entity<Person>("Person"), Entity<Model.Pet>("Pet")]))
        try dataStack.addStorageAndWait(InMemoryStore())

        // let context = container.newBackgroundContext()
        // try context.performAndWait {
        //     let person = Person(context: context)
        //     person.name = "Ada"
        //     try context.save()
        // }
        try dataStack.perform(synchronous: { transaction in
            let person = transaction.create(Into<Person>())
            person.name = "Ada"
        })

        // let request = NSFetchRequest<Person>(entityName: "Person")
        // request.predicate = NSPredicate(format: "name BEGINSWITH %@", "A")
        // request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        // let people = try container.viewContext.fetch(request)
        let people = try dataStack.fetchAll(
            From<Person>()
                .where(format: "name BEGINSWITH %@", "A")
                .orderBy(.ascending(\.$name)))
        #expect(people.map(\.name) == ["Ada"])
    }
}
