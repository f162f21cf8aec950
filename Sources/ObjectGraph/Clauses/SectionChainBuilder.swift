/// A sectioned list that is being put together.
public protocol SectionMonitorBuilderType: Sendable {
    associatedtype ObjectType: DynamicObject
    var from: From<ObjectType> { get }
    var sectionBy: SectionBy<ObjectType> { get }
    var fetchClauses: [any FetchClause] { get }
}

/// A sectioned list that is being put together: `From<Dog>().sectionBy(\.$age).orderBy(…)`.
public struct SectionMonitorChainBuilder<O: DynamicObject>: SectionMonitorBuilderType {
    public typealias ObjectType = O
    public let from: From<O>
    public let sectionBy: SectionBy<O>
    public let fetchClauses: [any FetchClause]

    private func with(_ clause: any FetchClause) -> SectionMonitorChainBuilder<O> {
        SectionMonitorChainBuilder(
            from: from, sectionBy: sectionBy, fetchClauses: fetchClauses + [clause])
    }

    /// Only objects that fulfil a condition.
    public func `where`(_ clause: Where<O>) -> SectionMonitorChainBuilder<O> { with(clause) }

    /// Only objects that fulfil all of these conditions.
    public func `where`(combineByAnd clauses: Where<O>...) -> SectionMonitorChainBuilder<O> {
        with(clauses.combinedByAnd())
    }

    /// Only objects that fulfil one of these conditions.
    public func `where`(combineByOr clauses: Where<O>...) -> SectionMonitorChainBuilder<O> {
        with(clauses.combinedByOr())
    }

    /// Only objects that fulfil a condition in the predicate language.
    public func `where`(format: String, _ args: Any...) -> SectionMonitorChainBuilder<O> {
        with(Where<O>(format, argumentArray: args))
    }

    public func `where`(
        format: String, argumentArray: [Any]?
    ) -> SectionMonitorChainBuilder<O> {
        with(Where<O>(format, argumentArray: argumentArray))
    }

    /// Only objects that fulfil a condition of their properties: `.where { $0.$age > 3 }`.
    public func `where`(_ clause: (O) -> Where<O>) -> SectionMonitorChainBuilder<O>
    where O: CoreStoreObject {
        with(Where<O>(clause))
    }

    /// In an order, which has the objects of a section together.
    public func orderBy(_ clause: OrderBy<O>) -> SectionMonitorChainBuilder<O> { with(clause) }

    public func orderBy(
        _ sortKey: OrderBy<O>.SortKey, _ sortKeys: OrderBy<O>.SortKey...
    ) -> SectionMonitorChainBuilder<O> {
        with(OrderBy<O>([sortKey] + sortKeys))
    }

    public func orderBy(_ sortKeys: [OrderBy<O>.SortKey]) -> SectionMonitorChainBuilder<O> {
        with(OrderBy<O>(sortKeys))
    }

    /// Customises the request just before it runs.
    @preconcurrency
    public func tweak(
        _ closure: @escaping @Sendable (NSFetchRequest<any NSFetchRequestResult>) -> Void
    ) -> SectionMonitorChainBuilder<O> {
        with(Tweak(closure))
    }

    /// With a clause of the program's own.
    public func appending(_ clause: any FetchClause) -> SectionMonitorChainBuilder<O> {
        with(clause)
    }

    public func appending<S: Sequence>(contentsOf clauses: S) -> SectionMonitorChainBuilder<O>
    where S.Element == any FetchClause {
        SectionMonitorChainBuilder(
            from: from, sectionBy: sectionBy, fetchClauses: fetchClauses + clauses)
    }
}

extension From {
    /// A list in sections.
    public func sectionBy(_ clause: SectionBy<O>) -> SectionMonitorChainBuilder<O> {
        SectionMonitorChainBuilder(from: self, sectionBy: clause, fetchClauses: [])
    }

    /// A list in sections of a property by its name.
    public func sectionBy(_ sectionKeyPath: KeyPathString) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath))
    }

    @preconcurrency
    public func sectionBy(
        _ sectionKeyPath: KeyPathString,
        sectionIndexTransformer: @escaping @Sendable (_ sectionName: String?) -> String?
    ) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath, sectionIndexTransformer: sectionIndexTransformer))
    }
}

extension From where O: CoreStoreObject {
    /// A list in sections of a stored property.
    @preconcurrency
    public func sectionBy<B: CoreStoreObject, V>(
        _ sectionKeyPath: KeyPath<O, FieldContainer<B>.Stored<V>>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath, sectionIndexTransformer: sectionIndexTransformer))
    }

    /// A list in sections of a computed property.
    @preconcurrency
    public func sectionBy<B: CoreStoreObject, V>(
        _ sectionKeyPath: KeyPath<O, FieldContainer<B>.Virtual<V>>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath, sectionIndexTransformer: sectionIndexTransformer))
    }

    /// A list in sections of a coded property.
    @preconcurrency
    public func sectionBy<B: CoreStoreObject, V>(
        _ sectionKeyPath: KeyPath<O, FieldContainer<B>.Coded<V>>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath, sectionIndexTransformer: sectionIndexTransformer))
    }
}
