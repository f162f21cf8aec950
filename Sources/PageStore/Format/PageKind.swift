/// The kind of a logical page: byte 0 of its image.
package enum PageKind: UInt8, Sendable, CaseIterable {
    case treeLeaf = 1
    case treeBranch = 2
    case overflow = 3
    case blobList = 4
    case blobChunk = 5
}
