import PageStore

/// What `trellis check` says of a migration that has not come to its end: spec/07-catalog.md, 7.6.
/// The pages of its trees are checked as all pages are.
struct MigrationCheck {
    private let catalog: Catalog
    private let view: PageView

    static func run(_ reader: RecordReader) -> [Finding] {
        do throws(StoreError) {
            return try MigrationCheck(catalog: reader.catalog, view: reader.view).findings()
        } catch {
            return [Finding(error)]
        }
    }

    private func findings() throws(StoreError) -> [Finding] {
        let phase = try catalog.migration(view)?.phase
        var findings: [Finding] = []
        for (prefix, expected) in [
            (MigrationShadow.prefix, MigrationState.Phase.copying),
            (ReplacedTrees.prefix, .dropping),
        ] where phase != expected {
            for key in try catalog.keys(beginning: prefix, of: view) {
                findings.append(
                    Finding(.corrupt, "\(prefix)\(key) is there without its migration"))
            }
        }
        guard phase == .copying else { return findings }
        let shadow = try MigrationShadow.open(beside: catalog, in: view)
        // The schema of a step on the way to the later model.
        _ = try shadow.catalog.resolvedSchema(view)
        return findings
    }
}
