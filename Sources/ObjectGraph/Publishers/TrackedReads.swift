import Observation

/// The reads of a publisher that `withObservationTracking` follows.
///
/// The publishers are generic, and the runtime makes a key path of a generic class anew each time
/// that it is used: that took most of what telling a publisher did.
final class TrackedReads: Observable {
    private let registrar = ObservationRegistrar()

    /// Stands for all that a publisher has.
    private var all: Bool { true }
    /// Stands for a property.
    private subscript(name: KeyPathString) -> Bool { true }

    /// Notes a read that every change concerns.
    func note() { registrar.access(self, keyPath: \.all) }

    func note(_ name: KeyPathString) { registrar.access(self, keyPath: \.[name]) }

    func tell(_ change: () -> Void = {}) {
        registrar.withMutation(of: self, keyPath: \.all, change)
    }

    func tell(_ name: KeyPathString) {
        registrar.withMutation(of: self, keyPath: \.[name]) {}
    }
}
