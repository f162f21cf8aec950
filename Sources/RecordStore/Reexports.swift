import PageStore

// What users meet of the engine; ObjectGraph hands them on under the same names.
public typealias StoreError = PageStore.StoreError
public typealias StoreStatistics = PageStore.StoreStatistics
public typealias Durability = PageStore.Durability
package typealias EngineOptions = PageStore.Engine.Options
// The seam that tests replace, up to the top.
package typealias FileSystem = PageStore.FileSystem
package typealias FileIdentity = PageStore.FileIdentity
package typealias DiskFileSystem = PageStore.DiskFileSystem
