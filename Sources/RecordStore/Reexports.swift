import PageStore

// Types of the engine that users see; ObjectGraph re-exports them under the same names.
public typealias StoreError = PageStore.StoreError
public typealias StoreStatistics = PageStore.StoreStatistics
public typealias Durability = PageStore.Durability
package typealias EngineOptions = PageStore.Engine.Options
// The seam that tests replace, up to the top.
package typealias FileSystem = PageStore.FileSystem
package typealias FileIdentity = PageStore.FileIdentity
package typealias DiskFileSystem = PageStore.DiskFileSystem
