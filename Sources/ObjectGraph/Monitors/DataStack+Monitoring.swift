// Lists and objects that are observed. All of it where the view lives.

extension DataStack {
    /// A list of objects that follows every commit. It needs an OrderBy clause.
    public func monitorList<O>(
        _ from: From<O>, _ fetchClauses: any FetchClause...
    ) -> ListMonitor<O> {
        monitorList(from, fetchClauses)
    }

    public func monitorList<O>(
        _ from: From<O>, _ fetchClauses: [any FetchClause]
    ) -> ListMonitor<O> {
        monitor(ListTerms(from, .none, fetchClauses))
    }

    public func monitorList<B: FetchChainableBuilderType>(
        _ clauseChain: B
    ) -> ListMonitor<B.ObjectType> {
        monitor(ListTerms(clauseChain.from, .none, clauseChain.fetchClauses))
    }

    /// The same, fetched in the background; the monitor is handed over when it has its list.
    @preconcurrency
    public func monitorList<O>(
        createAsynchronously: @escaping @Sendable (ListMonitor<O>) -> Void, _ from: From<O>,
        _ fetchClauses: any FetchClause...
    ) {
        monitorList(createAsynchronously: createAsynchronously, from, fetchClauses)
    }

    @preconcurrency
    public func monitorList<O>(
        createAsynchronously: @escaping @Sendable (ListMonitor<O>) -> Void, _ from: From<O>,
        _ fetchClauses: [any FetchClause]
    ) {
        monitor(ListTerms(from, .none, fetchClauses), createAsynchronously)
    }

    @preconcurrency
    public func monitorList<B: FetchChainableBuilderType>(
        createAsynchronously: @escaping @Sendable (ListMonitor<B.ObjectType>) -> Void,
        _ clauseChain: B
    ) {
        monitor(
            ListTerms(clauseChain.from, .none, clauseChain.fetchClauses), createAsynchronously)
    }

    // MARK: Sections

    /// A list in sections that follows every commit. Its order has to have the objects of each
    /// section together.
    public func monitorSectionedList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...
    ) -> ListMonitor<O> {
        monitorSectionedList(from, sectionBy, fetchClauses)
    }

    public func monitorSectionedList<O>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause]
    ) -> ListMonitor<O> {
        monitor(ListTerms(from, sectionBy.rule, fetchClauses))
    }

    public func monitorSectionedList<B: SectionMonitorBuilderType>(
        _ clauseChain: B
    ) -> ListMonitor<B.ObjectType> {
        monitor(
            ListTerms(clauseChain.from, clauseChain.sectionBy.rule, clauseChain.fetchClauses))
    }

    /// The same, fetched in the background; the monitor is handed over when it has its list.
    @preconcurrency
    public func monitorSectionedList<O>(
        createAsynchronously: @escaping @Sendable (ListMonitor<O>) -> Void, _ from: From<O>,
        _ sectionBy: SectionBy<O>, _ fetchClauses: any FetchClause...
    ) {
        monitorSectionedList(
            createAsynchronously: createAsynchronously, from, sectionBy, fetchClauses)
    }

    @preconcurrency
    public func monitorSectionedList<O>(
        createAsynchronously: @escaping @Sendable (ListMonitor<O>) -> Void, _ from: From<O>,
        _ sectionBy: SectionBy<O>, _ fetchClauses: [any FetchClause]
    ) {
        monitor(ListTerms(from, sectionBy.rule, fetchClauses), createAsynchronously)
    }

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

    /// An object that is observed: each commit that changes it is told, with the names of the
    /// properties that it changes.
    public func monitorObject<O: DynamicObject>(_ object: O) -> ObjectMonitor<O> {
        monitorObject(object, watching: [])
    }

    /// The same with a value of a related object:
    /// `monitorObject(dog, watching: \.$master ~ \.$name)`. When it changes, or another one takes
    /// its place, the object counts as updated, and the names that are told have the path:
    /// `master.name`.
    public func monitorObject<O: DynamicObject, V>(
        _ object: O, watching path: Where<O>.Expression<Where<O>.SingleTarget, V>
    ) -> ObjectMonitor<O> {
        monitorObject(object, watching: [Watching(path)])
    }

    /// The same with values of several related objects.
    public func monitorObject<O: DynamicObject>(
        _ object: O, watching paths: [Watching<O>]
    ) -> ObjectMonitor<O> {
        let monitor = ObjectMonitor<O>(object.objectID(), paths.map(\.path), self)
        begin(monitor)
        return monitor
    }

    // MARK: Making

    private func monitor<O>(_ terms: ListTerms) -> ListMonitor<O> {
        let feed = ListFeed(self, terms)
        let monitor = ListMonitor<O>(feed)
        begin(monitor)
        // What went wrong is logged; the list is empty until the next step fetches it.
        try? feed.fetch()
        return monitor
    }

    private func monitor<O>(
        _ terms: ListTerms, _ isMade: @escaping @Sendable (ListMonitor<O>) -> Void
    ) {
        let monitor = ListMonitor<O>(ListFeed(self, terms))
        begin(monitor)
        monitor.feed.fetchLater(terms) { isMade(monitor) }
    }

    /// Has the view move at deliveries only, from the commit on that it shows now.
    private func begin(_ monitor: some ViewParticipant) {
        withView { _ in observers.add(monitor, .monitor) }
    }
}
