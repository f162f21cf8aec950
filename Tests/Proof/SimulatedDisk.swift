import PageStore
import Primitives

import struct Synchronization.Atomic

/// A medium and its folder: the content of files, and the names that refer to them.
package struct DiskImage {
    package var files: [Int: [UInt8]] = [:]
    package var names: [String: Int] = [:]

    package init() {}

    package func bytes(of path: String) -> [UInt8]? { names[path].flatMap { files[$0] } }

    static func store(_ source: ArraySlice<UInt8>, at start: Int, in target: inout [UInt8]) {
        let end = start + source.count
        if target.count < end {
            target += [UInt8](repeating: 0, count: end - target.count)
        }
        target.replaceSubrange(start..<end, with: source)
    }

    package mutating func apply(_ effect: DiskEffect) {
        switch effect {
        case .create(let path, let file):
            names[path] = file
            if files[file] == nil { files[file] = [] }
        case .write(let file, let start, let bytes), .durableWrite(let file, let start, let bytes):
            Self.store(bytes[...], at: start, in: &files[file, default: []])
        case .truncate(let file, let count):
            let size = files[file]?.count ?? 0
            if size > count {
                files[file]?.removeLast(size - count)
            } else {
                files[file, default: []] += [UInt8](repeating: 0, count: count - size)
            }
        case .link(let path, let file): names[path] = file
        case .unlink(let path): names[path] = nil
        case .sync, .forget, .syncFolder: break
        }
    }
}

/// One call that changes the content of a medium or makes changes durable.
package enum DiskEffect {
    case create(path: String, file: Int)
    /// In the system's cache until the next sync of the file.
    case write(file: Int, start: Int, bytes: [UInt8])
    /// The bytes are on the medium when the call has returned.
    case durableWrite(file: Int, start: Int, bytes: [UInt8])
    case truncate(file: Int, count: Int)
    case sync(file: Int)
    /// A failed sync after which the system calls pages clean that are not on the medium.
    case forget(file: Int)
    case link(path: String, file: Int)
    case unlink(path: String)
    case syncFolder

    var file: Int? {
        switch self {
        case .write(let file, _, _), .durableWrite(let file, _, _), .truncate(let file, _),
            .sync(let file), .forget(let file):
            file
        case .create, .link, .unlink, .syncFolder: nil
        }
    }

    package var isFolderChange: Bool {
        switch self {
        case .create, .link, .unlink: true
        default: false
        }
    }

    package var name: String {
        switch self {
        case .create: "create"
        case .write(_, let start, let bytes): "write of \(bytes.count) at \(start)"
        case .durableWrite(_, let start, let bytes): "durable write of \(bytes.count) at \(start)"
        case .truncate(_, let count): "truncate to \(count)"
        case .sync: "sync"
        case .forget: "sync that forgets"
        case .link: "link"
        case .unlink: "unlink"
        case .syncFolder: "sync of the folder"
        }
    }
}

