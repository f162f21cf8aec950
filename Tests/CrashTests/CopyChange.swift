import PageStore
import Proof
import Testing

@testable import RecordStore

extension SimulatedDisk {
    /// Changes what an interrupted migration has copied, as if a pass of it had: it goes on from
    /// there.
    func changeCopy(
        _ options: Engine.Options, _ change: (WriteTransaction, Catalog) throws -> Void
    ) throws {
        let engine = try Engine.open(path: "store", options: options, files: self)
        let editor = try engine.beginWrite()
        let live = try #require(try Catalog.open(editor))
        try change(editor, MigrationShadow.open(beside: live, in: editor).catalog)
        var state = try #require(try live.migration(editor))
        state.commitNumber = editor.nextCommitNumber
        try live.setMigration(state, in: editor)
        try editor.commit()
        try engine.close()
    }
}
