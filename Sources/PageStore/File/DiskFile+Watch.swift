import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension DiskFile {
    func watch(
        on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void
    ) -> (any FileWatch)? {
        #if os(Linux)
            return FileNotices(of: data, path: path, on: queue, changed)
        #else
            return nil
        #endif
    }
}

#if os(Linux)
    /// The system's notices (inotify) about one file.
    private final class FileNotices: FileWatch, @unchecked Sendable {
        private static let mask = UInt32(IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)

        private let source: any DispatchSourceRead

        /// Nil where the system has none, or no more of them for this user.
        init?(
            of descriptor: Int32, path: String, on queue: DispatchQueue,
            _ changed: @escaping @Sendable () -> Void
        ) {
            let notices = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard notices >= 0 else { return nil }
            // First by its descriptor, for the path may lead to another file by now.
            let isWatched = ["/proc/self/fd/\(descriptor)", path].contains { (name: String) in
                // Safety: the call reads the text and keeps no pointer to it.
                unsafe inotify_add_watch(notices, name, Self.mask) >= 0
            }
            guard isWatched else {
                _ = Glibc.close(notices)
                return nil
            }
            source = DispatchSource.makeReadSource(fileDescriptor: notices, queue: queue)
            source.setEventHandler {
                Self.drain(notices)
                changed()
            }
            source.setCancelHandler { _ = Glibc.close(notices) }
            source.resume()
        }

        deinit { cancel() }

        func cancel() { source.cancel() }

        /// That something changed is all there is to know.
        private static func drain(_ notices: Int32) {
            let buffer = ReadBuffer(count: 4096)
            // Safety: the buffer has as many bytes as the call is told.
            while unsafe read(notices, buffer.base, buffer.count) > 0 {}
        }
    }
#endif
