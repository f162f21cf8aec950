/// Whether the path of a store still leads to the file that is open.
enum PathIdentity {
    /// Throws `fileReplaced`, `fileRenamed` or `fileRemoved` when it does not. Nothing is lost
    /// then: the open file has all commits, a copy can be made of it, and where it gets its name
    /// back the store goes on.
    static func check(
        _ file: any StoreFile, at path: String, in files: any FileSystem
    ) throws(StoreError) {
        var found: FileIdentity?
        do throws(StoreError) {
            found = try files.identity(path)
        } catch {
            // Without permission to look, a removed file cannot be told.
            guard error.code == .notFound else { return }
        }
        if found == file.identity { return }
        if found != nil {
            throw StoreError(
                .fileReplaced,
                "another file has taken the store's path; the open file has all commits until "
                    + "it is closed, and a backup saves them")
        }
        guard try file.nameCount() > 0 else {
            throw StoreError(
                .fileRemoved,
                "the file has been removed; until it is closed it has all commits, and a backup "
                    + "saves them")
        }
        throw StoreError(
            .fileRenamed, "the file has another name now; give it back, or open it anew by that")
    }
}
