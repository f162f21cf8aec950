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
    /// `trellis schema FILE --diff Model.json` lists what a store differs in and exits with 1 where
    /// it does; `trellis migrate FILE --to Model.json --dry-run` says whether the store can follow,
    /// and without `--dry-run` makes it. Two exports of one model are the same text: keys are
    /// sorted, and entities and properties stand in the order of their declarations.
    ///
    /// Initial values of `dynamicInitialValue:`, validations and conflict policies belong to the
    /// program and are not exported.
    ///
    /// - Parameter configuration: the configuration of the store that the model is compared with.
    public func printModelJSON(configuration: ModelConfiguration = nil) -> String {
        guard let schema = self as? any DescribedSchema else {
            Log.abort("the schema \(modelVersion) does not say what it declares")
        }
        return SchemaExport.text(schema.description(for: configuration))
    }
}