/// Files in memory that can write down every effect on their medium, so that the medium can be
/// built as a power cut at any moment could have left it.
package final class SimulatedDisk: FileSystem {
    struct State {
        var image: DiskImage
        var effects: [DiskEffect] = []
        var nextFile: Int
        var random: UInt64
        var records: Bool
    }

    private static let nextDevice = Atomic<UInt64>(1 << 61)

    let state: Mutex<State>
    /// The weave whose strands meet at the calls.
    private let weave: Weave?
    private let device = nextDevice.wrappingAdd(1, ordering: .relaxed).oldValue

    /// - Parameter seed: what salts and identities are made from, so that a run can be repeated.
    package init(
        _ image: DiskImage = DiskImage(), seed: UInt64, records: Bool = false, weave: Weave? = nil
    ) {
        self.weave = weave
        let nextFile = (image.files.keys.max() ?? 0) + 1
        state = Mutex(
            State(image: image, nextFile: nextFile, random: seed, records: records))
    }

    package var image: DiskImage { state.withLock { $0.image } }
    package var effects: [DiskEffect] { state.withLock { $0.effects } }
    package var effectCount: Int { state.withLock { $0.effects.count } }

    /// Unsynchronised writes of the file never reach its medium.
    package func forget(_ identity: FileIdentity) { perform(.forget(file: Int(identity.inode))) }

    func meetBeforeReading() { weave?.meet(.file) }

    func perform(_ effect: DiskEffect) {
        weave?.meetAtChange()
        state.withLock { state in
            state.image.apply(effect)
            if state.records { state.effects.append(effect) }
        }
    }

    package func open(_ path: String, _ mode: FileMode) throws(StoreError) -> any StoreFile {
        let found: Int? = try state.withLock { state throws(StoreError) in
            if let file = state.image.names[path] {
                guard case .createNew = mode else { return file }
                throw StoreError(.invalidArgument, "there is a file of that name", path: path)
            }
            switch mode {
            case .readOnly, .readWrite: return nil
            case .create, .createNew: break
            }
            let effect = DiskEffect.create(path: path, file: state.nextFile)
            state.image.apply(effect)
            if state.records { state.effects.append(effect) }
            state.nextFile += 1
            return state.nextFile - 1
        }
        guard let found else { throw StoreError(.notFound, "there is no such file", path: path) }
        return SimulatedDiskFile(self, found, identity(of: found))
    }

    private func identity(of file: Int) -> FileIdentity {
        FileIdentity(device: device, inode: UInt64(file))
    }

    package func identity(_ path: String) throws(StoreError) -> FileIdentity? {
        state.withLock { $0.image.names[path] }.map(identity(of:))
    }

    package func rename(_ path: String, to newPath: String) throws(StoreError) {
        let file = state.withLock { $0.image.names[path] }
        guard let file else { throw StoreError(.notFound, "there is no such file", path: path) }
        perform(.link(path: newPath, file: file))
        perform(.unlink(path: path))
    }

    package func replace(_ path: String, with newPath: String) throws(StoreError) {
        let file = state.withLock { $0.image.names[newPath] }
        guard let file else { throw StoreError(.notFound, "there is no such file", path: newPath) }
        perform(.link(path: path, file: file))
        perform(.unlink(path: newPath))
    }

    package func unlink(_ path: String) throws(StoreError) { perform(.unlink(path: path)) }
    package func syncDirectory(of path: String) throws(StoreError) { perform(.syncFolder) }
    package func now() -> UInt64 { 1_000_000_000 }
    package func processID() -> Int32 { 1 }

    package func random() -> UInt64 {
        state.withLock { state in
            state.random &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state.random
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}

private final class SimulatedDiskFile: StoreFile {
    let identity: FileIdentity
    private let disk: SimulatedDisk
    private let file: Int

    init(_ disk: SimulatedDisk, _ file: Int, _ identity: FileIdentity) {
        self.disk = disk
        self.file = file
        self.identity = identity
    }

    func read(into buffer: ReadBuffer, at byteOffset: UInt64) throws(StoreError) -> Int {
        disk.meetBeforeReading()
        return disk.state.withLock { state in
            guard let bytes = state.image.files[file], byteOffset < UInt64(bytes.count) else {
                return 0
            }
            let count = min(buffer.count, bytes.count - Int(byteOffset))
            bytes.withView { view in
                buffer.copy(view.slice(from: Int(byteOffset), count: count), to: 0)
            }
            return count
        }
    }

    func write(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        disk.perform(.write(file: file, start: Int(byteOffset), bytes: bytes.array()))
    }

    func writeDurably(_ bytes: ByteView, at byteOffset: UInt64) throws(StoreError) {
        disk.perform(.durableWrite(file: file, start: Int(byteOffset), bytes: bytes.array()))
    }

    func sync() throws(StoreError) { disk.perform(.sync(file: file)) }

    func truncate(to sizeInBytes: UInt64) throws(StoreError) {
        disk.perform(.truncate(file: file, count: Int(sizeInBytes)))
    }

    func size() throws(StoreError) -> UInt64 {
        disk.state.withLock { UInt64($0.image.files[file]?.count ?? 0) }
    }

    func close() {}
}
