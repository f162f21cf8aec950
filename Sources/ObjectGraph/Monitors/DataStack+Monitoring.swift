// Lists and objects that are observed. All of it where the view lives.

extension DataStack {
    /// A list of objects that follows every commit. The clauses need an order, or an assertion of
    /// the logger fails.
    ///
    /// Call it where the view lives. The first fetch runs before it returns; one that fails is
    /// logged, and leaves the list empty until the next commit.
    public func monitorList<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) -> ListMonitor<O> {
        monitorList(from, fetchClauses)
    }

    /// A list of objects that follows every commit, with its clauses in an array. They need an
    /// order.
    public func monitorList<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) -> ListMonitor<O> {
        monitor(ListTerms(from, .none, fetchClauses))
    }

    /// A list of the objects of a chain, which follows every commit. The chain needs an order.
    public func monitorList<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) -> ListMonitor<B.ObjectType> {
        monitor(ListTerms(clauseChain.from, .none, clauseChain.fetchClauses))
    }

    /// A list of objects that follows every commit, fetched in the background. The clauses need an
    /// order.
    ///
    /// - Parameters:
    ///   - createAsynchronously: receives the monitor where the view lives, once its list is
    ///     fetched.
    ///   - from: the class and its stores.
    ///   - fetchClauses: the condition, the order and other clauses.
    @preconcurrency
    public func monitorList<O>(
        createAsynchronously: @escaping @Sendable (ListMonitor<O>) -> Void, _ from: From<O>,
        _ fetchClauses: any FetchClause...
    ) {
        monitorList(createAsynchronously: createAsynchronously, from, fetchClauses)
    }

    /// A list of objects that follows every commit, fetched in the background; the closure receives
    /// it where the view lives.
    @preconcurrency
    public func monitorList<O>(
        createAsynchronously: @escaping @Sendable (ListMonitor<O>) -> Void, _ from: From<O>,
        _ fetchClauses: [any FetchClause]
    ) {
        monitor(ListTerms(from, .none, fetchClauses), createAsynchronously)
    }

    /// A list of the objects of a chain, fetched in the background; the closure receives it where
    /// the view lives.
    @preconcurrency
    public func monitorList<B: FetchChainableBuilderType>(
        createAsynchronously: @escaping @Sendable (ListMonitor<B.ObjectType>) -> Void,
        _ clauseChain: B
    ) {
        monitor(
            ListTerms(clauseChain.from, .none, clauseChain.fetchClauses), createAsynchronously)
    }

    // MARK: Sections

    /// A list in sections that follows every commit. Its order must sort by the section's property
    /// first, or the sections repeat.
    public func monitorSectionedList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...
    ) -> ListMonitor<O> {
        monitorSectionedList(from, sectionBy, fetchClauses)
    }

    /// A list in sections that follows every commit, with its clauses in an array.
    public func monitorSectionedList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause]
    ) -> ListMonitor<O> {
        monitor(ListTerms(from, sectionBy.rule, fetchClauses))
    }

    /// A list in sections of the objects of a chain, which follows every commit.
    public func monitorSectionedList<B: SectionMonitorBuilderType>(
        _ clauseChain: B
    ) -> ListMonitor<B.ObjectType> {
        monitor(
            ListTerms(clauseChain.from, clauseChain.sectionBy.rule, clauseChain.fetchClauses))
    }

    /// A list in sections that follows every commit, fetched in the background; the closure
    /// receives it where the view lives.
    @preconcurrency
    public func monitorSectionedList<O>(
        createAsynchronously: @escaping @Sendable (ListMonitor<O>) -> Void, _ from: From<O>,
        _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...
    ) {
        monitorSectionedList(
            createAsynchronously: createAsynchronously, from, sectionBy, fetchClauses)
    }

    /// A list in sections that follows every commit, fetched in the background; the closure
    /// receives it where the view lives.
    @preconcurrency
    public func monitorSectionedList<O>(
        createAsynchronously: @escaping @Sendable (ListMonitor<O>) -> Void, _ from: From<O>,
        _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause]
    ) {
        monitor(ListTerms(from, sectionBy.rule, fetchClauses), createAsynchronously)
    }

    /// A list in sections of the objects of a chain, fetched in the background; the closure
    /// receives it where the view lives.
    @preconcurrency
    public func monitorSectionedList<B: SectionMonitorBuilderType>(
        createAsynchronously: @escaping @Sendable (ListMonitor<B.ObjectType>) -> Void,
        _ clauseChain: B
    ) {
        monitor(
            ListTerms(clauseChain.from, clauseChain.sectionBy.rule, clauseChain.fetchClauses),
            createAsynchronously)
    }

    // MARK: Objects

    /// Observes an object: its observers are notified of each commit that changes it, with the
    /// names of the changed properties. Call it where the view lives.
    public func monitorObject<O: DynamicObject>(_ object: O) -> ObjectMonitor<O> {
        monitorObject(object, watching: [])
    }

    /// Observes an object and a value of a related object: `monitorObject(dog, watching: \.$master
    /// ~ \.$name)`. When the value changes, or another object takes the related one's place, the
    /// object counts as updated, and the names include the path: `master.name`.
    public func monitorObject<O: DynamicObject, V>(
        _ object: O, watching path: Where<O>.Expression<Where<O>.SingleTarget, V>
    ) -> ObjectMonitor<O> {
        monitorObject(object, watching: [Watching(path)])
    }

    /// Observes an object and values of several related objects.
    public func monitorObject<O: DynamicObject>(
        _ object: O, watching paths: [Watching<O>]
    ) -> ObjectMonitor<O> {
        let kept = object.objectID()
        // One that was kept over a migration may have another number or entity now.
        let id = store(kept.storeID)?.own(kept) ?? kept
        let monitor = ObjectMonitor<O>(id, paths.map(\.path), self)
        begin(monitor)
        return monitor
    }

    // MARK: Making

    private func monitor<O>(_ terms: ListTerms) -> ListMonitor<O> {
        let feed = ListFeed(self, terms)
        let monitor = ListMonitor<O>(feed)
        begin(monitor)
        // The failure is logged; the list is empty until the next step fetches it.
        try? feed.fetch()
        return monitor
    }

    private func monitor<O>(
        _ terms: ListTerms, _ isMade: @escaping @Sendable (ListMonitor<O>) -> Void
    ) {
        let monitor = ListMonitor<O>(ListFeed(self, terms))
        begin(monitor)
        monitor.fetchLater(isMade)
    }

    /// Makes the view move at deliveries only, starting from the commit that it shows now.
    private func begin(_ monitor: some ViewParticipant) {
        withView { view in
            observers.add(monitor, .monitor)
            view.begin(stores)
        }
    }
}
