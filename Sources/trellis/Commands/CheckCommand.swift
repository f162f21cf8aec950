import ArgumentParser
import PageStore
import RecordStore

/// `trellis check`: compares everything with everything.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Reads the whole file and reports whatever contradicts the format.",
        discussion: "Exit code 1 when anything is found.")

    @OptionGroup var store: StoreOptions

    func run() throws {
        let findings: [Finding]
        do throws(StoreError) {
            findings = try examine()
        } catch {
            // Whether another process has the store, or there is none, is not a matter of its
            // bytes.
            guard [.corrupt, .truncated, .newerFormat, .notAStore].contains(error.code) else {
                throw Console.failure(error)
            }
            findings = [Finding(error)]
        }
        report(findings)
        if !findings.isEmpty { throw ExitCode(1) }
    }

    private func examine() throws(StoreError) -> [Finding] {
        let engine = try store.openEngine()
        defer { try? engine.close() }
        return engine.damage.map { Finding($0) } + check(engine)
    }

    /// Checks the pages, and the records where the catalog can be read.
    private func check(_ engine: Engine) -> [Finding] {
        var findings: [Finding] = []
        do throws(StoreError) {
            let snapshot = try engine.snapshot()
            var known: [TreeID]?
            switch knownTrees(of: snapshot) {
            case .success(let trees): known = trees
            case .failure(let error): findings.append(Finding(error))
            }
            findings += StoreCheck.run(snapshot, knownTrees: known)
            if snapshot.catalogRoot != nil {
                findings += try RecordDatabase.openReadOnly(engine).snapshot().check()
            }
        } catch {
            findings.append(Finding(error))
        }
        return findings.uniqued()
    }

    private func knownTrees(of snapshot: Snapshot) -> Result<[TreeID], StoreError> {
        Result { () throws(StoreError) in
            guard let catalog = try CatalogView(snapshot) else { return [] }
            return try catalog.trees().map(\.tree)
        }
    }

    private func report(_ findings: [Finding]) {
        if store.json {
            Console.print(
                .object([
                    (name: "file", value: .string(store.file)),
                    (name: "findings", value: .array(findings.map(Console.json))),
                ]))
            return
        }
        for finding in findings { print(finding) }
        switch findings.count {
        case 0: print("nothing wrong was found")
        case 1: print("1 finding")
        case let count: print("\(count) findings")
        }
    }
}

extension [Finding] {
    /// In the first order of each: a page that several paths meet is reported once.
    fileprivate func uniqued() -> [Finding] {
        var seen: Set<Finding> = []
        return filter { seen.insert($0).inserted }
    }
}
