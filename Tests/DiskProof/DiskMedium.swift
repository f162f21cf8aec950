import Foundation
import Proof
import TestSupport

/// The possible content of a folder on the medium: each file, and the names that refer to files.
///
/// Names change in the order of the calls, but any of the changes may be missing until the folder
/// is synchronised; a rename is there whole or not at all.
struct DiskMedium {
    /// Files by their names.
    typealias Image = [String: [UInt8]]
    typealias Choice = DiskFile.Choice

    private enum NameChange {
        case link(String, Int)
        case unlink(String)
        case rename(String, String)
    }

    private var files: [Int: DiskFile] = [:]
    /// The system reuses the number of a deleted file.
    private var numbers: [UInt64: Int] = [:]
    private var certainNames: [String: Int] = [:]
    private var changes: [(time: Int, change: NameChange)] = []
    private var names: [String: Int] = [:]

    /// - Parameter image: what lies on the medium when the trace begins.
    init(_ image: Image = [:]) {
        for (name, bytes) in image {
            names[name] = files.count
            files[files.count] = DiskFile(bytes)
        }
        certainNames = names
    }

    // MARK: Calls

    /// The call has begun: its changes may or may not be on the medium.
    mutating func begin(_ event: DiskEvent, _ time: Int) throws {
        guard !event.hasFailed else { return }
        switch event.kind {
        case .open: try open(event, time)
        case .write:
            try file(event) { $0.write(event.data, at: Int(event.offset), time: time) }
        case .truncate: try file(event) { $0.truncate(to: Int(event.offset), time: time) }
        case .link:
            guard let file = names[event.path] else { throw Self.stranger(event) }
            change(.link(event.text, file), time)
        case .unlink: change(.unlink(event.path), time)
        case .rename: change(.rename(event.path, event.text), time)
        default: break
        }
    }

    /// The call has returned.
    mutating func complete(_ event: DiskEvent, _ time: Int) throws {
        switch event.kind {
        case .write:
            guard !event.hasFailed, event.isDurableWrite else { return }
            let (count, offset) = (event.data.count, Int(event.offset))
            try file(event) { file in
                if event.failedAfterwards {
                    file.failWrite(count, at: offset, time: time)
                } else {
                    file.settle(count, at: offset)
                }
            }
        case .sync:
            // An interrupted call has not failed: it is repeated.
            guard event.result != -Int64(EINTR) else { return }
            try file(event) { event.hasFailed ? $0.failSync(time: time) : $0.sync() }
        case .syncFolder:
            guard !event.hasFailed else { return }
            certainNames = names
            changes = []
        default: break
        }
    }

    private mutating func open(_ event: DiskEvent, _ time: Int) throws {
        if event.offset == 1 {
            numbers[event.file] = files.count
            change(.link(event.path, files.count), time)
            files[files.count] = DiskFile()
        } else if let file = names[event.path] {
            numbers[event.file] = file
        } else if !event.path.isEmpty {
            throw Self.stranger(event)
        }
    }

    private mutating func file(
        _ event: DiskEvent, _ call: (inout DiskFile) -> Void
    ) throws {
        guard let number = numbers[event.file], files[number] != nil else {
            throw Self.stranger(event)
        }
        call(&files[number]!)
    }

    private static func stranger(_ event: DiskEvent) -> ProofFailure {
        ProofFailure("\(event.description): a file that the trace does not know")
    }

    private mutating func change(_ change: NameChange, _ time: Int) {
        changes.append((time, change))
        Self.apply(change, to: &names)
    }

    private static func apply(_ change: NameChange, to names: inout [String: Int]) {
        switch change {
        case .link(let name, let file): names[name] = file
        case .unlink(let name): names[name] = nil
        case .rename(let name, let newName):
            guard let file = names.removeValue(forKey: name) else { return }
            names[newName] = file
        }
    }

    // MARK: Cuts

    /// The content that programs see while the power is on.
    var visible: Image { names.compactMapValues { files[$0]?.visible } }

    /// Whether a cut could leave more than one image.
    var isSettled: Bool {
        changes.isEmpty && names.values.allSatisfy { files[$0]?.isSettled ?? true }
    }

    /// The times of uncertain changes.
    var times: [Int] {
        var times = Set(changes.map(\.time))
        for number in Set(names.values).union(certainNames.values) {
            times.formUnion(files[number]?.times ?? [])
        }
        return times.sorted()
    }

    /// An image that a cut can leave.
    func image(_ choice: Choice, _ random: inout SeededRandom) -> Image {
        var found = certainNames
        for (time, change) in changes where isKept(time, choice, &random) {
            Self.apply(change, to: &found)
        }
        var image: Image = [:]
        for (name, file) in found.sorted(by: { $0.key < $1.key }) {
            image[name] = files[file]?.bytes(choice, &random)
        }
        return image
    }

    private func isKept(_ time: Int, _ choice: Choice, _ random: inout SeededRandom) -> Bool {
        switch choice {
        case .none: false
        case .all: true
        case .before(let end): time < end
        case .without(let moment): time != moment
        case .only(let moment): time == moment
        case .sectors(let share): random.below(8) < share
        case .torn(let end, _), .scattered(let end):
            time < end || (time == end && random.below(2) == 0)
        }
    }
}
