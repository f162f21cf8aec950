import Foundation
import PageStore
import Testing

@testable import RecordStore

/// Changes the trees of a closed store below the object graph, in one commit with right hashes.
func editTrees(
    of url: URL, _ edit: (WriteTransaction, Catalog) throws -> Void
) throws {
    let engine = try Engine.open(path: url.path)
    let transaction = try engine.beginWrite()
    try edit(transaction, try #require(try Catalog.open(transaction)))
    _ = try transaction.commit()
    try engine.close()
}
