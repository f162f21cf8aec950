// A program writes `import ObjectGraph` and nothing else.
@_exported import Foundation
import RecordStore

/// The error of the storage engine, as ``CoreStoreError/storeError`` has it: a code, a message for
/// the person who must act, and the page, the byte offset, the file and the system's error number
/// as far as there are any.
///
/// The codes:
/// - about the file: `notAStore`, `newerFormat`, `truncated`, `corrupt`, `notFound`,
///   `permissionDenied`, `fileReplaced`, `fileRenamed`, `fileRemoved`;
/// - about its use: `alreadyOpen`, `lockedByOther`, `readOnly`, `closed`, `invalidArgument`,
///   `tooLarge`, `snapshotTooOld`;
/// - about the model: `schemaMismatch`, `newerModel`, `invalidModel`, `duplicateValues`;
/// - about writing: `io`, `diskFull`, `poisoned`, `commitUncertain`, `historyDiffers`.
public typealias StoreError = RecordStore.StoreError
/// The counters of a store since it was opened, and the space that it takes; see
/// ``DataStack/statistics``.
public typealias StoreStatistics = RecordStore.StoreStatistics
/// How safe a transaction is when its call returns. Every mode keeps the order of commits: a crash
/// leaves of each storage a prefix of them, and never a part of one.
///
/// - `durable`: on the medium; no power cut loses the commit.
/// - `grouped(maxDelay:)`: on the medium, after waiting for other transactions to share the write
///   with.
/// - `relaxed`: in the operating system's memory; a power cut loses at most the last second of such
///   commits.
/// - `bulk`: on the medium, with all pages written directly to their final positions: for large
///   loads.
public typealias Durability = RecordStore.Durability

/// The name of a model version.
public typealias ModelVersion = String
/// The name of a store's configuration; nil is the default one.
public typealias ModelConfiguration = String?
/// The name of an entity in the store.
public typealias EntityName = String
/// The name of a class.
public typealias ClassName = String
/// The name of a property in the store, or several joined by dots.
public typealias KeyPathString = String
