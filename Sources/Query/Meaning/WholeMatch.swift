import Foundation

extension NSRegularExpression {
    /// Whether the whole of a text matches.
    ///
    /// Throws if the expression gives up: its backtracking stack has a bounded size, which a
    /// pattern such as `(a|b)*` exceeds with a long text. It then reports no match, though there
    /// may be one.
    package func matchesWhole(_ text: String) throws(QueryError) -> Bool {
        let whole = NSRange(text.startIndex..., in: text)
        var (isMatch, gaveUp) = (false, false)
        // Safety: the closure does not use its pointer, which could stop the search.
        unsafe enumerateMatches(in: text, options: [.anchored, .reportCompletion], range: whole) {
            result, flags, _ in
            if let result, result.range == whole { isMatch = true }
            if flags.contains(.internalError) { gaveUp = true }
        }
        guard isMatch || !gaveUp else {
            throw QueryError(
                "a text of \(text.utf8.count) bytes is too long for the regular expression "
                    + "“\(pattern)”, which needs more memory for it than it may take")
        }
        return isMatch
    }
}
