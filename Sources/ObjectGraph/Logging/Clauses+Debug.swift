import Query

// Debug texts of the clauses.

extension From: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("entityClass", entityClass),
            ("configurations", configurations),
        ])
    }
}

extension Into: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("entityClass", entityClass),
            ("configuration", configuration),
            ("infersStore", infersStore),
        ])
    }
}

extension Where: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { ConditionText.text(condition) }
}

extension Where.Expression: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { cs_keyPathString }
}

extension OrderBy: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.list(sortDescriptors.map(\.description), "[", "]")
    }
}

extension OrderBy.SortKey: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        "\(key.path.joined(separator: ".")) \(key.isAscending ? "ascending" : "descending")"
    }
}

extension GroupBy: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { "\(keyPaths)" }
}

extension Select: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.list(selectTerms.map(\.coreStoreDumpString), "[", "]")
    }
}

extension SelectTerm: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { "\(column.term) as \(column.alias)" }
}

extension Tweak: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String { "(closure)" }
}

extension FetchChainBuilder: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("from", from),
            ("fetchClauses", fetchClauses),
        ])
    }
}

extension QueryChainBuilder: CustomDebugStringConvertible, CoreStoreDebugStringConvertible {
    public var debugDescription: String { DebugText.described(self) }
    public var coreStoreDumpString: String {
        DebugText.parts([
            ("from", from),
            ("select", select),
            ("queryClauses", queryClauses),
        ])
    }
}
