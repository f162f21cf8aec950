import PageStore

// What users meet of the engine; ObjectGraph hands them on under the same names.
public typealias StoreError = PageStore.StoreError
public typealias StoreStatistics = PageStore.StoreStatistics
