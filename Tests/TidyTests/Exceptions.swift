/// The exceptions from each rule. This list may only shrink.
enum Exceptions {
    static let list: [String: Set<String>] = [
        // Names of CoreStore's inventory.
        "names of types": ["UserInfo", "NSFetchedResultsSectionInfo", "SectionInfo"],
        // An executor hands itself on unowned: the language has no other spelling.
        "unsafe": ["Sources/ObjectGraph/Stack/ViewExecutor.swift"],
    ]
}
