/// The structural validation of a page, once, when it enters the cache.
package enum PageCheck {
    /// Throws `corrupt` when the bytes cannot be what their kind says.
    package static func validate(_ page: PageBuffer) throws(StoreError) {
        guard page.count > 0, PageKind(rawValue: page[0]) != nil else {
            throw .corrupt(page.id, "the page has an unknown kind")
        }
    }
}
