import Foundation

extension NSRegularExpression {
    /// Whether the whole of a text matches.
    ///
    /// Throws where the expression gives up: it keeps the ways that it has not tried in a stack of
    /// bounded size, which a pattern such as `(a|b)*` outgrows with a long text. It reports no
    /// match then, though there may be one.
    package func matchesWhole(_ text: String) throws(QueryError) -> Bool {
        let whole = NSRange(text.startIndex..., in: text)
        var (isMatch, gaveUp) = (false, false)
        // Safety: the pointer by which the closure could stop is not used.
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
