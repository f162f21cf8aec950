/// What the rules excuse, by rule. This list may only shrink.
enum Exceptions {
    static let list: [String: Set<String>] = [
        // A name of CoreStore's inventory.
        "names of types": ["UserInfo"],
        // An executor hands itself on unowned: the language has no other spelling.
        "unsafe": ["Sources/ObjectGraph/Stack/ViewExecutor.swift"],
    ]
}
