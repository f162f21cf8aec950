import Foundation
import ObjectGraph

/// The mapping between two model versions of an `.xcmappingmodel`, as Xcode saves it.
///
/// ```swift
/// LocalStore(
///     fileName: "MyStore.trellis",
///     migrationMappingProviders: [
///         try XcodeSchemaMappingProvider(from: "V1", to: "V2", mappingModelBundle: .module)
///     ])
/// ```
///
/// Mappings of entities copy, transform, add and remove, and attributes have the value of their
/// name, or of an expression: a constant, or an attribute of the source object (`$source.name`).
/// What needs code is refused by name when the file is read: a policy class, a function, a filter
/// of objects. Compiled mapping models (`.cdm`) are not read. Links follow by themselves.
///
/// Two differences to Core Data keep what would be lost without a word: an entity that the mapping
/// does not name is inferred, and so is an attribute without an expression, by its name or its
/// earlier one.
public final class XcodeSchemaMappingProvider: SchemaMappingProvider, Hashable {
    /// The version before the step.
    public let sourceVersion: ModelVersion
    /// The version after the step.
    public let destinationVersion: ModelVersion
    /// The same mapping as one of the program's own.
    private let provider: CustomSchemaMappingProvider

    /// The mapping model among the resources of a bundle whose models have two names: Xcode notes
    /// the files of both in it.
    ///
    /// - Throws: an ``XcodeModelError`` where there is none, or it cannot be read.
    public convenience init(
        from sourceVersion: ModelVersion, to destinationVersion: ModelVersion,
        mappingModelBundle: Bundle
    ) throws(XcodeModelError) {
        guard let folder = mappingModelBundle.resourceURL else {
            throw XcodeModelError(
                .notFound, mappingModelBundle.bundleURL, "the bundle has no folder of resources")
        }
        let model = try Self.find(sourceVersion, destinationVersion, in: folder)
        try self.init(sourceVersion, destinationVersion, model.file, model.url)
    }

    /// The mapping model in an `.xcmappingmodel`, or in the `xcmapping.xml` of one, for any two
    /// versions.
    ///
    /// - Throws: an ``XcodeModelError`` for a file that cannot be read.
    public convenience init(
        from sourceVersion: ModelVersion, to destinationVersion: ModelVersion,
        mappingModelURL: URL
    ) throws(XcodeModelError) {
        let url = try Self.contents(of: mappingModelURL)
        try self.init(sourceVersion, destinationVersion, MappingReader.read(url), url)
    }

    private init(
        _ sourceVersion: ModelVersion, _ destinationVersion: ModelVersion,
        _ file: MappingModelFile, _ fileURL: URL
    ) throws(XcodeModelError) {
        for names in [
            file.entityMappings.compactMap(\.sourceName),
            file.entityMappings.compactMap(\.destinationName),
        ] {
            var seen: Set<String> = []
            for name in names where !seen.insert(name).inserted {
                throw XcodeModelError(
                    .unsupported, fileURL, "two mappings are of the entity \(name)")
            }
        }
        self.sourceVersion = sourceVersion
        self.destinationVersion = destinationVersion
        provider = CustomSchemaMappingProvider(
            sourceVersion, destinationVersion,
            Set(file.entityMappings.compactMap(\.customMapping)), nil,
            content: file.entityMappings.map(\.content).sorted().joined(separator: "\n"))
    }

    // MARK: Files

