import Foundation
import Proof

/// One call of the traced program, as recorded by `Tests/DiskShim/shim.c`.
struct DiskEvent {
    enum Kind: UInt32 {
        case open = 1
        case read, write, sync, truncate, link, rename, unlink, syncFolder, note, stat
        case lock, seek, map, unknown
    }

    var kind: Kind
    /// Whether the shim made the call fail, or do only a part.
    var isFaulted = false
    /// Whether the call succeeded and then reported a failure.
    var failedAfterwards = false
    /// The flags with which the descriptor was opened.
    var flags: UInt32
    /// The result of the call, or the error code as a negative number.
    var result: Int64
    /// The file's number in the system.
    var file: UInt64
    /// The offset of a read or write, the new size, or 1 for an `open` that created the file.
    var offset: UInt64
    var process: UInt32
    /// The function's name, without the `64` of its twin.
    var call: String
    var path: String
    var data: ArraySlice<UInt8>

    var hasFailed: Bool { result < 0 }
    /// Whether a write is on the medium when its call returns.
    var isDurableWrite: Bool { flags & DiskTrace.durableFlag == DiskTrace.durableFlag }
    /// Whether a cut before this call and one after it may leave different bytes.
    var changesMedium: Bool {
        switch kind {
        case .write: !data.isEmpty
        case .open: offset == 1 && !hasFailed
        case .truncate, .link, .rename, .unlink, .sync, .syncFolder: true
        case .read, .note, .stat, .lock, .seek, .map, .unknown: false
        }
    }
    var text: String { String(decoding: data, as: UTF8.self) }
    var description: String {
        switch kind {
        case .write:
            "\(isDurableWrite ? "durable " : "")\(call) of \(data.count) bytes at \(offset)"
        case .truncate: "\(call) to \(offset)"
        default: path.isEmpty ? call : "\(call) of \(path)"
        }
    }
}

/// Every call of a program and of its child processes, in order.
struct DiskTrace {
    /// `O_DSYNC`.
    static let durableFlag = UInt32(bitPattern: O_DSYNC)

    let events: [DiskEvent]

    /// Throws unless the file is a whole trace.
    init(contentsOf url: URL) throws {
        guard let bytes = try? Data(contentsOf: url), !bytes.isEmpty else {
            throw ProofFailure(
                "no call was recorded: the program is static, or the shim was not loaded")
        }
        events = try Self.decoded([UInt8](bytes))
    }

    private static func decoded(_ bytes: [UInt8]) throws -> [DiskEvent] {
        var events: [DiskEvent] = []
        var position = 0
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            (0..<count).reduce(0) { $0 | UInt64(bytes[position + offset + $1]) << (8 * $1) }
        }
        while position < bytes.count {
            guard bytes.count - position >= 48 else { throw ProofFailure("the trace is cut off") }
            let lengths = [36, 40, 44].map { Int(number($0, 4)) }
            let end = position + 48 + lengths.reduce(0, +)
            let marks = UInt32(number(0, 4))
            guard let kind = DiskEvent.Kind(rawValue: marks & 0xFF), end <= bytes.count
            else { throw ProofFailure("the trace has an event of no kind at \(position)") }
            let callEnd = position + 48 + lengths[0]
            let pathEnd = callEnd + lengths[1]
            var call = String(decoding: bytes[position + 48..<callEnd], as: UTF8.self)
            if call.hasSuffix("64") { call.removeLast(2) }
            events.append(
                DiskEvent(
                    kind: kind, isFaulted: marks & 0x100 != 0,
                    failedAfterwards: marks & 0x200 != 0, flags: UInt32(number(4, 4)),
                    result: Int64(bitPattern: number(8, 8)), file: number(16, 8),
                    offset: number(24, 8), process: UInt32(number(32, 4)), call: call,
                    path: String(decoding: bytes[callEnd..<pathEnd], as: UTF8.self),
                    data: bytes[pathEnd..<end]))
            position = end
        }
        return events
    }

    /// Throws when a call was made for which the judge has no rule.
    func requireKnownCalls() throws {
        guard let stranger = events.first(where: { $0.kind == .unknown }) else { return }
        throw ProofFailure("the judge has no rule for \(stranger.call) \(stranger.path)")
    }

    /// Whether a file was truncated where it had been written: a new file is truncated only at its
    /// beginning.
    private var hasCut: Bool {
        var sizes: [UInt64: UInt64] = [:]
        for event in events where !event.hasFailed {
            switch event.kind {
            case .write:
                let end = event.offset + UInt64(event.data.count)
                sizes[event.file] = max(sizes[event.file] ?? 0, end)
            case .truncate:
                if event.offset > 0, event.offset < sizes[event.file] ?? 0 { return true }
                sizes[event.file] = event.offset
            default: break
            }
        }
        return false
    }

    /// Throws unless every call that the proof depends on was recorded: a call that is no longer
    /// recorded is not proved.
    func requireCalls(_ names: [String]) throws {
        var seen = Set(events.map(\.call))
        for event in events {
            if event.kind == .write, event.isDurableWrite { seen.insert("durable pwrite") }
            if event.kind == .syncFolder { seen.insert("fsync of the folder") }
        }
        if hasCut { seen.insert("ftruncate that cuts") }
        let missing = names.filter { !seen.contains($0) }
        guard missing.isEmpty else {
            throw ProofFailure(
                "never seen: \(missing.joined(separator: ", ")); the program is static, the shim "
                    + "was not loaded, or the engine calls something else")
        }
    }
}
