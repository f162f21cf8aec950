import PageStore
import TestSupport

/// The possible content of a medium after a power cut: the durable changes, in the order of the
/// calls, and any part of the others.
///
/// A call is *certain* when a later sync, or its own, has made it durable. A write that was made
/// through to the medium stays among the uncertain ones before it in its order: an older write
/// that reaches the medium late does not undo it, because both went through the same cache.
package struct PowerCut {
    /// An image and its description for the trace.
    package typealias Image = (disk: DiskImage, name: String)

    private var durable: DiskImage
    private var open: [(effect: DiskEffect, isCertain: Bool)] = []
    private var garbageTurn = 0
    private var random: SeededRandom

    package init(_ start: DiskImage, seed: UInt64) {
        durable = start
        random = SeededRandom(seed: seed)
    }

    /// Records the next effect as completed.
    package mutating func complete(_ effect: DiskEffect) {
        switch effect {
        case .sync(let file): settle { $0.file == file }
        case .syncFolder: settle { $0.isFolderChange }
        case .durableWrite: open.append((effect, true))
        case .forget(let file): open.removeAll { !$0.isCertain && $0.effect.file == file }
        default: open.append((effect, false))
        }
        // Effects that no uncertain one precedes are settled.
        let settled = open.firstIndex { !$0.isCertain } ?? open.count
        for entry in open.prefix(settled) { durable.apply(entry.effect) }
        open.removeFirst(settled)
    }

    /// The process died inside a call: its write is visible, and may not be durable.
    package mutating func interrupt(_ running: DiskEffect) {
        if running.changesMedium { open.append((running, false)) }
    }

    /// The content that programs see while the power is on.
    package var visible: DiskImage { image(open) { _ in true } }

    private mutating func settle(_ isSettled: (DiskEffect) -> Bool) {
        for index in open.indices where isSettled(open[index].effect) {
            open[index].isCertain = true
        }
    }

    /// Calls `body` with each image that a cut now can leave. `running` is the call that the cut
    /// interrupts: it too may be there, be absent or be torn.
    package mutating func forEachImage(
        running: DiskEffect?, _ body: (Image) throws -> Void
    ) rethrows {
        var entries = open
        if let running, running.changesMedium { entries.append((running, false)) }
        let questions = entries.indices.filter { !entries[$0].isCertain }
        try body((image(entries) { _ in false }, "none"))
        guard !questions.isEmpty else { return }
        if questions.count <= 6 {
            for mask in 1..<(1 << questions.count) {
                let kept = Set(
                    questions.enumerated().filter { mask >> $0.offset & 1 == 1 }
                        .map(\.element))
                try body((image(entries) { kept.contains($0) }, "subset \(mask)"))
            }
        } else {
            try subsets(entries, questions, body)
        }
        if let running, let last = questions.last, last == entries.count - 1 {
            try tears(entries, last, of: running, isExhaustive: true, body)
        }
        for _ in 0..<min(2, questions.count) {
            let torn = questions[random.below(questions.count)]
            try tears(entries, torn, of: entries[torn].effect, isExhaustive: false, body)
        }
    }

    private func image(
        _ entries: [(effect: DiskEffect, isCertain: Bool)], _ isKept: (Int) -> Bool
    ) -> DiskImage {
        var disk = durable
        for (index, entry) in entries.enumerated() where entry.isCertain || isKept(index) {
            disk.apply(entry.effect)
        }
        return disk
    }

    private mutating func subsets(
        _ entries: [(effect: DiskEffect, isCertain: Bool)], _ questions: [Int],
        _ body: (Image) throws -> Void
    ) rethrows {
        for end in questions {
            try body((image(entries) { $0 <= end }, "up to call \(end)"))
            try body((image(entries) { $0 != end }, "all but call \(end)"))
            try body((image(entries) { $0 == end }, "only call \(end)"))
        }
        for round in 0..<24 {
            let kept = Set(questions.filter { _ in random.below(2) == 0 })
            try body((image(entries) { kept.contains($0) }, "random subset \(round)"))
        }
    }

    /// Partial states of a write: cut at each sector, in its first one, one byte short, with a
    /// sector of garbage, and with the file grown but empty.
    private mutating func tears(
        _ entries: [(effect: DiskEffect, isCertain: Bool)], _ torn: Int, of effect: DiskEffect,
        isExhaustive: Bool, _ body: (Image) throws -> Void
    ) rethrows {
        let (file, start, bytes): (Int, Int, [UInt8])
        switch effect {
        case .write(let f, let s, let b), .durableWrite(let f, let s, let b):
            (file, start, bytes) = (f, s, b)
        default: return
        }
        // With all other calls done, or with a random part of the earlier ones.
        let others = isExhaustive || random.below(2) == 0
        func disk(_ write: (inout [UInt8]) -> Void) -> DiskImage {
            var disk = durable
            for (index, entry) in entries.enumerated() {
                if index == torn {
                    write(&disk.files[file, default: []])
                } else if entry.isCertain || others {
                    disk.apply(entry.effect)
                }
            }
            return disk
        }
        var cuts = Array(stride(from: 512, to: bytes.count, by: 512))
        let limit = isExhaustive ? 16 : 3
        while cuts.count > limit { cuts.remove(at: random.below(cuts.count)) }
        let within = 8 * random.below(64)
        for cut in [1, within, bytes.count - 1] + cuts where cut > 0 && cut < bytes.count {
            try body(
                (disk { DiskImage.store(bytes[..<cut], at: start, in: &$0) }, "torn at \(cut)"))
        }
        for cut in [0] + cuts {
            let garbage = garbage(min(512, bytes.count - cut))
            let image = disk {
                DiskImage.store(bytes[..<cut], at: start, in: &$0)
                DiskImage.store(garbage[...], at: start + cut, in: &$0)
            }
            try body((image, "garbage at \(cut)"))
        }
        let lost = [UInt8](repeating: 0, count: bytes.count)
        if start + bytes.count > (durable.files[file]?.count ?? 0) {
            let grown = disk { DiskImage.store(lost[...], at: start, in: &$0) }
            try body((grown, "size without data"))
        }
        let scattered = disk { target in
            for sector in stride(from: 0, to: bytes.count, by: 512) where random.below(2) == 0 {
                let part = bytes[sector..<min(sector + 512, bytes.count)]
                DiskImage.store(part, at: start + sector, in: &target)
            }
        }
        try body((scattered, "some sectors"))
    }

    private mutating func garbage(_ count: Int) -> [UInt8] {
        garbageTurn += 1
        switch garbageTurn % 3 {
        case 0: return [UInt8](repeating: 0, count: count)
        case 1: return [UInt8](repeating: 0xFF, count: count)
        default: return random.bytes(count)
        }
    }
}

extension DiskEffect {
    fileprivate var changesMedium: Bool {
        switch self {
        case .sync, .forget, .syncFolder: false
        default: true
        }
    }
}