    private static func find(
        _ sourceVersion: ModelVersion, _ destinationVersion: ModelVersion, in folder: URL
    ) throws(XcodeModelError) -> (file: MappingModelFile, url: URL) {
        let names = try ModelFolder.names(in: folder).sorted()
        // Another model of the folder may be one that is not read.
        var failure: XcodeModelError?
        for name in names where name.hasSuffix(".xcmappingmodel") {
            do throws(XcodeModelError) {
                let url = try contents(of: folder.appending(path: name))
                let file = try MappingReader.read(url)
                if file.sourceVersion == sourceVersion,
                    file.destinationVersion == destinationVersion
                {
                    return (file, url)
                }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        throw XcodeModelError(
            names.contains { $0.hasSuffix(".cdm") } ? .compiled : .notFound, folder,
            "there is no .xcmappingmodel from “\(sourceVersion)” to “\(destinationVersion)”")
    }

    private static func contents(of url: URL) throws(XcodeModelError) -> URL {
        if url.pathExtension == "xml" { return url }
        guard url.pathExtension != "cdm" else {
            throw XcodeModelError(
                .compiled, url, "this is compiled: give the .xcmappingmodel it was made of")
        }
        guard try ModelFolder.names(in: url).contains("xcmapping.xml") else {
            throw XcodeModelError(.notFound, url, "the folder has no file “xcmapping.xml”")
        }
        return url.appending(path: "xcmapping.xml")
    }

    // MARK: SchemaMappingProvider

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The mapping of this provider.
    ///
    /// - Throws: `.mappingModelNotFound` for versions that are not its own.
    public func cs_createMappingModel(
        from sourceSchema: any DynamicSchema, to destinationSchema: any DynamicSchema,
        storage: any LocalStorage
    ) throws(CoreStoreError) -> (mappingModel: MappingModel, migrationType: MigrationType) {
        try provider.cs_createMappingModel(
            from: sourceSchema, to: destinationSchema, storage: storage)
    }

    // MARK: Hashable

    /// Whether both are of the same versions and map the same entities.
    public static func == (
        left: XcodeSchemaMappingProvider, right: XcodeSchemaMappingProvider
    ) -> Bool {
        left.provider == right.provider
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(provider) }
}

extension XcodeSchemaMappingProvider: CustomMappingSource {
    package var customProvider: CustomSchemaMappingProvider { provider }
}

extension EntityMappingModel {
    /// The same as a mapping of the program's; nil where inferring it gives the same.
    fileprivate var customMapping: CustomSchemaMappingProvider.CustomMapping? {
        switch (sourceName, destinationName) {
        case (nil, nil): return nil
        case (nil, let destination?): return .insertEntity(destination)
        case (let source?, nil): return .deleteEntity(source)
        case (let source?, let destination?):
            guard source != destination || !values.isEmpty else { return nil }
            let values = values
            return .transformEntity(
                sourceEntity: source, destinationEntity: destination
            ) { source, createDestination in
                Self.transform(source, createDestination(), values)
            }
        }
    }

    /// What the mapping does: equal texts are equal mappings.
    fileprivate var content: String {
        let values = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.content)" }
        return "\([sourceName, destinationName]) \(values)"
    }

    private static func transform(
        _ source: UnsafeSourceObject, _ destination: UnsafeDestinationObject,
        _ values: [String: MappedValue]
    ) {
        var names: Set<String> = []
        destination.enumerateAttributes { attribute, sourceAttribute in
            names.insert(attribute.name)
            if let value = values[attribute.name] {
                destination[attribute] = value.value(of: source)
            } else if let sourceAttribute {
                let value = source[sourceAttribute]
                // A required attribute that had no value keeps its default.
                if value != nil || attribute.isOptional { destination[attribute] = value }
            }
        }
        // An attribute that the entity does not have ends the migration.
        for (name, value) in values where !names.contains(name) {
            destination[name] = value.value(of: source)
        }
    }
}

extension MappedValue {
    /// A date and data are not described whole.
    fileprivate var content: String {
        switch self {
        case .date(let date): "date \(date.timeIntervalSinceReferenceDate.bitPattern)"
        case .data(let data): "data \(data.base64EncodedString())"
        default: "\(self)"
        }
    }

    fileprivate func value(of source: UnsafeSourceObject) -> Any? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .int(let value): value
        case .double(let value): value
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .source(let name): source[name]
        }
    }
}
