import ObjectGraph
import RecordStore
import Testing
import XcodeModels

/// The classes that are printed of a model, which this target compiles.
@Suite struct ModelPrintingTests {
    private func printed(_ name: String) throws -> String {
        let models = try XcodeDataModelSchema.from(modelURL: ModelFiles.library).allSchema
        if let model = models.first(where: { $0.modelVersion == name }) {
            return model.printCoreStoreSchema()
        }
        return try XcodeDataModelSchema(
            modelName: name, modelVersionFileURL: ModelFiles.everything
        ).printCoreStoreSchema()
    }

    @Test(arguments: [("Library 3", "PrintedLibrary"), ("Everything", "PrintedEverything")])
    func `a model is printed as the classes of this target`(
        model: String, fileName: String
    ) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "\(fileName).swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(source.range(of: "import ObjectGraph\n\n"))
        let classes = source[start.upperBound...]
            .replacing(/let printed\w+ = CoreStoreSchema/, with: "CoreStoreSchema")
        let text = try printed(model)
        #expect(text == classes, "\(text)")
    }

    @Test func `a model is exported as its classes are`() throws {
        let models = try XcodeDataModelSchema.from(modelURL: ModelFiles.library).allSchema
        // Classes declare inverses on the side that the model has them.
        #expect(models[2].printModelJSON() == printedLibrary.printModelJSON())
    }

    @Test func `the printed classes declare what the model does`() throws {
        let models = try XcodeDataModelSchema.from(modelURL: ModelFiles.library).allSchema
        let everything = try XcodeDataModelSchema(
            modelName: "Everything", modelVersionFileURL: ModelFiles.everything)
        for (model, classes) in [(models[2], printedLibrary), (everything, printedEverything)] {
            #expect(classes.modelVersion == model.modelVersion)
            let edits = SchemaDifference.edits(
                from: model.description(for: nil), to: classes.description(for: nil))
            #expect(edits.isEmpty, "\(edits)")
            // Else the next version would drop the objects of a renamed entity.
            #expect(
                classes.description(for: nil).entities.map { [$0.name, $0.previousName] }
                    == model.description(for: nil).entities.map { [$0.name, $0.previousName] })
        }
    }
}
