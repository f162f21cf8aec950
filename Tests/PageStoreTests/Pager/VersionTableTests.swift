import TestSupport
import Testing

@testable import PageStore

/// The table is tested through the generation that contains it.
@Suite struct VersionTableTests {
    /// The commits of all versions of each page, the oldest first, none of them pruned.
    private typealias Model = [PageID: [UInt64]]

    private func generation() -> Generation {
        Generation(number: 1, checkpointCommit: 0, map: PageMap(pageSizeInBytes: 512))
    }

    private func image(_ id: PageID, _ commit: UInt64) -> PageVersion {
        let page = PageBuffer(id: id, count: 512)
        page.setUInt64(commit, at: 0)
        return PageVersion(
            commit: commit, content: .image(page),
            chain: DeltaChain(count: Int(commit % 65), sizeInBytes: Int(commit % 32_769)))
    }

    private func expectVersions(
        _ generation: Generation, _ model: Model, at commit: UInt64, after first: UInt64 = 0
    ) {
        for (id, commits) in model {
            let found = generation.version(of: id, upTo: commit)
            #expect(found?.commit == commits.last { $0 <= commit && $0 > first })
            guard let found, case .image(let page) = found.content else { continue }
            #expect(page.uint64(at: 0) == found.commit && page.id == id)
        }
    }

    @Test func `visible commits are found in any order`() {
        var random = SeededRandom(for: "VersionTableTests visible")
        for _ in 0..<2000 {
            let numbers = (0..<random.below(12)).map { _ in UInt64(random.below(20)) }
            let (first, end) = (UInt64(random.below(21)), UInt64(random.below(21)))
            #expect(
                VisibleCommits(numbers).contains(from: first, until: end)
                    == numbers.contains { $0 >= first && $0 < end },
                "\(numbers) from \(first) until \(end), seed \(random.seed)")
        }
    }

    private func expectCounts(_ generation: Generation, _ model: Model) {
        var bytes = 0
        generation.versions.visit { bytes += $0.imageSizeInBytes }
        #expect(generation.imageBytes == bytes)
        #expect(Set(generation.versions.ids) == Set(model.keys))
        for (id, version) in generation.versions.newest {
            #expect(version.commit == model[id]?.last)
            let chain = generation.chain(of: id)
            #expect(chain.count == Int(version.commit % 65))
            #expect(chain.sizeInBytes == Int(version.commit % 32_769))
        }
    }

    @Test func `a pinned commit keeps its versions while others are pruned`() {
        var random = SeededRandom(for: "VersionTableTests")
        let generation = generation()
        var model: Model = [:]
        var pinned: [UInt64] = []
        for commit in 1...400 as ClosedRange<UInt64> {
            // The next reader sees the last published commit.
            let shown = generation.shown(besides: [commit - 1])
            for _ in 0..<random.below(12) {
                let id = PageID(UInt64(1 + random.below(90)))
                guard model[id]?.last != commit else { continue }
                generation.append(image(id, commit), of: id, keeping: shown)
                model[id, default: []].append(commit)
            }
            if random.below(3) == 0 {
                generation.pin(commit)
                pinned.append(commit)
            }
            if pinned.count > 6 {
                generation.unpin(pinned.remove(at: random.below(pinned.count)))
            }
            if random.below(20) == 0 {
                generation.trim(keeping: generation.shown(besides: [commit]))
            }
            for seen in pinned + [commit] { expectVersions(generation, model, at: seen) }
            expectCounts(generation, model)
        }
    }

    @Test func `after a checkpoint the version table keeps only later commits`() {
        var random = SeededRandom(for: "VersionTableTests.behind")
        let generation = generation()
        var model: Model = [:]
        for commit in 1...60 as ClosedRange<UInt64> {
            generation.pin(commit)
            let shown = generation.shown(besides: [0])
            for id in (1...40).map({ PageID(UInt64($0)) }) where random.below(4) == 0 {
                generation.append(image(id, commit), of: id, keeping: shown)
                model[id, default: []].append(commit)
            }
        }
        let later = Generation(
            number: 2, checkpointCommit: 30, map: generation.map, after: generation)
        for commit in 31...60 as ClosedRange<UInt64> {
            expectVersions(later, model, at: commit, after: 30)
            expectVersions(generation, model, at: commit)
        }
        expectCounts(later, model.filter { $0.value.last ?? 0 > 30 })
        #expect(later.version(of: PageID(1), upTo: 30) == nil)
    }

    @Test func `without pinned commits one version of each page is left`() {
        let generation = generation()
        let all = VisibleCommits(Array(0...9))
        for commit in 1...9 as ClosedRange<UInt64> {
            for id in 1...20 as ClosedRange<UInt64> {
                generation.append(image(PageID(id), commit), of: PageID(id), keeping: all)
            }
        }
        #expect(generation.imageBytes == 20 * 9 * 512)
        generation.trim(keeping: VisibleCommits([9]))
        #expect(generation.imageBytes == 20 * 512)
        #expect(generation.version(of: PageID(3), upTo: 8) == nil)
        #expect(generation.version(of: PageID(3), upTo: 9)?.commit == 9)
    }
}
