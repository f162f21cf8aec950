import PageStore

/// The result of a salvage: recovered objects, and losses by tree and key.
package struct SalvageReport: Sendable {
    /// A part that the new store lacks, or that may be older than the lost version.
    package struct Loss: Hashable, Sendable {
        /// The tree's name as `trellis tree` lists it.
        package var tree: String
        /// The part of the tree, in words: numbers of objects, or the property of one.
        package var what: String
        /// The objects concerned, if there are any.
        package var numbers: ClosedRange<UInt64>?
    }

    package static let lossCountMax = 10_000

    /// Objects in the new store by entity.
    package internal(set) var objects: [(entity: String, count: Int)] = []
    /// Links between two to-many sides in the new store, by relationship.
    package internal(set) var links: [(relationship: String, count: Int)] = []
    package internal(set) var losses: [Loss] = []
    /// Whether more was lost than is listed.
    package internal(set) var hasMoreLosses = false
    /// Valid extents, and pages of which some version was found.
    package internal(set) var extentCount = 0
    package internal(set) var pageCount = 0
    package internal(set) var commitNumber: UInt64 = 0
    package internal(set) var unreadableBytes: UInt64 = 0
    /// Whether checksums were compared; impossible if every copy of the UUID is lost.
    package internal(set) var isVerified = true
    /// Whether map and log were readable; otherwise deleted objects may have reappeared.
    package internal(set) var isComplete = true

    mutating func lose(_ tree: String, _ what: String, _ numbers: ClosedRange<UInt64>? = nil) {
        guard losses.count < Self.lossCountMax else {
            hasMoreLosses = true
            return
        }
        losses.append(Loss(tree: tree, what: what, numbers: numbers))
    }
}
