extension StoreFile {
    /// Bytes of the file without its holes: the most that it can contain, whatever length it
    /// claims.
    func storedBytes() throws(StoreError) -> UInt64 {
        let size = try size()
        var (position, sum) = (UInt64(0), UInt64(0))
        while position < size {
            let start = nextData(from: position)
            guard start >= position, start < size else { break }
            let end = min(nextHole(from: start), size)
            // A system that tells nothing of holes has none.
            guard end > start else { return sum + (size - start) }
            sum += end - start
            position = end
        }
        return sum
    }
}

extension StoreContext {
    /// How many extents the file has room for: no two share a unit.
    func extentCountMax() throws(StoreError) -> UInt64 {
        try file.storedBytes() / UInt64(geometry.unitSizeInBytes) + 1
    }
}
