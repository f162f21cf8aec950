import ObjectGraph
import Testing
import XcodeModels

/// The code of the README about models of Xcode.
@Suite struct ReadmeTests {
    private final class Note: CoreStoreObject {
        @Field.Stored("text") var text: String = ""
    }

    @Test func `a history of Xcode's models ends with classes`() throws {
        let url = ModelFiles.library
        let entities: [DynamicEntity] = [Entity<Note>("Note")]

        let models = try XcodeDataModelSchema.from(modelURL: url)
        print(models.allSchema[0].printCoreStoreSchema())  // classes to begin with

        let stack = DataStack(
            schemaHistory: SchemaHistory(
                allSchema: models.allSchema + [
                    CoreStoreSchema(modelVersion: "V4", entities: entities)
                ],
                migrationChain: ["Library", "Library 2", "Library 3", "V4"]))
        #expect(stack.modelVersion == "V4")
    }
}
