/// A failure that the storage engine reports: of the world (a disk, a lock, damaged bytes), never
/// of the caller.
///
/// A program receives it inside ``CoreStoreError``. It has the kind of failure (`code`), its
/// position (`page`, `byteOffset`, `path`) and the system's error (`systemError`, an `errno`).
public struct StoreError: Error, Hashable, Sendable {
    /// The kind of failure, for programs to switch over.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The file is not a Trellis store.
        case notAStore
        /// The file uses a format or a feature that is unknown to this version.
        case newerFormat
        /// The file ends before data that it refers to.
        case truncated
        /// Bytes in the file contradict their checksum or the format.
        case corrupt
        /// The system failed to read, write or synchronise.
        case io
        /// There is no space for the transaction, of which nothing was written; the store stays
        /// usable.
        case diskFull
        /// The system denies access to the file or its folder.
        case permissionDenied
        /// There is no such file or folder.
        case notFound
        /// This process has the store open already.
        case alreadyOpen
        /// Another process has the store open for writing.
        case lockedByOther
        /// The store was opened for reading only.
        case readOnly
        /// An earlier write failed; the store must be opened again before it is written again.
        case poisoned
        /// A key, a value or a file exceeds a limit of the format.
        case tooLarge
        /// The file's schema differs from the program's.
        case schemaMismatch
        /// The operation cannot be done with this store or these arguments.
        case invalidArgument
        /// The store has been closed.
        case closed
        /// A reader held its state for longer than the store's options allow.
        case snapshotTooOld
        /// Another file has taken the path of the open store, also while it was opened, or an
        /// earlier copy the content of a file that is open for reading.
        case fileReplaced
        /// The file of the open store was renamed, and its path leads to nothing.
        case fileRenamed
        /// The file of the open store was removed; its content lasts until the store is closed.
        case fileRemoved
        /// The program's model contradicts itself; no file was read.
        case invalidModel
        /// The program's model has a unique constraint that the file does not have, and stored
        /// objects violate it.
        case duplicateValues
        /// Writing or synchronising a commit failed, so that the file may contain it or not. The
        /// store must be opened again; its state then is that of the file.
        case commitUncertain
        /// A copy has commits that are not in the history of the store.
        case historyDiffers
        /// The program's model is one that the file had before the one that it has now.
        case newerModel
    }

    /// The kind of failure.
    public var code: Code
    /// The logical page concerned, when one is.
    public var page: UInt64?
    /// The byte of the file concerned, counted from its start, when one is.
    public var byteOffset: UInt64?
    /// The file concerned, when one is.
    public var path: String?
    /// One sentence for the person who must act.
    public var message: String
    /// The system's error number (`errno`), when the system reported one.
    public var systemError: Int32?
    /// Whether this refuses a migration because it would drop stored data without permission.
    package var refusesLoss = false

    package init(
        _ code: Code, _ message: String, page: UInt64? = nil, byteOffset: UInt64? = nil,
        path: String? = nil, systemError: Int32? = nil
    ) {
        self.code = code
        self.message = message
        self.page = page
        self.byteOffset = byteOffset
        self.path = path
        self.systemError = systemError
    }

    package static func corrupt(
        _ page: PageID? = nil, _ message: String, byteOffset: UInt64? = nil
    ) -> StoreError {
        StoreError(.corrupt, message, page: page?.rawValue, byteOffset: byteOffset)
    }

    package func at(path: String) -> StoreError {
        var copy = self
        copy.path = copy.path ?? path
        return copy
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        var text = "\(code.rawValue): \(message)"
        if let page { text += ", page \(page)" }
        if let byteOffset { text += ", byte \(byteOffset)" }
        if let path { text += ", in \(path)" }
        if let systemError { text += " (system error \(systemError))" }
        return text
    }
}
