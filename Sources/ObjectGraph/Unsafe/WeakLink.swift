import CTrellis
import Primitives

/// Leads to an object without keeping it alive, as `weak` does, but leaves its count of references
/// where it is: `weak` moves it to a side table, and then each retain and release of an object that
/// every fetch goes through takes the slow path.
///
/// The object makes its own link, and ends it first thing in its `deinit`.
@safe
final class WeakLink<Object: AnyObject>: @unchecked Sendable {
    private let address = Mutex<UInt>(0)

    /// Called once, by the object's initialiser.
    func begin(_ object: Object) {
        address.withLock { $0 = UInt(bitPattern: ObjectIdentifier(object)) }
    }

    /// Called by the object's `deinit`.
    func end() { address.withLock { $0 = 0 } }

    /// The object; nil when it is gone, or going.
    var object: Object? {
        let retained = address.withLock { address -> UInt in
            guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: address) else {
                return 0
            }
            // Safety: an object that is linked to has not left its `deinit`, which waits for this
            // lock to end the link, so its memory is there.
            return unsafe UInt(bitPattern: trellis_try_retain(pointer))
        }
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: retained) else { return nil }
        // Safety: only an object of this class is linked to, and it was retained above.
        return unsafe Unmanaged<Object>.fromOpaque(pointer).takeRetainedValue()
    }
}
