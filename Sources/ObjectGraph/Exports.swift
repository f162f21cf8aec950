// A program writes `import ObjectGraph` and nothing else.
@_exported import Foundation
import RecordStore

/// The error of the storage engine; see ``CoreStoreError/storeError``.
public typealias StoreError = RecordStore.StoreError
/// The counters of a store since it was opened; see ``DataStack/statistics``.
public typealias StoreStatistics = RecordStore.StoreStatistics
/// How safe a transaction is when its call returns.
public typealias Durability = RecordStore.Durability

/// The name of a model version.
public typealias ModelVersion = String
/// The name of a store's configuration; nil is the default one.
public typealias ModelConfiguration = String?
/// The name of an entity.
public typealias EntityName = String
/// The name of a class.
public typealias ClassName = String
/// The name of a property, or several joined by dots.
public typealias KeyPathString = String
