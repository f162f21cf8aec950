import RecordStore

extension DynamicSchema {
    /// The model as JSON, with the defaults of its attributes, so that it can be compared with
    /// stores and other versions without the program.
    ///
    /// ```swift
    /// let model = URL(filePath: "Model.json")
    /// try Data(stack.modelSchema.printModelJSON().utf8).write(to: model)
    /// ```
    ///
    /// `trellis schema FILE --diff Model.json` lists the differences of a store and exits with 1
    /// where there are any; `trellis migrate FILE --to Model.json --dry-run` shows whether the
    /// store can be migrated, and without `--dry-run` migrates it. Two exports of one model are
    /// equal texts: keys are sorted, and entities and properties are in the order of their
    /// declarations.
    ///
    /// Initial values of `dynamicInitialValue:`, validations and conflict policies belong to the
    /// program and are not exported.
    ///
    /// - Parameter configuration: the configuration of the store that the model is compared with;
    ///   nil for the default one.
    public func printModelJSON(configuration: ModelConfiguration = nil) -> String {
        guard let schema = self as? any DescribedSchema else {
            Log.abort("the schema \(modelVersion) does not say what it declares")
        }
        return SchemaExport.text(schema.description(for: configuration))
    }
}
