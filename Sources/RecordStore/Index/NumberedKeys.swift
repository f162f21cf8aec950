import PageStore

extension KeyShape {
    /// Keys of indexes and of links end with the number of an object.
    static let numbered = KeyShape(suffixSizeInBytes: 8)
}

extension SuffixRun {
    /// The object whose number is the suffix of a key.
    func number(_ index: Int) -> ObjectNumber {
        ObjectNumber(self[index].bigEndianUInt64(at: 0))
    }
}
