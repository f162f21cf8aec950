/// Keys and names of trees are compared by their bytes. `hasPrefix` and `count` are of characters,
/// and a name that begins with a combining mark is one character with the slash before it.
extension String {
    /// Unlike `==`, which takes composed and decomposed letters for equal.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// What follows a prefix; nil without the prefix.
    func withoutBytePrefix(_ prefix: String) -> String? {
        hasBytePrefix(prefix)
            ? String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self) : nil
    }
}
