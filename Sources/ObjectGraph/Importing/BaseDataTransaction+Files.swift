import Foundation

// Imports from files: a part of the file and of its sources at a time is in memory, however long
// the file is.

extension BaseDataTransaction {
    /// Creates an object from each source of a file, and returns their number.
    ///
    /// It reads the file in parts, in its order, and stops at the first error. A byte that belongs
    /// to no source of the format is an error. The file is one pass: a source may name an object
    /// that a later one creates, and such links are kept in memory until the end of the file.
    ///
    /// - Parameters:
    ///   - into: the class, and the store for new objects.
    ///   - file: the file to read.
    ///   - format: the format of the file.
    ///   - progress: counts the bytes of the file; cancelling it ends the import.
    /// - Throws: `.userCancelled` when the progress was cancelled; `.internalError` for a file that
    ///   cannot be read; the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``.
    @discardableResult
    public func importObjects<O: ImportableObject>(
        _ into: Into<O>, file: URL, format: SourceFormat, progress: Progress? = nil
    ) throws(CoreStoreError) -> Int where O.ImportSource == [String: Any] {
        try forEachPart(of: file, format, progress) { sources throws(CoreStoreError) in
            try importObjects(into, sourceArray: sources).count
        }
    }

    /// Updates the objects with the identities of a file's sources, creates those that do not
    /// exist, and returns the number of sources that the class accepts. Sources with one identity
    /// are applied one after the other, wherever they are in the file.
    ///
    /// - Parameters:
    ///   - into: the class, and the store for new objects.
    ///   - file: the file to read.
    ///   - format: the format of the file.
    ///   - progress: counts the bytes of the file; cancelling it ends the import.
    /// - Throws: `.userCancelled` when the progress was cancelled; `.internalError` for a file that
    ///   cannot be read; the error of the class, one of the program's own types as
    ///   ``CoreStoreError/userError(error:)``.
    @discardableResult
    public func importUniqueObjects<O: ImportableUniqueObject>(
        _ into: Into<O>, file: URL, format: SourceFormat, progress: Progress? = nil
    ) throws(CoreStoreError) -> Int where O.ImportSource == [String: Any] {
        try forEachPart(of: file, format, progress) { sources throws(CoreStoreError) in
            try importPart(into, sources)
        }
    }

    private func forEachPart(
        of url: URL, _ format: SourceFormat, _ progress: Progress?,
        _ body: ([[String: Any]]) throws(CoreStoreError) -> Int
    ) throws(CoreStoreError) -> Int {
        checkOpen()
        let handle: FileHandle
        do {
            handle = try FileHandle(forReadingFrom: url)
        } catch {
            throw Self.unreadable(url, error.localizedDescription)
        }
        defer { try? handle.close() }
        let size = try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize
        progress?.totalUnitCount = Int64(size ?? 0)
        return try importRelatedObjects { try importParts(of: handle, url, format, progress, body) }
    }

    private static func unreadable(
        _ url: URL, _ reason: String, line: Int? = nil
    ) -> CoreStoreError {
        let place = line.map { ", line \($0)" } ?? ""
        return .failure(
            .coding, "the file of sources \(url.path)\(place) cannot be read: \(reason)")
    }

    private func importParts(
        of handle: FileHandle, _ url: URL, _ format: SourceFormat, _ progress: Progress?,
        _ body: ([[String: Any]]) throws(CoreStoreError) -> Int
    ) throws(CoreStoreError) -> Int {
        var splitter: any SourceSplitter =
            switch format {
            case .json: JSONArraySplitter()
            case .jsonLines: JSONLinesSplitter()
            case .csv: CSVSplitter()
            }
        var (sources, count, pendingSize): ([[String: Any]], Int, Int) = ([], 0, 0)
        var line = 1
        func reading<Result>(
            _ read: () throws(MalformedSource) -> Result
        ) throws(CoreStoreError) -> Result {
            do throws(MalformedSource) {
                return try read()
            } catch {
                throw Self.unreadable(url, error.message, line: line)
            }
        }
        while let bytes = try Self.nextBytes(of: handle) {
            if progress?.isCancelled == true { throw CoreStoreError.userCancelled }
            for byte in bytes {
                pendingSize += 1
                let source = try reading { () throws(MalformedSource) in try splitter.take(byte) }
                if byte == UInt8(ascii: "\n") { line += 1 }
                guard let source else { continue }
                sources.append(source)
                guard sources.count == Self.partCount || pendingSize >= Self.partSizeInBytes else {
                    continue
                }
                count += try body(sources)
                sources.removeAll(keepingCapacity: true)
                pendingSize = 0
            }
            progress?.completedUnitCount += Int64(bytes.count)
        }
        let last = try reading { () throws(MalformedSource) in try splitter.end() }
        if let last { sources.append(last) }
        if !sources.isEmpty { count += try body(sources) }
        return count
    }

    private static func nextBytes(of handle: FileHandle) throws(CoreStoreError) -> Data? {
        do {
            let bytes = try handle.read(upToCount: readSize)
            return bytes?.isEmpty == false ? bytes : nil
        } catch {
            throw CoreStoreError(error)
        }
    }

    private static var readSize: Int { 1 << 18 }
    /// Sources are imported in parts of so many, and of about so many bytes of the file.
    private static var partCount: Int { 1_000 }
    private static var partSizeInBytes: Int { 16 << 20 }
}
