import Synchronization

/// The names of the properties that a program's key paths lead to. Asking a key path for its
/// property goes through the runtime and costs as much as a search in a tree.
///
/// A slot is written once and keeps its entry for good, so that a reader needs no lock, and so that
/// no other key path gets the address of one that has an entry. Two that want one slot: the first
/// stays, and the other is asked each time.
@safe
final class KeyPathNames: @unchecked Sendable {
    private final class Entry {
        let keyPath: AnyKeyPath
        let name: KeyPathString

        init(_ keyPath: AnyKeyPath, _ name: KeyPathString) {
            self.keyPath = keyPath
            self.name = name
        }
    }

    static let shared = KeyPathNames()

    private static let slotCount = 512

    private let slots: UnsafeMutablePointer<Atomic<UInt>>

    private init() {
        unsafe slots = .allocate(capacity: Self.slotCount)
        for index in 0..<Self.slotCount { unsafe (slots + index).initialize(to: Atomic(0)) }
    }

    /// The name that a key path is known by, or that is found for it now.
    func name(of keyPath: AnyKeyPath, _ find: () -> KeyPathString) -> KeyPathString {
        let address = UInt(bitPattern: ObjectIdentifier(keyPath))
        // Objects lie at multiples of sixteen; the factor spreads the rest.
        let index = Int(truncatingIfNeeded: ((address >> 4) &* 0x9E37_79B9) >> 16) & 511
        // Safety: the mask keeps the index below the count; the bits are those of an entry that was
        // retained for good, or 0.
        let bits = unsafe slots[index].load(ordering: .acquiring)
        if let opaque = unsafe UnsafeRawPointer(bitPattern: bits) {
            let name: KeyPathString? = unsafe Unmanaged<Entry>.fromOpaque(opaque)
                ._withUnsafeGuaranteedRef { $0.keyPath === keyPath ? $0.name : nil }
            return name ?? find()
        }
        let name = find()
        // Safety: the reference is the table's from here on, or given back below.
        let entry = unsafe Unmanaged.passRetained(Entry(keyPath, name))
        let isStored = unsafe slots[index].compareExchange(
            expected: 0, desired: UInt(bitPattern: entry.toOpaque()),
            ordering: .acquiringAndReleasing
        ).exchanged
        // Safety: nobody else has seen the reference that was not stored.
        if !isStored { unsafe entry.release() }
        return name
    }
}
