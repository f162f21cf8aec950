/// The order in which model versions follow each other: `["V1", "V2", "V3"]`. A file is migrated
/// along the chain, one step for each pair of versions.
public struct MigrationChain: ExpressibleByNilLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Equatable, Sendable
{
    let nextVersions: [ModelVersion: ModelVersion]
    let rootVersions: Set<ModelVersion>
    package let leafVersions: Set<ModelVersion>
    let isValid: Bool

    /// No chain: a file is migrated to the current version in one step.
    public init() { self.init(pairs: [], lone: nil) }
    public init(nilLiteral: ()) { self.init() }
    /// A single version, which is the current one.
    public init(_ value: ModelVersion) { self.init(pairs: [], lone: value) }
    public init(stringLiteral value: ModelVersion) { self.init(value) }
    public init(arrayLiteral elements: ModelVersion...) { self.init(elements) }
    public init(dictionaryLiteral elements: (ModelVersion, ModelVersion)...) {
        self.init(elements)
    }

    /// Versions in ascending order. One that appears twice fails an assertion.
    public init<C: Collection>(_ versions: C) where C.Element == ModelVersion {
        let list = Array(versions)
        let repeated = Set(list).first { version in list.count { $0 == version } > 1 }
        Log.assert(
            repeated == nil, "the version \(repeated ?? "") appears twice in a migration chain")
        self.init(
            pairs: zip(list, list.dropFirst()).map { ($0, $1) },
            lone: list.count == 1 ? list[0] : nil)
    }

    /// Pairs of a source version and its destination. Two destinations of one source, or a loop,
    /// fail an assertion.
    public init(_ pairs: [(ModelVersion, ModelVersion)]) { self.init(pairs: pairs, lone: nil) }

    /// Destination versions by their source versions. A loop fails an assertion.
    public init(_ pairs: [ModelVersion: ModelVersion]) {
        self.init(pairs: pairs.map { ($0.key, $0.value) }, lone: nil)
    }

    private init(pairs: [(ModelVersion, ModelVersion)], lone: ModelVersion?) {
        var next: [ModelVersion: ModelVersion] = [:]
        var isValid = true
        for (source, destination) in pairs {
            if next[source] != nil {
                Log.assert(false, "a migration chain has ambiguous paths from \(source)")
                isValid = false
            }
            next[source] = destination
        }
        for source in next.keys {
            var seen: Set<ModelVersion> = [source]
            var version = source
            while let following = next[version] {
                guard seen.insert(following).inserted else {
                    Log.assert(false, "a migration chain loops through \(following)")
                    isValid = false
                    break
                }
                version = following
            }
        }
        nextVersions = next
        self.isValid = isValid
        let destinations = Set(next.values)
        rootVersions = lone.map { [$0] } ?? Set(next.keys).subtracting(destinations)
        leafVersions = lone.map { [$0] } ?? destinations.subtracting(next.keys)
    }

    var isEmpty: Bool { nextVersions.isEmpty }

    func contains(_ version: ModelVersion) -> Bool {
        nextVersions[version] != nil || leafVersions.contains(version)
    }
}

/// All versions of a program's model, and which is the current one.
public final class SchemaHistory: ExpressibleByArrayLiteral, Sendable {
    /// The name of the version that the stack works with.
    public let currentModelVersion: ModelVersion
    /// The order of the versions.
    public let migrationChain: MigrationChain
    let schemas: [ModelVersion: any DescribedSchema]
    /// The only version that needs classes.
    let current: CoreStoreSchema

    /// The current version's schema.
    public var currentSchema: any DynamicSchema { current }

    /// A history of one or several versions.
    ///
    /// - Parameters:
    ///   - schema: a version of the model.
    ///   - otherSchema: its other versions.
    ///   - migrationChain: the order of the versions.
    ///   - exactCurrentModelVersion: the current version; nil for the only schema, or the chain's
    ///     single leaf.
    public convenience init(
        _ schema: any DynamicSchema, _ otherSchema: any DynamicSchema...,
        migrationChain: MigrationChain = nil, exactCurrentModelVersion: ModelVersion? = nil
    ) {
        self.init(
            allSchema: [schema] + otherSchema, migrationChain: migrationChain,
            exactCurrentModelVersion: exactCurrentModelVersion)
    }

    public convenience init(arrayLiteral elements: any DynamicSchema...) {
        self.init(
            allSchema: elements, migrationChain: MigrationChain(elements.map(\.modelVersion)),
            exactCurrentModelVersion: elements.last?.modelVersion)
    }

    /// A history of versions in an array. It stops the program when there is no current version, or
    /// several, or when the chain does not have it.
    ///
    /// - Parameters:
    ///   - allSchema: the versions. The current one is a ``CoreStoreSchema``; those before it may
    ///     be models without classes, such as those of Xcode's model files.
    ///   - migrationChain: the order of the versions.
    ///   - exactCurrentModelVersion: the current version; nil for the only schema, or the chain's
    ///     single leaf.
    public required init(
        allSchema: [any DynamicSchema], migrationChain: MigrationChain = nil,
        exactCurrentModelVersion: ModelVersion? = nil
    ) {
        guard !allSchema.isEmpty else { Log.abort("a schema history needs a schema") }
        Log.assert(migrationChain.isValid, "the migration chain is invalid")
        var schemas: [ModelVersion: any DescribedSchema] = [:]
        for schema in allSchema {
            Log.assert(
                schemas[schema.modelVersion] == nil,
                "two schemas have the version \(schema.modelVersion)")
            guard let schema = schema as? any DescribedSchema else {
                Log.abort("the schema \(schema.modelVersion) does not say what it declares")
            }
            schemas[schema.modelVersion] = schema
        }
        self.schemas = schemas
        self.migrationChain = migrationChain
        if let exact = exactCurrentModelVersion {
            guard schemas[exact] != nil else { Log.abort("no schema has the version \(exact)") }
            guard migrationChain.isEmpty || migrationChain.contains(exact) else {
                Log.abort("the migration chain does not have the current version \(exact)")
            }
            currentModelVersion = exact
        } else if migrationChain.leafVersions.isEmpty, schemas.count == 1 {
            currentModelVersion = allSchema[0].modelVersion
        } else {
            let leaves = migrationChain.leafVersions.filter { schemas[$0] != nil }
            guard leaves.count == 1, let leaf = leaves.first else {
                Log.abort(
                    migrationChain.isEmpty
                        ? "the current model version is ambiguous: give a migration chain"
                        : "the migration chain leads to "
                            + migrationChain.leafVersions.sorted().joined(separator: ", ")
                            + ", and not to one version that has a schema")
            }
            currentModelVersion = leaf
        }
        guard let current = schemas[currentModelVersion] as? CoreStoreSchema else {
            Log.abort(
                "the current model version \(currentModelVersion) has no classes: it is not a "
                    + "CoreStoreSchema")
        }
        self.current = current
    }
}
