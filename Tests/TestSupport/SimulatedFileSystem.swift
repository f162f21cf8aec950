import PageStore
import Synchronization

/// One file in memory that writes down every effect on its medium, so that the medium can be built
/// as a power cut at any moment could have left it.
package final class SimulatedFileSystem: FileSystem {
    package enum Effect: Sendable {
        /// In the system's cache until the next sync.
        case write(start: Int, bytes: [UInt8])
        /// On the medium when the call returned.
        case durableWrite(start: Int, bytes: [UInt8])
        case sync
        case truncate(count: Int)
    }

    struct State {
        var bytes: [UInt8] = []
        var exists = false
        var effects: [Effect] = []
        var random: UInt64
    }

    private static let nextDevice = Atomic<UInt64>(1 << 61)

    let state: Mutex<State>
    private let device = nextDevice.wrappingAdd(1, ordering: .relaxed).oldValue

    /// - Parameter seed: what salts and identities are made from, so that a run can be repeated.
    package init(seed: UInt64) { state = Mutex(State(random: seed)) }

    /// Everything that happened, in order.
    package var effects: [Effect] { state.withLock { $0.effects } }
    package var effectCount: Int { state.withLock { $0.effects.count } }

    package func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        let isThere = state.withLock { state in
            if case .create = mode { state.exists = true }
            return state.exists
        }
        guard isThere else { throw StoreError(.notFound, "there is no such file") }
        return SimulatedFile(self, FileIdentity(device: device, inode: 1))
    }

    package func identity(_ path: String) throws(StoreError) -> FileIdentity? {
        state.withLock { $0.exists } ? FileIdentity(device: device, inode: 1) : nil
    }

    package func rename(_ path: String, to newPath: String) throws(StoreError) {}
    package func unlink(_ path: String) throws(StoreError) {}
    package func syncDirectory(of path: String) throws(StoreError) {}
    package func now() -> UInt64 { 1_000_000_000 }
    package func processID() -> Int32 { 1 }

    package func random() -> UInt64 {
        state.withLock { state in
            state.random = state.random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state.random ^ (state.random >> 29)
        }
    }
}

private final class SimulatedFile: StoreFile {
    let identity: FileIdentity
    private let files: SimulatedFileSystem

    init(_ files: SimulatedFileSystem, _ identity: FileIdentity) {
        self.files = files
        self.identity = identity
    }

    func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        files.state.withLock { state in
            guard byteOffset < UInt64(state.bytes.count) else { return 0 }
            let start = Int(byteOffset)
            let part = Array(state.bytes[start..<min(start + buffer.count, state.bytes.count)])
            part.withView { buffer.copy($0, to: 0) }
            return part.count
        }
    }

    func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        let content = bytes.array()
        files.state.withLock { state in
            MediumImage.store(content, at: Int(byteOffset), in: &state.bytes)
            state.effects.append(.write(start: Int(byteOffset), bytes: content))
        }
    }

    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        let content = bytes.array()
        files.state.withLock { state in
            MediumImage.store(content, at: Int(byteOffset), in: &state.bytes)
            state.effects.append(.durableWrite(start: Int(byteOffset), bytes: content))
        }
    }

    func sync() throws(StoreError) { files.state.withLock { $0.effects.append(.sync) } }

    func truncate(to sizeInBytes: UInt64) throws(StoreError) {
        files.state.withLock { state in
            MediumImage.resize(&state.bytes, to: Int(sizeInBytes))
            state.effects.append(.truncate(count: Int(sizeInBytes)))
        }
    }

    func size() throws(StoreError) -> UInt64 {
        files.state.withLock { UInt64($0.bytes.count) }
    }

    func lockWriter() throws(StoreError) -> Bool { true }
    func isLockedByWriter() throws(StoreError) -> Bool { false }
    func close() {}
}

/// What a medium can hold after a power cut: what was durable, and any part of what was not.
package struct MediumImage {
    /// What is on the medium for certain.
    package private(set) var durable: [UInt8] = []
    /// What may be, in the order of the calls.
    package private(set) var pending: [(start: Int, bytes: [UInt8])] = []

    package init() {}

    /// Takes the next effect over as completed.
    package mutating func complete(_ effect: SimulatedFileSystem.Effect) {
        switch effect {
        case .write(let start, let bytes): pending.append((start, bytes))
        case .durableWrite(let start, let bytes): Self.store(bytes, at: start, in: &durable)
        case .truncate(let count): Self.resize(&durable, to: count)
        case .sync:
            for write in pending { Self.store(write.bytes, at: write.start, in: &durable) }
            pending = []
        }
    }

    /// The images that a cut now can leave. `running` is a write that the cut interrupts; it too
    /// may be there, not be there, or be torn between sectors.
    package func images(
        running: (start: Int, bytes: [UInt8])?, random: inout UInt64
    ) -> [[UInt8]] {
        let writes = pending + (running.map { [$0] } ?? [])
        var images = [durable]
        guard !writes.isEmpty else { return images }
        func next(_ limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % limit
        }
        func image(_ isKept: (Int) -> Bool) -> [UInt8] {
            var bytes = durable
            for (index, write) in writes.enumerated() where isKept(index) {
                Self.store(write.bytes, at: write.start, in: &bytes)
            }
            return bytes
        }
        for count in 1...writes.count { images.append(image { $0 < count }) }
        for omitted in writes.indices.dropLast() { images.append(image { $0 != omitted }) }
        for _ in 0..<min(8, writes.count * 2) {
            let mask = next(1 << 30)
            images.append(image { mask >> ($0 % 30) & 1 == 1 })
        }
        for _ in 0..<4 {
            let torn = next(writes.count)
            var bytes = image { $0 < torn }
            let sectors = (writes[torn].bytes.count + 511) / 512
            for sector in 0..<sectors where next(2) == 0 {
                let part = writes[torn].bytes.dropFirst(sector * 512).prefix(512)
                Self.store(Array(part), at: writes[torn].start + sector * 512, in: &bytes)
            }
            images.append(bytes)
        }
        return images
    }

    package static func store(_ source: [UInt8], at start: Int, in target: inout [UInt8]) {
        if target.count < start + source.count { resize(&target, to: start + source.count) }
        target.replaceSubrange(start..<(start + source.count), with: source)
    }

    package static func resize(_ bytes: inout [UInt8], to count: Int) {
        if bytes.count > count {
            bytes.removeLast(bytes.count - count)
        } else {
            bytes.append(contentsOf: repeatElement(0, count: count - bytes.count))
        }
    }
}
