import Dispatch

/// Opening: the newest valid superblock, the log after it, and nothing written until the first
/// transaction.
struct Opening {
    /// Of a hundred years, so that its end can be told.
    private static let timeoutMax = Duration.seconds(100 * 365 * 86_400)

    let path: String
    let options: StoreOptions
    let files: any FileSystem

    /// Opens the store at the path, or creates it.
    func run() throws(StoreError) -> (StoreParts, Following) {
        do throws(StoreError) {
            let opened = try OpenFile(
                path,
                options.mode.isReadOnly ? .readOnly : options.createsFile ? .create : .readWrite,
                in: files)
            do throws(StoreError) {
                return try options.mode.isReadOnly
                    ? openForReading(opened) : openForWriting(opened)
            } catch {
                opened.close()
                throw error
            }
        } catch {
            throw error.at(path: path)
        }
    }

    private func openForReading(
        _ opened: OpenFile
    ) throws(StoreError) -> (StoreParts, Following) {
        let choice = try SuperblockChoice.read(opened.file, options.mode)
        let parts = StoreParts(choice, path: path, options: options, files: files, opened)
        let following = Following(parts)
        try following.readNewest()
        return (parts, following)
    }

    private func openForWriting(
        _ opened: OpenFile
    ) throws(StoreError) -> (StoreParts, Following) {
        // The writer's lock, on the file that the path names.
        try lock(opened.file)
        try PathIdentity.check(opened.file, at: path, in: files)
        // A store, or a file in which one is to be created.
        guard let choice = try superblocks(of: opened.file) else {
            let parts = try Creation.create(
                path: path, options: options, files: files, opened)
            return (parts, Following(parts))
        }
        let parts = StoreParts(choice, path: path, options: options, files: files, opened)
        // No other process writes, so that the state read now stays.
        let found = try StoreReader(parts.context, parts.pager).read(choice, isTailOpen: false)
        parts.writer.withState { writer in
            writer.isOnlySuperblock = choice.other == nil
            parts.adopt(found, &writer)
        }
        return (parts, Following(parts))
    }

    /// Nil for an empty file and for one whose creation did not finish.
    private func superblocks(of file: MeteredFile) throws(StoreError) -> SuperblockChoice? {
        let size = try file.size()
        if size == 0, options.createsFile { return nil }
        do throws(StoreError) {
            return try SuperblockChoice.read(file, sizeInBytes: size)
        } catch {
            guard options.createsFile,
                try Creation.isUnfinished(file, size: size, options: options)
            else { throw error }
            return nil
        }
    }

    /// Takes the writer's lock, or waits for it for as long as the options say.
    private func lock(_ file: MeteredFile) throws(StoreError) {
        let timeout = min(max(options.writerTimeout, .zero), Self.timeoutMax)
        let end = ContinuousClock.now.advanced(by: timeout)
        let pause = DispatchSemaphore(value: 0)
        var pauseInMilliseconds = 1
        while try !file.lockWriter() {
            guard ContinuousClock.now < end else {
                throw StoreError(
                    .lockedByOther,
                    "another process has the store open for writing; open it for reading only, "
                        + "or close it there first")
            }
            // The system can wait for a lock, but not for a while.
            _ = pause.wait(timeout: .now() + .milliseconds(pauseInMilliseconds))
            pauseInMilliseconds = min(pauseInMilliseconds * 2, 20)
        }
    }
}
