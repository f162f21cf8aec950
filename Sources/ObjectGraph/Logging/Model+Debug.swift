// Debug texts of stacks, models, transactions and errors.

extension DataStack: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("modelVersion", modelVersion),
            ("schemaHistory", schemaHistory),
            ("storages", stores.map(\.storage)),
        ])
    }
}

extension InMemoryStore: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("storeType", Self.storeType),
            ("configuration", configuration),
        ])
    }
}

extension LocalStore: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("storeType", Self.storeType),
            ("configuration", configuration),
            ("fileURL", fileURL.path),
            ("localStorageOptions", localStorageOptions),
        ])
    }
}

extension LocalStorageOptions: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { DebugText.list(names, "[", "]") }
}

extension SchemaHistory: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("currentModelVersion", currentModelVersion),
            ("migrationChain", migrationChain),
            ("modelVersions", schemas.keys.sorted()),
        ])
    }
}

extension MigrationChain: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("nextVersions", nextVersions.map { "\($0) → \($1)" }.sorted()),
            ("rootVersions", rootVersions.sorted()),
            ("leafVersions", leafVersions.sorted()),
            ("isValid", isValid),
        ])
    }
}

extension CoreStoreSchema: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("modelVersion", modelVersion),
            ("entities", entities),
        ])
    }
}

extension DynamicEntity: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("type", type),
            ("entityName", entityName),
            ("isAbstract", isAbstract),
            ("versionHashModifier", versionHashModifier),
            ("previousName", previousName),
            ("indexes", indexes),
            ("uniqueConstraints", uniqueConstraints),
        ])
    }
}

extension BaseDataTransaction: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("sourceIdentifier", sourceIdentifier),
            ("hasChanges", hasChanges),
            ("inserted", insertedObjectIDs().count),
            ("updated", updatedObjectIDs().count),
            ("deleted", deletedObjectIDs().count),
        ])
    }
}

extension CoreStoreObject: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    /// The values that were already read: printing an object reads nothing from the store.
    public var coreStoreDumpString: String {
        var parts: [DebugText.Part] = [("objectID", raw?.id)]
        if let raw, isRowLoaded {
            parts += raw.entity.fields.map {
                ($0.name, ValueBridge.native(row.buffer.view.value($0)))
            }
        }
        return DebugText.parts(parts)
    }
}

extension NSManagedObjectID: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { "\(uriRepresentation().absoluteString)" }
}

extension CoreStoreError: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { "\(errorCode): \(description)" }
}

extension VersionLock: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { description }
}

extension LocalStorageOptions {
    private var names: [String] {
        let known: [(LocalStorageOptions, String)] = [
            (.recreateStoreOnModelMismatch, "recreateStoreOnModelMismatch"),
            (.preventProgressiveMigration, "preventProgressiveMigration"),
            (.allowSynchronousLightweightMigration, "allowSynchronousLightweightMigration"),
            (.allowDataLoss, "allowDataLoss"),
        ]
        return known.filter { contains($0.0) }.map(\.1)
    }
}
