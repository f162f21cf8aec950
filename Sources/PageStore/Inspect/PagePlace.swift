/// Where the bytes of a page lie in the file.
package struct PagePlace: Hashable, Sendable {
    package var page: PageID
    /// The first byte of its extent; nil while its newest image is in the log.
    package var byteOffset: UInt64?
    package var sizeInBytes: Int
}

extension Snapshot {
    /// Every page of this commit in the order of the ids, without reading one.
    package func pagePlaces() throws(StoreError) -> [PagePlace] {
        let content = try content()
        let unitSize = UInt64(content.unitSizeInBytes)
        var byID: [PageID: StoreContent.Place] = [:]
        // The newest version of a page that the log changed comes after the map's.
        for place in content.places {
            if let page = place.page { byID[page] = place }
        }
        return content.pages.map { page in
            guard let place = byID[page], !isInLog(page) else {
                return PagePlace(page: page, byteOffset: nil, sizeInBytes: pageSizeInBytes)
            }
            return PagePlace(
                page: page, byteOffset: place.unit * unitSize,
                sizeInBytes: Int(place.unitCount * unitSize))
        }
    }

    private func isInLog(_ page: PageID) -> Bool {
        pager.state.withLock { _ in
            switch generation.version(of: page, upTo: commitNumber)?.content {
            case .image?, .packed?: true
            case .extent?, .freed?, nil: false
            }
        }
    }
}
