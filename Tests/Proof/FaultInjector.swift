import PageStore
import Primitives
import TestSupport

/// The effect of a faulty call.
package enum FaultKind: String, CaseIterable, Sendable {
    /// The call fails without an effect.
    case error, diskFull, denied, tooLarge
    /// A write that is done in part and fails.
    case oneByte, oneSectorLess, oneByteLess
    /// The call takes effect and reports an error.
    case errorAfter
    /// A sync that fails; the writes that it should have made durable are never made durable.
    case forgottenSync
    /// A read that fails.
    case unreadable

    var code: StoreError.Code {
        switch self {
        case .diskFull: .diskFull
        case .denied: .permissionDenied
        case .tooLarge: .tooLarge
        default: .io
        }
    }
}

/// A file system over another one; one of its calls fails, or one and all later calls.
package final class FaultInjector: ForwardingFileSystem {
    package struct Fault: Sendable {
        /// Counted from 1 over the calls that the kind concerns.
        package var call: Int
        package var kind: FaultKind
        package var goesOn: Bool

        package init(call: Int, kind: FaultKind, goesOn: Bool) {
            self.call = call
            self.kind = kind
            self.goesOn = goesOn
        }
    }

    private struct State {
        var fault: Fault?
        var changeCount = 0
        var readCount = 0
    }

    package let base: any FileSystem
    private let state: Mutex<State>

    package init(_ base: any FileSystem, _ fault: Fault?) {
        self.base = base
        state = Mutex(State(fault: fault))
    }

    /// Calls that change something, and reads, so far.
    package var changeCount: Int { state.withLock { $0.changeCount } }
    package var readCount: Int { state.withLock { $0.readCount } }

    /// Whether at most one call fails.
    package var isOnce: Bool { state.withLock { $0.fault?.goesOn != true } }

    /// The fault of the next call, if any.
    fileprivate func next(isRead: Bool) -> FaultKind? {
        state.withLock { state in
            if isRead { state.readCount += 1 } else { state.changeCount += 1 }
            let count = isRead ? state.readCount : state.changeCount
            guard let fault = state.fault, (fault.kind == .unreadable) == isRead,
                fault.goesOn ? count >= fault.call : count == fault.call
            else { return nil }
            return fault.kind
        }
    }

    fileprivate func failure(_ kind: FaultKind) -> StoreError {
        StoreError(kind.code, "the proof lets this call fail: \(kind.rawValue)")
    }

    /// Runs a call that cannot be done in part.
    private func whole(_ call: () throws(StoreError) -> Void) throws(StoreError) {
        let kind = next(isRead: false)
        if kind == nil || kind == .errorAfter { try call() }
        if let kind { throw failure(kind) }
    }

    package func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        FaultyStoreFile(try base.open(path, mode), self)
    }

    package func rename(_ path: String, to newPath: String) throws(StoreError) {
        try whole { () throws(StoreError) in try base.rename(path, to: newPath) }
    }

    package func replace(_ path: String, with newPath: String) throws(StoreError) {
        try whole { () throws(StoreError) in try base.replace(path, with: newPath) }
    }

    package func unlink(_ path: String) throws(StoreError) {
        try whole { () throws(StoreError) in try base.unlink(path) }
    }

    package func syncDirectory(of path: String) throws(StoreError) {
        try whole { () throws(StoreError) in try base.syncDirectory(of: path) }
    }

    fileprivate func write(
        _ bytes: ByteView, _ call: (ByteView) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let kind = next(isRead: false) else { return try call(bytes) }
        let count: Int? =
            switch kind {
            case .oneByte: 1
            case .oneSectorLess: bytes.count - 511
            case .oneByteLess: bytes.count - 1
            case .errorAfter: bytes.count
            default: nil
            }
        if let count, count > 0 { try call(bytes.slice(from: 0, count: count)) }
        throw failure(kind)
    }

    fileprivate func sync(_ file: any StoreFile) throws(StoreError) {
        let kind = next(isRead: false)
        if kind == nil || kind == .errorAfter { try file.sync() }
        guard let kind else { return }
        if kind == .forgottenSync { (base as? SimulatedDisk)?.forget(file.identity) }
        throw failure(kind)
    }

    fileprivate func truncate(
        _ file: any StoreFile, to sizeInBytes: UInt64
    ) throws(StoreError) {
        try whole { () throws(StoreError) in try file.truncate(to: sizeInBytes) }
    }
}

private final class FaultyStoreFile: ForwardingFile {
    let file: any StoreFile
    private let faults: FaultInjector

    init(_ file: any StoreFile, _ faults: FaultInjector) {
        self.file = file
        self.faults = faults
    }

    func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        if let kind = faults.next(isRead: true) { throw faults.failure(kind) }
        return try file.read(into: buffer, at: byteOffset)
    }

    func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try faults.write(bytes) { part throws(StoreError) in try file.write(part, at: byteOffset) }
    }

    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        try faults.write(bytes) { part throws(StoreError) in
            try file.writeDurably(part, at: byteOffset)
        }
    }

    func sync() throws(StoreError) { try faults.sync(file) }

    func truncate(to sizeInBytes: UInt64) throws(StoreError) {
        try faults.truncate(file, to: sizeInBytes)
    }

    func nameCount() throws(StoreError) -> UInt64 { try file.nameCount() }
    func lockWriter() throws(StoreError) -> Bool { try file.lockWriter() }
    func isLockedByWriter() throws(StoreError) -> Bool? { try file.isLockedByWriter() }

    func lockReader(of generation: UInt64) throws(StoreError) -> Bool {
        try file.lockReader(of: generation)
    }

    func unlockReader(of generation: UInt64) throws(StoreError) {
        try file.unlockReader(of: generation)
    }

    func heldGenerations(before end: UInt64) throws(StoreError) -> [Range<UInt64>] {
        try file.heldGenerations(before: end)
    }
}
