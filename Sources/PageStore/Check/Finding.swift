/// Something in a file that contradicts the format.
package struct Finding: Hashable, Sendable, CustomStringConvertible {
    package var code: StoreError.Code
    package var page: PageID?
    /// The byte of the page, or of the file when no page is named.
    package var byteOffset: UInt64?
    package var message: String

    package init(
        _ code: StoreError.Code = .corrupt, page: PageID? = nil, byteOffset: UInt64? = nil,
        _ message: String
    ) {
        self.code = code
        self.page = page
        self.byteOffset = byteOffset
        self.message = message
    }

    package init(_ error: StoreError) {
        self.init(
            error.code, page: error.page.map { PageID($0) }, byteOffset: error.byteOffset,
            error.message)
    }

    package var description: String {
        var text = message
        if let page { text = "\(page): \(text)" }
        if let byteOffset { text += " (byte \(byteOffset))" }
        return text
    }
}
