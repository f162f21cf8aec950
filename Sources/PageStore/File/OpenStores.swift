/// The stores that this process has open, by the system's identity of their files, so that a second
/// opening is refused by whatever path.
enum OpenStores {
    private static let pathByIdentity = Guarded<[FileIdentity: String]>([:])

    static func register(_ identity: FileIdentity, path: String) throws(StoreError) {
        let holder: String? = pathByIdentity.withLock { open in
            if let holder = open[identity] { return holder }
            open[identity] = path
            return nil
        }
        if let holder {
            throw StoreError(
                .alreadyOpen, "this process has the store open already, as \(holder)", path: path)
        }
    }

    static func unregister(_ identity: FileIdentity) {
        pathByIdentity.withLock { $0[identity] = nil }
    }
}
