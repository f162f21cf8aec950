import PageStore

// The engine's types that users see; ObjectGraph exports them under their names.

/// The error of the storage engine.
public typealias StoreError = PageStore.StoreError
/// The counters of a store since it was opened.
public typealias StoreStatistics = PageStore.StoreStatistics
/// How safe a transaction is when its call returns.
public typealias Durability = PageStore.Durability
package typealias EngineOptions = PageStore.Engine.Options
// The seam that tests replace, up to the top.
package typealias FileSystem = PageStore.FileSystem
package typealias FileIdentity = PageStore.FileIdentity
package typealias DiskFileSystem = PageStore.DiskFileSystem
