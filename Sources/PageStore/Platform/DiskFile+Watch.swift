import CTrellis
import Dispatch
import SystemPackage

#if os(Linux)
    extension DiskFile {
        func watch(
            on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void
        ) -> (any FileWatch)? {
            try? withDescriptors { FileNotices(of: data, path: path, on: queue, changed) }
        }
    }

    /// The system's notices (inotify) about one file.
    private final class FileNotices: FileWatch, @unchecked Sendable {
        private let source: any DispatchSourceRead

        /// Nil where the system has none, or no more of them for this user.
        init?(
            of file: FileDescriptor, path: String, on queue: DispatchQueue,
            _ changed: @escaping @Sendable () -> Void
        ) {
            // Safety: the path ends with a zero, and the call keeps no pointer to it.
            let notices = FileDescriptor(rawValue: unsafe trellis_watch(file.rawValue, path))
            guard notices.rawValue >= 0 else { return nil }
            source = DispatchSource.makeReadSource(
                fileDescriptor: notices.rawValue, queue: queue)
            source.setEventHandler {
                Self.drain(notices)
                changed()
            }
            source.setCancelHandler { try? notices.close() }
            source.resume()
        }

        deinit { cancel() }

        func cancel() { source.cancel() }

        /// A notice says no more than that something changed. The descriptor does not block.
        private static func drain(_ notices: FileDescriptor) {
            let buffer = ReadBuffer(count: 4096)
            // Safety: the buffer has as many bytes as it says.
            while let count = try? unsafe notices.read(into: buffer.mutableBytes), count > 0 {}
        }
    }
#else
    extension DiskFile {
        /// No notices: readers look at the file when they are asked for something.
        func watch(
            on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void
        ) -> (any FileWatch)? { nil }
    }
#endif
