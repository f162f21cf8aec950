/// The file of a store that gets its name when it is whole, such as a backup.
///
/// Its first name contains an ID, of 128 random bits, of the store that it is made from, so that it
/// is unique: a file of that name was left when the process of an earlier attempt ended, and is
/// removed. It is never written, because the name may lead to another file by a link.
struct UnfinishedFile {
    /// Of a file's name, by most file systems.
    private static let nameSizeInBytesMax = 255

    let opened: OpenFile
    /// The name that it has now.
    private(set) var path: String
    private let finalPath: String
    private let files: any FileSystem

    /// Creates an empty file, which no other attempt writes, for the path that it will have.
    ///
    /// Throws `alreadyOpen` or `lockedByOther` while another attempt is made.
    ///
    /// - Parameters:
    ///   - origin: the file that is read, and not to be removed.
    ///   - access: that of the origin, which the file has before its first byte. Nil keeps it for
    ///     its owner alone.
    init(
        of finalPath: String, by uuid: StoreUUID, beside origin: FileIdentity,
        like access: FileAccess?, in files: any FileSystem
    ) throws(StoreError) {
        path = Self.path(of: finalPath, uuid)
        self.finalPath = finalPath
        self.files = files
        do throws(StoreError) {
            if let left = try files.identity(path), left == origin {
                throw StoreError(
                    .invalidArgument,
                    "an unfinished copy of that name would be replaced, and it is this store")
            }
            try Self.removeLeftover(path, files)
            opened = try Self.create(path, files)
        } catch {
            throw error.at(path: path)
        }
        do throws(StoreError) {
            guard try opened.file.lockWriter() else { throw Self.busy }
            // Another attempt may have taken it for a leftover before it was locked.
            guard try files.identity(path) == opened.file.identity else { throw Self.ended }
            if let access { try opened.file.give(access) }
        } catch {
            opened.close()
            throw error.at(path: path)
        }
    }

    /// Gives the file its name, durably. Its content is durable already.
    mutating func publish() throws(StoreError) {
        guard try files.identity(path) == opened.file.identity else {
            throw StoreError(
                .fileReplaced, "another file took the name of the unfinished store", path: path)
        }
        try files.rename(path, to: finalPath)
        path = finalPath
        try files.syncDirectory(of: path)
    }

    /// Removes the file, and only the name that is its own: the other one may be another attempt's.
    func discard() {
        if let found = try? files.identity(path), found == opened.file.identity {
            try? files.unlink(path)
        }
        opened.close()
    }

    static func existing(_ path: String) -> StoreError {
        StoreError(.invalidArgument, "there is a file of that name already", path: path)
    }

    private static let busy = StoreError(.lockedByOther, "another process writes there")
    private static let ended = StoreError(.lockedByOther, "another writer there has just ended")

    /// A name that the suffix would make longer than file systems take loses its end.
    private static func path(of path: String, _ uuid: StoreUUID) -> String {
        let suffix = ".\(uuid).part"
        var name = Substring(path)
        if let end = path.lastIndex(of: "/") { name = path[path.index(after: end)...] }
        let folder = path[..<name.startIndex]
        while name.utf8.count + suffix.utf8.count > nameSizeInBytesMax { name.removeLast() }
        return folder + name + suffix
    }

    private static func removeLeftover(
        _ path: String, _ files: any FileSystem
    ) throws(StoreError) {
        guard try !files.isLink(path) else {
            throw StoreError(
                .invalidArgument,
                "a link has the name of the unfinished copy; remove it, or choose another name for "
                    + "the copy")
        }
        guard try files.identity(path) != nil else { return }
        let left: OpenFile
        do throws(StoreError) {
            left = try OpenFile(path, .readWrite, in: files)
        } catch {
            throw [.fileReplaced, .notFound].contains(error.code) ? ended : error
        }
        defer { left.close() }
        // Held by an attempt that goes on.
        guard try left.file.lockWriter() else { throw busy }
        // It was another one's until that had its name.
        guard try files.identity(path) == left.file.identity else { throw ended }
        try files.unlink(path)
    }

    private static func create(
        _ path: String, _ files: any FileSystem
    ) throws(StoreError) -> OpenFile {
        do throws(StoreError) {
            return try OpenFile(path, .createNew, in: files)
        } catch {
            // Another attempt has the name, or has removed this one's file.
            throw [.fileReplaced, .invalidArgument].contains(error.code) ? ended : error
        }
    }
}

extension Engine {
    /// Creates a store that gets its path when `fill` has returned and its content is durable, as
    /// ``copy(to:files:)`` does.
    ///
    /// Throws `invalidArgument` when there is a file at the path already; `alreadyOpen` or
    /// `lockedByOther` while another process makes one of it. After an error nothing is left.
    ///
    /// - Parameters:
    ///   - uuid: an ID of the origin, which unfinished files are recognised by.
    ///   - origin: the identity of the origin's file, and who may use it.
    package static func create(
        at path: String, options: Options, files: any FileSystem, from uuid: StoreUUID,
        _ origin: (identity: FileIdentity, access: FileAccess?),
        _ fill: (Engine) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard try files.identity(path) == nil else { throw UnfinishedFile.existing(path) }
        var unfinished = try UnfinishedFile(
            of: path, by: uuid, beside: origin.identity, like: origin.access, in: files)
        do throws(StoreError) {
            let parts = try Creation.create(
                path: unfinished.path, options: options, files: files, unfinished.opened)
            let engine = Engine(parts, Following(parts))
            do throws(StoreError) {
                try fill(engine)
                // The last write, which checks the path.
                try engine.checkpointNow()
                try unfinished.publish()
            } catch {
                // Nothing of it is kept.
                parts.context.health.poison(error)
                try? engine.close()
                throw error
            }
            try engine.close()
        } catch {
            unfinished.discard()
            throw error.at(path: path)
        }
    }
}
