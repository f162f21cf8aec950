import Foundation
import ObjectGraph
import RecordStore

/// The name of an `.xcdatamodeld`, without the suffix.
public typealias XcodeDataModelFileName = String

/// A model version of an Xcode data model file: an earlier version of a ``SchemaHistory``, or a
/// model to print as classes with ``DynamicSchema/printCoreStoreSchema()``.
///
/// ```swift
/// let models = try XcodeDataModelSchema.from(modelName: "MyModel", bundle: .module)
/// let history = SchemaHistory(
///     allSchema: models.allSchema + [CoreStoreSchema(modelVersion: "V4", entities: entities)],
///     migrationChain: ["MyModel", "MyModel 2", "V4"])
/// ```
///
/// The model has no classes, so it is no current version. It is read from the file as Xcode saves
/// it, on every platform; compiled models, and the SQLite files of Core Data, are not.
public final class XcodeDataModelSchema: DynamicSchema, Sendable {
    /// The version's name.
    public let modelVersion: ModelVersion
    private let model: XcodeModel

    /// The configurations that the model declares, each a part of its entities.
    public var configurations: Set<String> { Set(model.configurations.keys) }

    /// The version in one `.xcdatamodel`, or in the file `contents` of one.
    ///
    /// - Parameters:
    ///   - modelName: the name of the version.
    ///   - modelVersionFileURL: the location of the `.xcdatamodel` or its `contents`.
    /// - Throws: an ``XcodeModelError`` for a file that cannot be read.
    public required init(
        modelName: ModelVersion, modelVersionFileURL: URL
    ) throws(XcodeModelError) {
        modelVersion = modelName
        model = try ModelReader.read(
            ModelFolder.contents(of: modelVersionFileURL), modelVersion: modelName)
    }

    /// The version with the model's own name: `modelName.xcdatamodel`, in `modelName.xcdatamodeld`
    /// or by itself among the resources of a bundle.
    ///
    /// - Throws: an ``XcodeModelError`` for a file that cannot be read.
    public convenience init(
        modelName: ModelVersion, bundle: Bundle = .main
    ) throws(XcodeModelError) {
        let folder = try ModelFolder(ModelFolder.url(of: modelName, in: bundle.resourceURL))
        try self.init(
            modelName: modelName, modelVersionFileURL: folder.versionURL(modelName))
    }

    /// All versions of the `.xcdatamodeld` with a name among the resources of a bundle, and the
    /// name of the current one.
    ///
    /// - Throws: the ``XcodeModelError`` of the first version that cannot be read.
    public static func from(
        modelName: XcodeDataModelFileName, bundle: Bundle = .main,
        migrationChain: MigrationChain = nil
    ) throws(XcodeModelError) -> (
        allSchema: [XcodeDataModelSchema], currentModelVersion: ModelVersion
    ) {
        try from(
            modelURL: ModelFolder.url(of: modelName, in: bundle.resourceURL),
            migrationChain: migrationChain)
    }

    /// All versions of an `.xcdatamodeld`, by their names, and the name of the current one:
    /// Xcode's, unless the migration chain ends in another one of them.
    ///
    /// - Throws: the ``XcodeModelError`` of the first version that cannot be read.
    public static func from(
        modelURL: URL, migrationChain: MigrationChain = nil
    ) throws(XcodeModelError) -> (
        allSchema: [XcodeDataModelSchema], currentModelVersion: ModelVersion
    ) {
        let folder = try ModelFolder(modelURL)
        var schemas: [XcodeDataModelSchema] = []
        for version in folder.versions {
            schemas.append(
                try XcodeDataModelSchema(
                    modelName: version, modelVersionFileURL: folder.versionURL(version)))
        }
        return (schemas, try folder.currentVersion(among: migrationChain.leafVersions))
    }
}

extension XcodeDataModelSchema: DescribedSchema {
    package func description(for configuration: ModelConfiguration) -> SchemaDescription {
        model.description(for: configuration)
    }

    package var configurationNames: [EntityName: Set<String>] {
        guard !model.configurations.isEmpty else { return [:] }
        var names: [EntityName: Set<String>] = [:]
        for entity in model.entities.entities {
            names[entity.name] = Set(
                model.configurations.filter { $0.value.contains(entity.name) }.keys)
        }
        return names
    }
}
