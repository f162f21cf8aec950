import PageStore

// Types of the engine that users see; ObjectGraph exports them under their own names.

/// The error of the storage engine.
public typealias StoreError = PageStore.StoreError
/// The counters of a store since it was opened.
public typealias StoreStatistics = PageStore.StoreStatistics
/// How durable a transaction is when its call returns.
public typealias Durability = PageStore.Durability
package typealias EngineOptions = PageStore.Engine.Options
// The file system, which tests replace.
package typealias FileSystem = PageStore.FileSystem
package typealias FileIdentity = PageStore.FileIdentity
package typealias DiskFileSystem = PageStore.DiskFileSystem
// Who goes on where threads meet, which tests decide.
package typealias Schedule = PageStore.Schedule
