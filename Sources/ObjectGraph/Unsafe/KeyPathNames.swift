import Primitives

/// The names of the properties that a program's key paths lead to. Asking a key path for its
/// property goes through the runtime and costs as much as a search in a tree.
///
/// An entry stays for good, so that no other key path gets the address of one that has an entry. Of
/// two that want one slot the first stays, and the other is asked each time.
final class KeyPathNames: Sendable {
    private final class Entry {
        let keyPath: AnyKeyPath
        let name: KeyPathString

        init(_ keyPath: AnyKeyPath, _ name: KeyPathString) {
            self.keyPath = keyPath
            self.name = name
        }
    }

    static let shared = KeyPathNames()

    private let entries = WriteOnceTable<Entry>(slotCount: 512)

    private init() {}

    /// The name that a key path is known by, or that is found for it now.
    func name(of keyPath: AnyKeyPath, _ find: () -> KeyPathString) -> KeyPathString {
        let address = UInt(bitPattern: ObjectIdentifier(keyPath))
        // Objects lie at multiples of sixteen; the factor spreads the rest.
        let index = Int(truncatingIfNeeded: ((address >> 4) &* 0x9E37_79B9) >> 16)
        let known = entries.withObject(at: index) { entry -> KeyPathString? in
            entry.keyPath === keyPath ? entry.name : nil
        }
        if let known { return known ?? find() }
        let name = find()
        entries.insert(Entry(keyPath, name), at: index)
        return name
    }
}
