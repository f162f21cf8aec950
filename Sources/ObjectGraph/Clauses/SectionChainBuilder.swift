/// A sectioned list that is being put together.
public protocol SectionMonitorBuilderType: Sendable {
    /// The class that the list holds.
    associatedtype ObjectType: DynamicObject
    /// The class and its stores.
    var from: From<ObjectType> { get }
    /// The property that divides the list into sections.
    var sectionBy: SectionBy<ObjectType> { get }
    /// The clauses, in the order in which they are applied.
    var fetchClauses: [any FetchClause] { get }
}

/// A sectioned list that is being put together: `From<Dog>().sectionBy(\.$age).orderBy(…)`.
public struct SectionMonitorChainBuilder<O: DynamicObject>: SectionMonitorBuilderType {
    public typealias ObjectType = O
    /// The class and its stores.
    public let from: From<O>
    /// The property that divides the list into sections.
    public let sectionBy: SectionBy<O>
    /// The clauses, in the order in which they are applied.
    public let fetchClauses: [any FetchClause]

    private func with(_ clause: any FetchClause) -> SectionMonitorChainBuilder<O> {
        SectionMonitorChainBuilder(
            from: from, sectionBy: sectionBy, fetchClauses: fetchClauses + [clause])
    }

    /// Only objects that fulfil a condition. A second condition replaces the first, with a warning
    /// in the log: combine them with `&&`.
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

    /// Only objects that fulfil a condition in the predicate language, with its arguments in an
    /// array.
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

    /// Sorts the list. Sort by the section's property first, or the sections repeat. A second order
    /// replaces the first, with a warning in the log.
    public func orderBy(_ clause: OrderBy<O>) -> SectionMonitorChainBuilder<O> { with(clause) }

    /// Sorts by the first key, objects that are equal in it by the next one, and so on.
    public func orderBy(
        _ sortKey: OrderBy<O>.SortKey, _ sortKeys: OrderBy<O>.SortKey...
    ) -> SectionMonitorChainBuilder<O> {
        with(OrderBy<O>([sortKey] + sortKeys))
    }

    /// Sorts by the first key, objects that are equal in it by the next one, and so on.
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

    /// Adds a clause of any type, one of the program's own too.
    public func appending(_ clause: any FetchClause) -> SectionMonitorChainBuilder<O> {
        with(clause)
    }

    /// Adds clauses of any types, which are applied in their order.
    public func appending<S: Sequence>(contentsOf clauses: S) -> SectionMonitorChainBuilder<O>
    where S.Element == any FetchClause {
        SectionMonitorChainBuilder(
            from: from, sectionBy: sectionBy, fetchClauses: fetchClauses + clauses)
    }
}

extension From {
    /// Divides an observed list into sections.
    public func sectionBy(_ clause: SectionBy<O>) -> SectionMonitorChainBuilder<O> {
        SectionMonitorChainBuilder(from: self, sectionBy: clause, fetchClauses: [])
    }

    /// Divides an observed list into sections by a property, given by its name.
    public func sectionBy(_ sectionKeyPath: KeyPathString) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath))
    }

    /// Divides an observed list into sections by a property, given by its name.
    ///
    /// - Parameters:
    ///   - sectionKeyPath: the property's name.
    ///   - sectionIndexTransformer: makes a section's index title from its name.
    @preconcurrency
    public func sectionBy(
        _ sectionKeyPath: KeyPathString,
        sectionIndexTransformer: @escaping @Sendable (_ sectionName: String?) -> String?
    ) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath, sectionIndexTransformer: sectionIndexTransformer))
    }
}

extension From where O: CoreStoreObject {
    /// Divides an observed list into sections by a stored property.
    @preconcurrency
    public func sectionBy<B: CoreStoreObject, V>(
        _ sectionKeyPath: KeyPath<O, FieldContainer<B>.Stored<V>>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath, sectionIndexTransformer: sectionIndexTransformer))
    }

    /// Divides an observed list into sections by a computed property. Its getter runs for each
    /// object of the list.
    @preconcurrency
    public func sectionBy<B: CoreStoreObject, V>(
        _ sectionKeyPath: KeyPath<O, FieldContainer<B>.Virtual<V>>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath, sectionIndexTransformer: sectionIndexTransformer))
    }

    /// Divides an observed list into sections by a coded property.
    @preconcurrency
    public func sectionBy<B: CoreStoreObject, V>(
        _ sectionKeyPath: KeyPath<O, FieldContainer<B>.Coded<V>>,
        sectionIndexTransformer: (@Sendable (_ sectionName: String?) -> String?)? = nil
    ) -> SectionMonitorChainBuilder<O> {
        sectionBy(SectionBy(sectionKeyPath, sectionIndexTransformer: sectionIndexTransformer))
    }
}
