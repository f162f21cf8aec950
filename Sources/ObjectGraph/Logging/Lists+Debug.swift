// Debug texts of lists, published and monitored objects, and migrations. Printing reads no storage,
// and is no access that an observer would track.
// no storage, and is no access that an observer would track.

extension ListMonitor: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("isPendingRefetch", isPendingRefetch),
            ("numberOfSections", content.sectionCount),
            ("numberOfObjects", content.count),
        ])
    }
}

extension ObjectMonitor: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { DebugText.parts([("objectID", objectID())]) }
}

extension ListPublisher: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { DebugText.parts([("snapshot", shown)]) }
}

extension ObjectPublisher: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { DebugText.parts([("objectID", objectID())]) }
}

extension ListSnapshot: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("sectionIDs", sectionIDs),
            ("numberOfItems", numberOfItems),
        ])
    }
}

extension ObjectSnapshot: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        let values = dictionaryForValues().sorted { $0.key < $1.key }
        return DebugText.parts([("objectID", objectID())] + values.map { ($0.key, $0.value) })
    }
}

extension PartialObject: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { completeObject().coreStoreDumpString }
}

extension SectionBy: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        switch rule.name {
        case .none: DebugText.text("")
        case .stored(let keyPath), .computed(let keyPath): DebugText.text(keyPath)
        }
    }
}

extension MigrationType: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        switch self {
        case .none(let version): ".none (\"\(version)\")"
        case .lightweight(let source, let destination):
            ".lightweight (\"\(source)\" → \"\(destination)\")"
        case .heavyweight(let source, let destination):
            ".heavyweight (\"\(source)\" → \"\(destination)\")"
        }
    }
}
