import PageStore
import Primitives

import struct Synchronization.Atomic

/// One file in memory whose calls can be made to fail. ``powerCut()`` returns it without
/// unsynchronised writes.
package final class FaultyFileSystem: FileSystem {
    /// A call with an effect on the medium.
    package enum Call: Hashable, Sendable {
        case write, durableWrite, sync, truncate, syncDirectory
    }

    /// The call that fails, and how.
    package struct Fault: Sendable {
        /// Counted from 1 over the calls that match, from when the fault was set.
        package var at: Int
        package var calls: Set<Call>
        package var code: StoreError.Code
        package var goesOn: Bool

        package init(
            at: Int = 1, calls: Set<Call>, code: StoreError.Code = .io, goesOn: Bool = false
        ) {
            self.at = at
            self.calls = calls
            self.code = code
            self.goesOn = goesOn
        }
    }

    struct State {
        var bytes: [UInt8] = []
        var durable: [UInt8] = []
        var exists = false
        var fault: Fault?
        var readFault: StoreError.Code?
        var readFaultAfterSync: StoreError.Code?
        var matchCount = 0
        var callCount = 0
        var inode: UInt64 = 1
    }

    private static let nextDevice = Atomic<UInt64>(1 << 62)

    let state: Mutex<State>
    private let device = nextDevice.wrappingAdd(1, ordering: .relaxed).oldValue

    package init(bytes: [UInt8]? = nil) {
        var state = State()
        state.bytes = bytes ?? []
        state.durable = state.bytes
        state.exists = bytes != nil
        self.state = Mutex(state)
    }

    /// The file's content as programs see it; setting it also makes it durable.
    package var bytes: [UInt8] {
        get { state.withLock { $0.bytes } }
        set {
            state.withLock {
                $0.bytes = newValue
                $0.durable = newValue
                $0.exists = true
            }
        }
    }

    package var fault: Fault? {
        get { state.withLock { $0.fault } }
        set {
            state.withLock {
                $0.fault = newValue
                $0.matchCount = 0
            }
        }
    }

    /// The error of all reads; nil if they succeed.
    package var readFault: StoreError.Code? {
        get { state.withLock { $0.readFault } }
        set { state.withLock { ($0.readFault, $0.readFaultAfterSync) = (newValue, nil) } }
    }

    /// Makes all reads fail after the next sync: those after the next commit.
    package func failReadsAfterSync(_ code: StoreError.Code) {
        state.withLock { $0.readFaultAfterSync = code }
    }

    /// Calls with an effect so far.
    package var callCount: Int { state.withLock { $0.callCount } }

    /// The medium as a power cut now would leave it: only what was synchronised.
    package func powerCut() -> FaultyFileSystem {
        FaultyFileSystem(bytes: state.withLock { $0.durable })
    }

    /// The file as a process that dies now leaves it.
    package func processDeath() -> FaultyFileSystem { FaultyFileSystem(bytes: bytes) }

    func perform(_ call: Call, _ body: (inout State) -> Void) throws(StoreError) {
        let failure: StoreError.Code? = state.withLock { state in
            state.callCount += 1
            if let fault = state.fault, fault.calls.contains(call) {
                state.matchCount += 1
                let isDue =
                    fault.goesOn ? state.matchCount >= fault.at : state.matchCount == fault.at
                if isDue { return fault.code }
            }
            body(&state)
            if call == .sync || call == .durableWrite, let code = state.readFaultAfterSync {
                (state.readFault, state.readFaultAfterSync) = (code, nil)
            }
            return nil
        }
        if let failure { throw StoreError(failure, "the test lets this call fail") }
    }

    // MARK: FileSystem

    package func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        let identity: FileIdentity? = state.withLock { state in
            if !state.exists {
                switch mode {
                case .readOnly, .readWrite: return nil
                case .create, .createNew: break
                }
                state.exists = true
            }
            return FileIdentity(device: device, inode: state.inode)
        }
        guard let identity else { throw StoreError(.notFound, "there is no such file", path: path) }
        return FaultyFile(identity: identity, files: self)
    }

    package func identity(_ path: String) throws(StoreError) -> FileIdentity? {
        state.withLock { $0.exists ? FileIdentity(device: device, inode: $0.inode) : nil }
    }

    package func rename(_ path: String, to newPath: String) throws(StoreError) {}
    package func replace(_ path: String, with newPath: String) throws(StoreError) {}

    package func unlink(_ path: String) throws(StoreError) {
        state.withLock {
            $0.exists = false
            $0.bytes = []
            $0.inode += 1
        }
    }

    package func syncDirectory(of path: String) throws(StoreError) {
        try perform(.syncDirectory) { _ in }
    }

    package func now() -> UInt64 { 1_000_000_000 }
    package func random() -> UInt64 { UInt64.random(in: 0...UInt64.max) }
    package func processID() -> Int32 { DiskFileSystem.shared.processID() }
}

/// The one file of a ``FaultyFileSystem``.
final class FaultyFile: StoreFile {
    let identity: FileIdentity
    private let files: FaultyFileSystem

    init(identity: FileIdentity, files: FaultyFileSystem) {
        self.identity = identity
        self.files = files
    }

    func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        if let code = files.readFault { throw StoreError(code, "the test lets reads fail") }
        let part: [UInt8] = files.state.withLock { state in
            guard byteOffset < UInt64(state.bytes.count) else { return [] }
            let start = Int(byteOffset)
            return Array(state.bytes[start..<min(start + buffer.count, state.bytes.count)])
        }
        part.withView { buffer.copy($0, to: 0) }
        return part.count
    }

    func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        let source = bytes.array()
        try files.perform(.write) { Self.store(source, at: Int(byteOffset), in: &$0.bytes) }
    }

    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        let source = bytes.array()
        try files.perform(.durableWrite) { state in
            Self.store(source, at: Int(byteOffset), in: &state.bytes)
            Self.store(source, at: Int(byteOffset), in: &state.durable)
        }
    }

    func sync() throws(StoreError) { try files.perform(.sync) { $0.durable = $0.bytes } }

    func truncate(to sizeInBytes: UInt64) throws(StoreError) {
        try files.perform(.truncate) { state in
            let size = Int(sizeInBytes)
            if size < state.bytes.count {
                state.bytes.removeLast(state.bytes.count - size)
            } else {
                state.bytes += Array(repeating: 0, count: size - state.bytes.count)
            }
        }
    }

    func size() throws(StoreError) -> UInt64 { files.state.withLock { UInt64($0.bytes.count) } }
    func close() {}

    private static func store(_ source: [UInt8], at start: Int, in target: inout [UInt8]) {
        let end = start + source.count
        if end > target.count { target += Array(repeating: 0, count: end - target.count) }
        target.replaceSubrange(start..<end, with: source)
    }
}
